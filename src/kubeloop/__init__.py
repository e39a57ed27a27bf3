"""client-go for Python: the Kubernetes client and controller toolkit.

The names a user meets first; each is loaded from its room when it is first asked for, so
that importing the package costs next to nothing. The kinds of the API are in one module a
group version: `kubeloop.wire.core.v1`, `kubeloop.wire.apps.v1`, ….
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .machinery import (
        AlreadyExists,
        ApiError,
        ConfigError,
        Conflict,
        Expired,
        Forbidden,
        Invalid,
        InvalidValue,
        KubeError,
        NotFound,
        ObjectKey,
        TransportError,
        Unauthorized,
    )
    from .wire import UNSET, Model, Quantity, Resource, dump_yaml, load_yaml

__all__ = [
    "UNSET",
    "AlreadyExists",
    "ApiError",
    "ConfigError",
    "Conflict",
    "Expired",
    "Forbidden",
    "Invalid",
    "InvalidValue",
    "KubeError",
    "Model",
    "NotFound",
    "ObjectKey",
    "Quantity",
    "Resource",
    "TransportError",
    "Unauthorized",
    "__version__",
    "dump_yaml",
    "load_yaml",
]

__version__ = "0.1.0.dev0"

_WIRE = frozenset({"UNSET", "Model", "Quantity", "Resource", "dump_yaml", "load_yaml"})


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room = "wire" if name in _WIRE else "machinery"
    value = getattr(importlib.import_module(f".{room}", __name__), name)
    globals()[name] = value  # found once, an ordinary name from then on
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
