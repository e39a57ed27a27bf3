"""Converts the camelCase names of JSON to Python attributes, for all generators of models.

Guarantees: an attribute consists of ASCII letters, digits and underscores, is not a keyword
and shadows nothing that models or annotations need.
"""

from __future__ import annotations

import keyword
import re

__all__ = ["attribute", "camel", "class_name"]

# Types that annotations name: a field of the same name would shadow them in its class.
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
    re.VERBOSE | re.ASCII,
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


def class_name(text: str) -> str:
    """The Python class name for a kind or a part of it: `tls-config` becomes `TlsConfig`."""
    words = re.findall("[A-Za-z0-9]+", text)
    name = "".join(word[0].upper() + word[1:] for word in words) or "Part"
    return f"Part{name}" if name[0].isdigit() else name
