"""Custom resources: a CustomResourceDefinition from a class, and classes from a definition.

See also: writing a class (`kubeloop.Resource`, `kubeloop.Model`), installing definitions
(`kubeloop.Client.install_crd`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .crd_from_class import crd_of
from .structural_schema import INT_OR_STRING as INT_OR_STRING  # for other packages; not public
from .structural_schema import PRESERVE as PRESERVE
from .structural_schema import QUANTITY as QUANTITY
from .structural_schema import Schema as Schema
from .structural_schema import description_of as description_of
from .structural_schema import schema_of

if TYPE_CHECKING:
    from .classes_from_crd import module_from_crd, modules_from_crd

__all__ = ["crd_of", "module_from_crd", "modules_from_crd", "schema_of"]


def __getattr__(name: str) -> object:
    # Operators never generate classes at run time; only `kubeloop crd generate` loads this.
    if name not in {"module_from_crd", "modules_from_crd"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(".classes_from_crd", __name__), name)
    globals()[name] = value
    return value
