"""Imports what an extra installs, or says which extra is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .tree import ConfigError

__all__ = ["import_extra"]


def import_extra(module: str, *, extra: str, use: str) -> Any:
    """Import a module that `pip install 'kubeloop[extra]'` installs.

    Raises: ConfigError, which names the extra, when it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0].replace("_", "-")
        raise ConfigError(f"{use} need {library} (install kubeloop[{extra}])") from error
