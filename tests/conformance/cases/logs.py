"""Options of a log, and the log of a pod that no kubelet has started."""

from __future__ import annotations

_POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}}
_CREATE = ("POST", "/api/v1/namespaces/{ns}/pods", _POD)
_LOG = "/api/v1/namespaces/{ns}/pods/web/log"
_TIME = "2026-01-01T00:00:00Z"

CASES: dict[str, list[tuple[object, ...]]] = {
    **{
        f"a log with {query}": [_CREATE, ("GET", f"{_LOG}?{query}", None)]
        for query in (
            "tailLines=-1",
            "tailLines=x",
            "limitBytes=0",
            "limitBytes=-1",
            "sinceSeconds=0",
            f"sinceSeconds=5&sinceTime={_TIME}",
            "sinceTime=x",
            "stream=Stdout",
            "stream=Other",
            "tailLines=-1&limitBytes=0",
            "container=other",
        )
    },
    **{
        f"a log with {query} before the pod is bound": [_CREATE, ("GET", f"{_LOG}?{query}", None)]
        for query in ("follow=x", "previous=true", "timestamps=true", "tailLines=1&limitBytes=5")
    },
    "a log of a missing pod": [("GET", _LOG, None)],
    "a log with wrong options of a missing pod": [("GET", f"{_LOG}?tailLines=-1", None)],
}
