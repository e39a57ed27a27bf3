"""Imports the names of a package when they are first used, so that a script loads few modules.

How: a package imports its names under `TYPE_CHECKING`, for type checkers, and lists them by
module for `lazy_names`. A test compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy_names"]


def lazy_names(
    package: str, names_by_module: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package.

    `names_by_module` has the names of each module, separated by spaces.

    A name must not be that of a module in the package: importing the module would replace it.
    """
    modules = {name: module for module, names in names_by_module.items() for name in names.split()}
    namespace = vars(sys.modules[package])

    def import_name(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name], package), name)
        namespace[name] = value  # so that this is not called again
        return value

    return import_name, lambda: sorted(namespace["__all__"])
