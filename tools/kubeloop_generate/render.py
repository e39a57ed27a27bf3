"""Writes the generated modules: the same facts give the same bytes."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from .discovery import ResourceRow
from .document import BadDocument, ClassFacts, FieldFacts
from .naming import camel
from .protobuf import Messages

__all__ = ["describe", "groups_of", "render"]

# Fields that repr must hide.
_REDACTED = {
    ("core_v1", "Secret"): ("data", "string_data"),
    ("authentication_v1", "TokenRequestStatus"): ("token",),
    ("authentication_v1", "TokenReviewSpec"): ("token",),
}
_LAZY = {("meta_v1", "ManagedFieldsEntry"): ("fields_v1",)}  # many small dicts, rarely read
_IMPORTS = {
    "Any": "from typing import Any",
    "ClassVar": "from typing import ClassVar",
    "field": "from msgspec import field",
    "UNSET": "from ..model import UNSET",
    "Kind": "from ..model import Kind",
    "Model": "from ..model import Model",
    "Resource": "from ..kinds import Resource",
    "IntOrString": "from ..scalars import IntOrString",
    "MicroTime": "from ..scalars import MicroTime",
    "Quantity": "from ..scalars import Quantity",
    "Time": "from ..scalars import Time",
}


def render(
    classes: Sequence[ClassFacts],
    rows: Sequence[ResourceRow],
    *,
    source: str,
    messages: Messages | None = None,
) -> dict[str, str]:
    """Every file by its path in `kubeloop.wire`."""
    first_line = f"# Generated from {source} by tools/kubeloop_generate. Do not edit.\n"
    plurals = _plurals(rows)
    modules: dict[str, list[ClassFacts]] = defaultdict(list)
    for facts in classes:
        modules[facts.definition.module].append(facts)
    files = {
        "_generated/__init__.py": first_line,
        "_generated/facts.py": first_line + _facts_module(classes),
        "_generated/resources.py": first_line + _resources_module(rows, modules),
    }
    if messages:
        files["_generated/protobuf.py"] = first_line + _protobuf_module(messages)
    for module, members in sorted(modules.items()):
        files[f"_generated/{module}.py"] = first_line + _module(members, plurals)
        group, _, version = module.rpartition("_")
        files[f"{group}/__init__.py"] = (
            first_line + f'\n"""The API group {group}: a module a version."""\n'
        )
        files[f"{group}/{version}.py"] = first_line + _public_module(module, group, version)
    return files


def _public_module(module: str, group: str, version: str) -> str:
    return (
        f'\n"""The kinds of {group} {version}."""\n\n'
        f"from .._generated.{module} import *\n"
        f"from .._generated.{module} import __all__ as __all__\n"
    )


def _plurals(rows: Iterable[ResourceRow]) -> dict[tuple[str, str, str], ResourceRow]:
    """The resource of each kind; if several share a kind, the one with the verb get."""
    found: dict[tuple[str, str, str], ResourceRow] = {}
    for row in rows:
        key = (row.group, row.version, row.kind)
        if key not in found or "get" in row.verbs:
            found[key] = row
    return found


def _module(members: Sequence[ClassFacts], plurals: dict[tuple[str, str, str], ResourceRow]) -> str:
    bodies = "\n\n".join(_class(facts, plurals) for facts in members)
    names = json.dumps([facts.definition.name for facts in members], indent=4)
    used = sorted({module for facts in members for line in facts.fields for module in line.uses})
    imports = sorted(line for word, line in _IMPORTS.items() if _uses(bodies, word))
    if used:
        imports.append(f"from . import {', '.join(used)}")
    head = "\n".join(["from __future__ import annotations", "", *imports])
    names = names.removesuffix("\n]") + ",\n]"
    return f"\n{head}\n\n__all__ = {names}\n\n\n{bodies}"


def _uses(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.\"]){word}(?![\w\"])", text) is not None


def _class(facts: ClassFacts, plurals: dict[tuple[str, str, str], ResourceRow]) -> str:
    lines = [f"class {facts.definition.name}({_bases(facts, plurals)}):"]
    hidden = _REDACTED.get((facts.definition.module, facts.definition.name))
    if hidden:
        lines.append(f"    __redacted__: ClassVar[frozenset[str]] = frozenset({list(hidden)!r})")
    readable = [field.name for field in facts.fields if field.by_value]
    if readable:
        lines.append(f"    __optional__: ClassVar[frozenset[str]] = frozenset({readable!r})")
    lazy = _LAZY.get((facts.definition.module, facts.definition.name))
    if lazy:
        lines.append(f"    __lazy__: ClassVar[frozenset[str]] = frozenset({list(lazy)!r})")
    lines += [f"    {_field_text(field)}" for field in facts.fields]
    if len(lines) == 1:
        lines.append("    pass")
    return "\n".join(lines) + "\n"


def _bases(facts: ClassFacts, plurals: dict[tuple[str, str, str], ResourceRow]) -> str:
    if facts.gvk is None:
        return "Model"
    group, version, kind = facts.gvk
    parts = ["Resource" if facts.has_metadata else "Kind", f'group="{group}"']
    parts.append(f'version="{version}"')
    if kind != facts.definition.name:
        parts.append(f'kind="{kind}"')
    row = plurals.get(facts.gvk)
    if row is not None:
        parts.append(f'plural="{row.plural}"')
        if not row.namespaced:
            parts.append("namespaced=False")
    return ", ".join(parts)


def _field_text(field: FieldFacts) -> str:
    if camel(field.name) == field.wire:
        return f"{field.name}: {field.hint} = {field.default}"
    return f'{field.name}: {field.hint} = field(default={field.default}, name="{field.wire}")'


def _facts_module(classes: Iterable[ClassFacts]) -> str:
    """Merge rules by class and field: list type, keys, map type, strategies, merge key."""
    lines = [
        "",
        "from __future__ import annotations",
        "",
        '__all__ = ["FACTS"]',
        "",
        "FACTS: dict[str, dict[str, tuple[str, tuple[str, ...], str, tuple[str, ...], str]]] = {",
    ]
    for facts in classes:
        fields = [field for field in facts.fields if field.rules]
        if fields:
            lines.append(f'    "{facts.definition.module}.{facts.definition.name}": {{')
            lines += [f'        "{field.wire}": {_literal(field.rules)},' for field in fields]
            lines.append("    },")
    return "\n".join([*lines, "}", ""])


def _resources_module(rows: Iterable[ResourceRow], modules: Iterable[str]) -> str:
    groups = _groups(rows, set(modules))
    lines = [
        "",
        "from __future__ import annotations",
        "",
        "from typing import Any",
        "",
        '__all__ = ["GROUPS", "RESOURCES"]',
        "",
        "# The module of each group version, and its group.",
        "GROUPS: dict[tuple[str, str], str] = {",
        *(f'    ("{group}", "{version}"): "{module}",' for (group, version), module in groups),
        "}",
        "",
        "# group, version, plural, kind, singular, namespaced, verbs, short names, categories,",
        "# subresources (name, group, version, kind, verbs); in the server's order",
        "RESOURCES: tuple[tuple[Any, ...], ...] = (",
    ]
    for row in rows:
        values = (row.group, row.version, row.plural, row.kind, row.singular, row.namespaced)
        lines.append("    (")
        lines += [f"        {_literal(value)}," for value in values]
        lines += [
            f"        {_literal(value)}," for value in (row.verbs, row.short_names, row.categories)
        ]
        lines.append("        (")
        lines += [f"            {_literal(part)}," for part in row.subresources]
        lines += ["        ),", "    ),"]
    return "\n".join([*lines, ")", ""])


def _protobuf_module(messages: Messages) -> str:
    """Messages by name. A line is a field: its number, JSON name, `list`, `map`, `inline` or `-`,
    its type, and whether JSON has it (`tools/kubeloop_generate/protobuf.py`)."""
    lines = [
        "",
        "from __future__ import annotations",
        "",
        '__all__ = ["MESSAGES"]',
        "",
        "# A line is a field: number, JSON name, repetition, type, presence in JSON.",
        "MESSAGES: dict[str, str] = {",
    ]
    for name, fields in messages.items():
        lines.append(f'    "{name}": """\\')
        lines += [
            f"{number} {wire} {how or '-'} {type_} {presence}"
            for number, (wire, how, type_, presence) in fields.items()
        ]
        lines.append('""",')
    return "\n".join([*lines, "}", ""])


def groups_of(
    rows: Iterable[ResourceRow], classes: Iterable[ClassFacts]
) -> list[tuple[tuple[str, str], str]]:
    """The module of each group version that has classes, sorted."""
    return _groups(rows, {facts.definition.module for facts in classes})


def _groups(rows: Iterable[ResourceRow], modules: set[str]) -> list[tuple[tuple[str, str], str]]:
    """Modules by group version: the document has packages, discovery has groups."""
    found = {}
    for row in rows:
        module = _MODULES.get(row.group, row.group.partition(".")[0]) + f"_{row.version}"
        if module in modules:
            found[row.group, row.version] = module
    return sorted(found.items())


_MODULES = {"": "core", "internal.apiserver.k8s.io": "apiserverinternal"}


def _literal(value: Any) -> str:
    """A Python literal, the same on every version of Python."""
    if isinstance(value, tuple):
        inner = ", ".join(_literal(part) for part in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def describe(version: str) -> str:
    """The source in the first line of generated files, for a version such as `v1.37.1`."""
    match = re.match(r"v(\d+\.\d+)\.", version)
    if match is None:
        raise BadDocument(f"not a version: {version!r}")
    return f"the OpenAPI document of Kubernetes {match[1]}"
