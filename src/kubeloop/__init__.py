"""client-go for Python: the Kubernetes client and controller toolkit.

The names that most programs need. Each is imported from its package on first use, so that
`import kubeloop` is cheap. The kinds of the API are in one module per group version:
`kubeloop.wire.core.v1`, `kubeloop.wire.apps.v1`, ...
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

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

__version__ = "0.1.0"

# The package of each name; the others are in `errors`.
_PACKAGES = {
    "ALL_NAMESPACES": "clients",
    "ClusterConfig": "config",
    "ObjectKey": "meta",
    "run": "kit",
    **dict.fromkeys(
        ("Client", "Context", "Manager", "Result", "TerminalError", "WatchSource"), "runtime"
    ),
    **dict.fromkeys(("UNSET", "Model", "Quantity", "Resource", "dump_yaml", "load_yaml"), "wire"),
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    package = importlib.import_module(f".{_PACKAGES.get(name, 'errors')}", __name__)
    value = getattr(package, name)
    globals()[name] = value  # so that __getattr__ is not called again
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
