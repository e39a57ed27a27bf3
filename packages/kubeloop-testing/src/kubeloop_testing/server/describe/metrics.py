"""`/metrics` in the text format of Prometheus: the version and the number of stored objects.

Guarantees: pure; names and labels are kube-apiserver's.
See also: `document_handler` (serves it).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .discovery import version

__all__ = ["METRICS_MEDIA", "metrics_text"]

METRICS_MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"


def metrics_text(counts: Iterable[tuple[str, str, int]]) -> str:
    """The metrics of a server; `counts` are group, resource and number of objects."""
    found = version()
    names = {"git_version": "gitVersion", "major": "major", "minor": "minor"}
    labels = ",".join(f'{label}="{found[name]}"' for label, name in names.items())
    lines = [
        "# HELP kubernetes_build_info [BETA] The version of the server; the value is always 1.",
        "# TYPE kubernetes_build_info gauge",
        f"kubernetes_build_info{{{labels}}} 1",
        "# HELP apiserver_resource_objects [ALPHA] The number of stored objects by resource.",
        "# TYPE apiserver_resource_objects gauge",
    ]
    lines += [
        f'apiserver_resource_objects{{group="{group}",resource="{plural}"}} {count}'
        for group, plural, count in sorted(counts)
    ]
    return "\n".join([*lines, ""])
