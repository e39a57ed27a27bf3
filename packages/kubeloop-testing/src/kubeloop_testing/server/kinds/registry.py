"""Finds the `Kind` of a built-in resource: the module of its name, in the package of its group.

Guarantees: a module is imported with the first use of its kind, because most tests use few kinds
and the server starts in milliseconds; a kind without a module has the rules of all kinds.
See also: custom resources (`custom`).
"""

from __future__ import annotations

import functools
import re
from importlib import import_module
from typing import Final

from .kind import Kind

__all__ = ["kind_of", "module_of"]

_WORDS: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@functools.cache
def kind_of(group: str, kind: str) -> Kind:
    """The `Kind` of this name in a group of Kubernetes itself."""
    name = f"{__package__}.{module_of(group, kind)}"
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        # Reviews and bindings are not stored; any other module that is missing is a mistake.
        if error.name is None or not name.startswith(error.name):
            raise
        return Kind(group, kind)
    known: Kind = module.KIND
    return known if known.group == group else Kind(group, kind)


def module_of(group: str, kind: str) -> str:
    """The module of a kind: `apps.deployment`, `core.pod`, `storage.csi_driver`."""
    return f"{group.partition('.')[0] or 'core'}.{_WORDS.sub('_', kind).lower()}"
