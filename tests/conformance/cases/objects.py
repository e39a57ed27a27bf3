"""Objects of common kinds, through their life."""

from __future__ import annotations

from tests.conformance.recorder import Cases

_CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"

CASES: Cases = {
    "a config map is created, replaced and deleted": [
        ("POST", _CONFIG_MAPS, {"metadata": {"name": "settings"}, "data": {"a": "1"}}),
        ("PUT", f"{_CONFIG_MAPS}/settings", {"metadata": {"name": "settings"}, "data": {"a": "2"}}),
        ("GET", _CONFIG_MAPS, None),
        ("DELETE", f"{_CONFIG_MAPS}/settings", None),
        ("GET", f"{_CONFIG_MAPS}/settings", None),
    ],
    "a service without ports": [
        ("POST", "/api/v1/namespaces/{ns}/services", {"metadata": {"name": "a"}, "spec": {}}),
    ],
}
