"""Modules and names of definitions; `kubeloop.wire.naming` names the fields."""

from __future__ import annotations

import re
from typing import NamedTuple

from kubeloop.wire.naming import attribute, camel

__all__ = ["Definition", "attribute", "camel", "split_definition"]


class Definition(NamedTuple):
    """The module and name of a definition: `Pod` of `core_v1`."""

    module: str
    name: str


def split_definition(key: str) -> Definition | None:
    """The module and name of a definition; None if it is not part of the built-in API.

    `io.k8s.api.apps.v1.Deployment` is `Deployment` of `apps_v1`.
    """
    *_, package, version, name = ["", "", *key.split(".")]
    if not key.startswith("io.k8s.") or not re.fullmatch(r"v\d+((alpha|beta)\d+)?", version):
        return None
    if not (package.isidentifier() and name.isidentifier()):
        return None
    return Definition(f"{package}_{version}", name)
