"""The embedded API server: real HTTP, kube-apiserver's answers, no binaries.

Nothing is imported before it is asked for. `service.Service` is the whole of it, `core` puts
its parts together:

- `serving`: requests in, answers out: paths, negotiation, streams, sockets
- `verbs`: what can be done with objects, decided in plain code
- `storage`: what is kept, for how long, and who is told of changes
- `apply`: server-side apply, and who owns which field
- `builtin`, `schema`: the kinds that are built in, and those that come at run time
- `access`, `admission`: who may come in, what they may do, who is asked first
- `describe`: discovery, OpenAPI, tables
- `registry`, `statuses`, `faults`, `seeds`: what all of them use
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
