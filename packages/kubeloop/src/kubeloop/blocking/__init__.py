"""The clients for code without asyncio: the same names, methods and errors, without `await`.

    from kubeloop.blocking import Client

    with Client() as client:
        for pod in client.core_v1.pods("shop").each(selector="app=web"):
            print(pod.metadata.name)

Guarantees: one event loop in one thread, which the first call starts; thread-safe; Ctrl-C
cancels the call that it interrupts; the interpreter exits cleanly; a forked child starts its
own loop. Functions that a method takes are called in the caller's thread, except conditions
(`wait_for`, `until`) and `progress`: those run in the loop thread and must be quick. Informers
can be read from any thread; each handler has its own thread.
The classes hold references to async clients. Their methods are generated
(tools/generate_blocking.py), those of the client too: about a hundred signatures, each with one
line that runs the async method in the loop thread.
See also: `kubeloop.clients` (what the methods do), `kubeloop.runtime` (controllers).
"""

from __future__ import annotations

from ._generated.clients import (
    CertificateSigningRequestClient,
    DaemonSetClient,
    NamespaceClient,
    NodeClient,
    PodClient,
    ResourceClient,
    ScalableClient,
    ServiceAccountClient,
    ServiceClient,
    WorkloadClient,
)
from .client import Client, retry_on_conflict
from .errors import BlockingInLoop, LoopClosed, OpenedBeforeFork
from .informer import Registration, SharedInformer
from .portal import PORTAL as PORTAL  # for tests; not public
from .process import PortConnection, Process, ProcessInput, ProcessOutput
from .stream import Stream

__all__ = [
    "BlockingInLoop",
    "CertificateSigningRequestClient",
    "Client",
    "DaemonSetClient",
    "LoopClosed",
    "NamespaceClient",
    "NodeClient",
    "OpenedBeforeFork",
    "PodClient",
    "PortConnection",
    "Process",
    "ProcessInput",
    "ProcessOutput",
    "Registration",
    "ResourceClient",
    "ScalableClient",
    "ServiceAccountClient",
    "ServiceClient",
    "SharedInformer",
    "Stream",
    "WorkloadClient",
    "retry_on_conflict",
]
