"""The embedded API server: real HTTP and kube-apiserver's behaviour, without binaries.

Modules are imported on first use. `service.Service` is the server, `core` wires its parts:

- `serving`: listener, HTTP, dispatch, streams
- `request`: requests as values: paths, options, content negotiation
- `verbs`: the verbs on objects, decided in plain code
- `watching`, `storage`, `sqlite`: watches, objects and their history, persistence
- `controllers`: garbage collection, namespaces, CRDs
- `apply`: server-side apply and managed fields
- `builtin`, `schema`: built-in kinds, and the kinds of CRDs
- `access`, `admission`: authentication, authorization, the admission chain, webhooks
- `describe`, `representations`: discovery and OpenAPI; tables and metadata-only objects
- `kubelet`: commands, ports and files of containers, as tests register them
- `registry`, `runtime_config`, `statuses`, `identity`, `faults`, `seeds`: shared by all of them
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .service import Service

__all__ = ["Service"]


def __getattr__(name: str) -> Any:
    if name == "Service":
        from .service import Service

        return Service
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
