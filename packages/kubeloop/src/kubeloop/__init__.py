"""client-go for Python: the Kubernetes client and controller toolkit.

The names that most programs need. Each is imported from its package on first use, so that
`import kubeloop` is cheap. The kinds of the API are in one module per group version:
`kubeloop.wire.core.v1`, `kubeloop.wire.apps.v1`, ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

if TYPE_CHECKING:
    from .clients import ALL_NAMESPACES
    from .config import ClusterConfig
    from .errors import (
        AlreadyExists,
        ApiError,
        ConfigError,
        Conflict,
        Expired,
        Forbidden,
        Invalid,
        InvalidArgument,
        KubeError,
        NotFound,
        TransportError,
        Unauthorized,
    )
    from .kit import run
    from .meta import ObjectKey
    from .runtime import Client, Context, Manager, Result, TerminalError, WatchSource
    from .wire import UNSET, Model, Quantity, Resource, dump_yaml, load_yaml
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".clients": "ALL_NAMESPACES",
            ".config": "ClusterConfig",
            ".errors": (
                "AlreadyExists ApiError ConfigError Conflict Expired Forbidden Invalid "
                "InvalidArgument KubeError NotFound TransportError Unauthorized"
            ),
            ".kit": "run",
            ".meta": "ObjectKey",
            ".runtime": "Client Context Manager Result TerminalError WatchSource",
            ".wire": "Model Quantity Resource UNSET dump_yaml load_yaml",
        },
    )

__all__ = [
    "ALL_NAMESPACES",
    "UNSET",
    "AlreadyExists",
    "ApiError",
    "Client",
    "ClusterConfig",
    "ConfigError",
    "Conflict",
    "Context",
    "Expired",
    "Forbidden",
    "Invalid",
    "InvalidArgument",
    "KubeError",
    "Manager",
    "Model",
    "NotFound",
    "ObjectKey",
    "Quantity",
    "Resource",
    "Result",
    "TerminalError",
    "TransportError",
    "Unauthorized",
    "WatchSource",
    "__version__",
    "dump_yaml",
    "load_yaml",
    "run",
]

__version__ = "0.2.0"
