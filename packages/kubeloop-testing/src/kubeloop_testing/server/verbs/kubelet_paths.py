"""What the kubelet of a node responds to `nodes/proxy`: its health, its pods, and logs.

Guarantees: the pods are those that the API has for the node; all other paths are a 404.
See also: `proxies` (when a request is for a kubelet), `logs`.
"""

from __future__ import annotations

import msgspec

from ..request.calls import Call
from ..request.negotiation import PAGE_NOT_FOUND, Response
from ..request.options import Query
from ..request.requests import Request
from ..storage.store import encoded
from .logs import Logs, LogStream
from .proxies import Proxied
from .writing import Verbs

__all__ = ["respond_as_kubelet"]

_PODS = ("", "pods")
_TEXT = "text/plain; charset=utf-8"


def respond_as_kubelet(
    verbs: Verbs, logs: Logs, request: Request, proxied: Proxied
) -> Response | LogStream:
    """Respond to a request for a node's kubelet. Raises `StatusError`."""
    match proxied.path.strip("/").split("/"):
        case ["healthz"]:
            return Response(200, b"ok", media=_TEXT, is_final=True)
        case ["pods"]:
            entries = verbs.store.collection(_PODS).select("")
            pods = [e.obj for e in entries if e.obj["spec"].get("nodeName") == proxied.node]
            body = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": pods}
            return Response(200, encoded(body), media="application/json", is_final=True)
        case ["containerLogs", namespace, pod, container]:
            served = verbs.registry.find("", "v1", "pods")
            assert served is not None  # always served
            query = Query([("container", container)])
            query.update((name, values) for name, values in request.query.items())
            own = msgspec.structs.replace(request, query=query)
            return logs.respond(own, Call(served, namespace, pod))
    return PAGE_NOT_FOUND
