"""How kube-apiserver prints the value of a field in an error, where the value is a Go struct.

Its internal types have no JSON names: a struct is printed with the names of all its Go fields.
Types of apimachinery (`LabelSelector`, `OwnerReference`) have their JSON names, in Go's order.
Guarantees: pure; the text is that of Go's encoding/json.
See also: the errors (`causes`), the fields (`go_types`).
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from .causes import Printed, as_json
from .go_types import GoField, alias_of, fields_of, is_struct, zero_of

__all__ = ["changes", "printed"]

_META: Final = "meta/v1."
_OBJECT_META: Final = "meta/v1.ObjectMeta"
# The names of Go fields that are not the JSON names with a first letter in upper case.
_ACRONYMS: Final = re.compile(
    "(api|aws|cidrs?|csi|dns|fc|fs|gce|gmsa|grpc|http|id|ip|iscsi|nfs|os|pkix|rbd|scaleIO|se|tcp"
    "|tls|ttl|tty|uid|url)(?=[A-Z]|$)"
)
_GO_NAMES: Final = {
    "cidrs": "CIDRs",
    "serviceAccount": "DeprecatedServiceAccount",
    "fsType": "FSType",
}


def printed(go_type: str, value: Any) -> Printed:
    """The value of a type such as `core/v1.ServicePort`, or a list of them (`[]…`)."""
    return Printed(as_json(_convert(go_type, value), sort=False))


def changes(go_type: str, before: Any, after: Any) -> str:
    """The changed lines of a value in the format of `diff -u`, with the line break before them."""
    old, new = (_lines(go_type, value) for value in (before, after))
    found = list(difflib.unified_diff(old, new, lineterm=""))[2:]
    return "".join(f"\n{line}" for line in found) + "\n"


def _lines(go_type: str, value: Any) -> list[str]:
    return json.dumps(_convert(go_type, value), indent=1, ensure_ascii=False).split("\n")


def _convert(go_type: str, value: Any) -> Any:
    go_type = alias_of(go_type) or go_type
    if go_type.startswith("*"):
        return None if value is None else _convert(go_type[1:], value)
    if go_type.startswith("[]"):
        return [_convert(go_type[2:], item) for item in value] if value else None
    if go_type.startswith("map["):
        inner = go_type.partition("]")[2]
        return {key: _convert(inner, value[key]) for key in sorted(value)} if value else None
    if is_struct(go_type):
        fields = value if isinstance(value, Mapping) else {}
        return _tagged(go_type, fields) if go_type.startswith(_META) else _named(go_type, fields)
    return zero_of(go_type) if value is None else value


def _tagged(struct: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """A struct of apimachinery: only the fields that are set, with their JSON names."""
    return {
        field.name: _tagged_value(field, value.get(field.name))
        for field in fields_of(struct)
        if not (field.omits_empty or field.omits_zero) or value.get(field.name)
    }


def _tagged_value(field: GoField, value: Any) -> Any:
    inner = field.type.lstrip("*").removeprefix("[]")
    if is_struct(inner) and isinstance(value, list):
        return [_tagged(inner, item) for item in value]
    if is_struct(inner) and isinstance(value, Mapping):
        return _tagged(inner, value)
    if isinstance(value, Mapping):
        return {key: value[key] for key in sorted(value)}
    return zero_of(field.type) if value is None else value


def _named(struct: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """A struct of the API: all fields, with their Go names."""
    found: dict[str, Any] = {}
    for field in fields_of(struct):
        if field.type == _OBJECT_META:
            found.update(_tagged(_OBJECT_META, value.get(field.name) or {}))
        else:
            found[_go_name(field.name)] = _convert(field.type, value.get(field.name))
    return found


def _go_name(name: str) -> str:
    if name in _GO_NAMES:
        return _GO_NAMES[name]
    acronym = _ACRONYMS.match(name)
    if acronym:
        return acronym[0].upper() + name[acronym.end() :]
    return name[:1].upper() + name[1:]
