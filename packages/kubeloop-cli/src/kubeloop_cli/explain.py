"""`kubeloop explain`: describes the fields of a resource type, from the server's OpenAPI v3.

Guarantees: the text of kubectl's plaintext format; fields of custom resources as well.
See also: `kubeloop.discovery` (the documents).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, final

import click

from kubeloop.kit import run
from kubeloop.meta import GroupVersion, GroupVersionKind, GroupVersionResource
from kubeloop.wire import InvalidArgument, visible

from .completion import complete_type
from .failures import CommandFailed
from .flags import Flags, cluster_flags, connect, pass_flags

__all__ = ["Explanation", "explain", "wrap"]

Json = dict[str, Any]

_WIDTH = 76
_SIMPLE_TYPES = ("string", "integer", "number", "boolean")
_MOST_VALUES = 4  # of an enum, in the line of a field


@click.command()
@click.argument("path", metavar="KIND[.FIELD…]", shell_complete=complete_type)
@click.option("-R", "--recursive", is_flag=True, help="Print the fields of fields, without texts.")
@click.option(
    "--max-depth", type=click.IntRange(0), default=0,
    help="How deep --recursive goes; 0 is without a limit.",
)  # fmt: skip
@click.option("--api-version", default="", help="Use this version: GROUP/VERSION.")
@cluster_flags
@pass_flags
def explain(flags: Flags, *, path: str, recursive: bool, max_depth: int, api_version: str) -> None:
    """Describe the fields of a resource type.

    \b
    Examples:
      kubeloop explain pod
      kubeloop explain deploy.spec.strategy
      kubeloop explain pod.spec --recursive --max-depth 2
      kubeloop explain cronjobs --api-version batch/v1
    """
    if max_depth and not recursive:
        raise click.UsageError("--max-depth needs --recursive")
    kind, schemas, fields = run(_read(flags, path, api_version))
    explanation = Explanation(kind, schemas)
    click.echo(explanation.text(fields, recursive=recursive, max_depth=max_depth), nl=False)


async def _read(
    flags: Flags, path: str, api_version: str
) -> tuple[GroupVersionKind, Json, list[str]]:
    """The kind, the schemas of its version, and the fields of the path."""
    word, *fields = path.split(".")
    async with connect(flags) as client:
        # `deployments.apps.spec`: the group may stand between the type and its fields.
        partial = await client.mapper.expand(GroupVersionResource("", "", word))
        matches = await client.mapper.resources_for(partial)
        for group in {each.group for each in matches if each.group}:
            parts = group.split(".")
            if fields[: len(parts)] == parts:
                word, fields = f"{word}.{group}", fields[len(parts) :]
                break
        info = await client.mapper.find(word)
        version = GroupVersion(info.group, info.version)
        if api_version:
            group, _, name = api_version.rpartition("/")
            version = GroupVersion(group, name)
        document = await client.discovery.openapi.document(version)
    schemas = (document.get("components") or {}).get("schemas") or {}
    return version.with_kind(info.kind), schemas, fields


@final
class Explanation:
    """The fields of one kind; `schemas` are those of its OpenAPI document.

    Raises: InvalidArgument if the document has no schema for the kind.
    """

    def __init__(self, kind: GroupVersionKind, schemas: Json) -> None:
        wanted = {"group": kind.group, "version": kind.version, "kind": kind.kind}
        found = [
            schema
            for schema in schemas.values()
            if wanted in (schema.get("x-kubernetes-group-version-kind") or ())
        ]
        if not found:
            raise InvalidArgument(
                f"explain {kind.kind} of {kind.api_version}: the server has no description of it"
            )
        self._kind = kind
        self._schemas = schemas
        self._root: Json = found[0]

    def text(self, fields: Sequence[str], *, recursive: bool = False, max_depth: int = 0) -> str:
        """The description of a field, or of the kind without `fields`.

        Raises: CommandFailed if there is no such field.
        """
        schema = self._root
        for field in fields:
            properties = self._properties(schema)
            if field not in properties:
                raise CommandFailed(
                    f"explain {self._kind.kind}.{'.'.join(fields)}: field {field!r} does not exist"
                )
            schema = properties[field]
        lines = [f"GROUP:      {self._kind.group}"] if self._kind.group else []
        lines += [f"KIND:       {self._kind.kind}", f"VERSION:    {self._kind.version}", ""]
        if fields:
            lines.append(f"FIELD: {fields[-1]} <{self._type(schema)}>")
            values = self._values(schema)
            lines += ["ENUM:", *(f"    {value}" for value in values)] if values else [""]
            lines.append("")
        lines.append("DESCRIPTION:")
        texts = [wrap(text) for text in self._descriptions(schema)]
        lines += [f"    {line}" for text in texts or ["<empty>"] for line in text.split("\n")]
        lines += ["    "] if texts else []
        if properties := self._properties(schema):
            lines.append("FIELDS:")
            if recursive:
                lines += self._tree(schema, 1, max_depth, ())
            else:
                required = self._required(schema)
                for name in sorted(properties):
                    lines += self._field(name, properties[name], 1, required)
                    own = wrap(str(properties[name].get("description") or "<no description>"))
                    lines += [*(f"    {line}" for line in own.split("\n")), ""]
        return "".join(f"{_visible_line(line)}\n" for line in [*lines, ""])

    # --- fields

    def _tree(
        self, schema: Json, level: int, max_depth: int, above: tuple[int, ...]
    ) -> Iterator[str]:
        """The fields of a schema and theirs; a schema that contains itself ends."""
        target = self._target(schema)
        if id(target) in above:
            return
        properties, required = self._properties(schema), self._required(schema)
        for name in sorted(properties):
            yield from self._field(name, properties[name], level, required)
            if not max_depth or level < max_depth:
                yield from self._tree(properties[name], level + 1, max_depth, (*above, id(target)))

    def _field(self, name: str, schema: Json, level: int, required: set[str]) -> Iterator[str]:
        indent = "  " * level
        ending = " -required-" if name in required else ""
        yield f"{indent}{name}\t<{self._type(schema)}>{ending}"
        values = self._values(schema)
        if values:
            more = ", ...." if len(values) > _MOST_VALUES else ""
            yield f"{indent}enum: {', '.join(values[:_MOST_VALUES])}{more}"

    def _values(self, schema: Json) -> list[str]:
        found = self._resolve(schema).get("enum") or ()
        return [str(value) or '""' for value in found]

    def _required(self, schema: Json) -> set[str]:
        return set(self._target(schema).get("required") or ())

    def _properties(self, schema: Json) -> Json:
        return self._target(schema).get("properties") or {}

    # --- schemas

    def _resolve(self, schema: Json) -> Json:
        """The schema that a reference names, or an `allOf` with a single one."""
        seen = 0
        while (reference := _reference(schema)) is not None and seen < len(self._schemas):
            found = self._schemas.get(reference)
            if not isinstance(found, dict):
                return {}
            schema, seen = found, seen + 1
        return schema

    def _target(self, schema: Json) -> Json:
        """The schema of the items of lists and maps, down to one that is neither."""
        found = self._resolve(schema)
        inner = _inner(found)
        while inner is not None:
            found = self._resolve(inner)
            inner = _inner(found)
        return found

    def _type(self, schema: Json) -> str:
        reference = _reference(schema)
        if reference is not None:
            # A name for a simple type, such as Time, is not shown.
            simple = self._resolve(schema).get("type")
            name = reference.rpartition(".")[2]
            return str(simple) if simple in _SIMPLE_TYPES else name
        if isinstance(schema.get("items"), dict):
            return f"[]{self._type(schema['items'])}"
        if isinstance(schema.get("additionalProperties"), dict):
            return f"map[string]{self._type(schema['additionalProperties'])}"
        found = str(schema.get("type") or "Object")
        return "Object" if found == "object" else found

    def _descriptions(self, schema: Json) -> Iterator[str]:
        """The texts of a field, of what it refers to, and of its items."""
        while True:
            if schema.get("description"):
                yield str(schema["description"])
            reference = _reference(schema)
            following = self._schemas.get(reference) if reference else _inner(schema)
            if not isinstance(following, dict):
                return
            schema = following


def _visible_line(line: str) -> str:
    return "\t".join(map(visible, line.split("\t")))  # tabs are part of the layout


def _reference(schema: Json) -> str | None:
    """The name of the schema that is referred to; None for a schema of its own."""
    single: list[Json] = schema.get("allOf") or []
    reference = schema.get("$ref") or (single[0].get("$ref") if len(single) == 1 else None)
    return str(reference).rpartition("/")[2] if reference else None


def _inner(schema: Json) -> Json | None:
    """The schema of the items of a list or a map."""
    for name in ("items", "additionalProperties"):
        found = schema.get(name)
        if isinstance(found, dict):
            return found
    return None


def wrap(text: str) -> str:
    """Wrap long lines, as the word-wrap of kubectl: spaces at a break are dropped."""
    return "\n".join(_wrap_line(line) for line in text.split("\n"))


def _wrap_line(line: str) -> str:
    found, width, spaces = "", 0, ""
    for part in re.findall(r"\s+|\S+", line):
        if part.isspace():
            spaces = part
            continue
        if width + len(spaces) + len(part) > _WIDTH and width + len(spaces) > 1:
            found, width, spaces = f"{found}\n", 0, ""
        found += spaces + part
        width += len(spaces) + len(part)
        spaces = ""
    return found + spaces
