"""Names: from the wire's camelCase to attributes, and from definitions to modules."""

from __future__ import annotations

import keyword
import re
from typing import NamedTuple

__all__ = ["Definition", "attribute", "camel", "split_definition"]

# Types that annotations name: a field of the same name would hide them in its class.
_HIDING = frozenset({"bool", "bytes", "dict", "float", "int", "list", "str"})
_MODEL_NAMES = frozenset({"from_dict", "from_json", "from_yaml", "to_dict", "to_json", "to_yaml"})

_WORD = re.compile(
    r"""
      [A-Z]{2,}s(?=[A-Z0-9]|$)        # IPs, CIDRs: the plural belongs to the acronym
    | [A-Z]{2,}(?=V\d)                # API before V3
    | V\d+
    | [A-Z]{2,}\d*(?=[A-Z][a-z]|$)    # TLS before Verify, PKCS10 before Request
    | [A-Z]?[a-z0-9]+
    | [A-Z]+
    | \d+
    """,
    re.VERBOSE,
)


def attribute(wire: str) -> str:
    """The Python attribute of a wire name: `clusterIPs` becomes `cluster_ips`."""
    name = "_".join(word.lower() for word in _WORD.findall(wire)) or "field"
    if name[0].isdigit():
        name = f"field_{name}"
    reserved = keyword.iskeyword(name) or name in _HIDING or name in _MODEL_NAMES
    return f"{name}_" if reserved else name


def camel(name: str) -> str:
    """The wire name that msgspec's `rename="camel"` gives to an attribute."""
    first, *rest = name.strip("_").split("_")
    return first + "".join(word.title() for word in rest)


class Definition(NamedTuple):
    """A definition's place: `Pod` of `core_v1`."""

    module: str
    name: str


def split_definition(key: str) -> Definition | None:
    """Where a definition of the document belongs; None for what is not the API's own.

    `io.k8s.api.apps.v1.Deployment` is `Deployment` of `apps_v1`.
    """
    *_, package, version, name = ["", "", *key.split(".")]
    if not key.startswith("io.k8s.") or not re.fullmatch(r"v\d+((alpha|beta)\d+)?", version):
        return None
    if not (package.isidentifier() and name.isidentifier()):
        return None
    return Definition(f"{package}_{version}", name)
