"""The clients for code without asyncio: the same names, methods and errors, waited for.

    from kubeloop.blocking import Client

    with Client() as client:
        for pod in client.core_v1.pods("shop").each(selector="app=web"):
            print(pod.metadata.name)

Promises: one event loop in one thread, made by the first call; safe from many threads; Ctrl-C
ends what it interrupts; the interpreter exits cleanly; a forked child starts afresh.
The loop's side holds async clients by composition. Their methods are mirrored by generated
ones (tools/generate_blocking.py): some eighty signatures that a hand would copy wrong sooner
or later, each with one line that sends the call its way, and nothing lost for type checkers.
Functions that a method is given are called in the caller's thread, except tests of objects
and events (`wait_for`, `until`): those run in the loop's, and are to be quick.
Informers are read from any thread, and each handler is called in a thread of its own.
Elsewhere: what the methods do (`kubeloop.clients`), controllers (`kubeloop.runtime`).
"""

from __future__ import annotations

from ._generated.clientset import Clientset
from ._generated.mirrors import (
    DeferredMapper,
    DiscoveryClient,
    MetadataClient,
    OpenApiV3,
    Proxy,
    ResourceClient,
    RESTClient,
    ScaleClient,
    SubresourceClient,
)
from .client import Client, DynamicClient, retry_on_conflict
from .errors import BlockingInLoop, LoopClosed, OpenedBeforeFork
from .informer import Registration, SharedInformer
from .portal import PORTAL, Portal, PortalStats
from .stream import Stream

__all__ = [
    "PORTAL",
    "BlockingInLoop",
    "Client",
    "Clientset",
    "DeferredMapper",
    "DiscoveryClient",
    "DynamicClient",
    "LoopClosed",
    "MetadataClient",
    "OpenApiV3",
    "OpenedBeforeFork",
    "Portal",
    "PortalStats",
    "Proxy",
    "RESTClient",
    "Registration",
    "ResourceClient",
    "ScaleClient",
    "SharedInformer",
    "Stream",
    "SubresourceClient",
    "retry_on_conflict",
]
