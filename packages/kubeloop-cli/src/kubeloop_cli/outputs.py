"""The formats of `-o`: table, YAML, JSON, names, a JSONPath template, columns of the user.

Guarantees: an invalid format is a usage error, before any request is sent.
See also: `tables` (tables), `columns` (columns), `kubeloop.jsonpath` (templates).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, final, get_args

import click
import msgspec

from kubeloop.wire import visible
from kubeloop.wire.text import escape_json

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from kubeloop.wire import ResourceInfo

__all__ = ["Output", "OutputType", "format_objects"]

Format = Literal[
    "table", "wide", "yaml", "json", "name", "jsonpath", "jsonpath-as-json", "jsonpath-file",
    "custom-columns", "custom-columns-file",
]  # fmt: skip
_WITH_VALUE = ("jsonpath", "custom-columns")  # and those that begin with them


class Output(msgspec.Struct, frozen=True):
    """A format, with the template or the columns after its `=`.

    The content of a file is in `value` already: the formats that end with `-file` never occur.
    """

    format: Format = "table"
    value: Any = None  # a JSONPath, or the columns of `columns.parse_columns`

    @property
    def is_table(self) -> bool:
        return self.format in ("table", "wide")


@final
class OutputType(click.ParamType[Output]):
    """`-o yaml`, `-o jsonpath={.metadata.name}`."""

    name = "format"

    def __init__(self, *formats: Format) -> None:
        self._formats = formats or get_args(Format)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Output:
        if isinstance(value, Output):
            return value
        name, equals, text = str(value).partition("=")
        if name not in self._formats or bool(text) != name.startswith(_WITH_VALUE):
            allowed = ", ".join(map(_flag_value, self._formats))
            self.fail(f"{value!r} is not one of {allowed}", param, ctx)
        if not equals:
            return Output(cast("Format", name))
        from kubeloop.wire import InvalidArgument

        try:
            return _with_value(name, text)
        except (InvalidArgument, OSError, UnicodeDecodeError) as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        values = map(_flag_value, self._formats)
        return [CompletionItem(each) for each in values if each.startswith(incomplete)]


def _flag_value(name: Format) -> str:
    return f"{name}=" if name.startswith(_WITH_VALUE) else name


def _with_value(name: str, text: str) -> Output:
    """A format with its template or columns, checked. Raises: InvalidArgument, OSError."""
    if name.startswith("custom-columns"):
        from .columns import parse_columns, read_columns

        columns = read_columns(text) if name.endswith("-file") else parse_columns(text)
        return Output("custom-columns", columns)
    from kubeloop.jsonpath import JSONPath

    if name.endswith("-file"):
        from pathlib import Path

        name, text = "jsonpath", Path(text).read_text(encoding="utf-8")
    return Output(cast("Format", name), JSONPath(text, allow_missing_keys=True))


def format_objects(
    output: Output, objects: Sequence[tuple[ResourceInfo, dict[str, Any]]], *, single: bool
) -> str:
    """Objects in a format other than a table or columns; without `single` in a List.

    Raises: JSONPathError if the template does not match them.
    """
    from .kinds import qualified_name

    if output.format == "name":
        return "".join(f"{visible(qualified_name(info, _name(obj)))}\n" for info, obj in objects)
    items = [obj for _, obj in objects]
    whole = _sorted(items[0] if single else _list(items))
    match output.format:
        case "json":
            import json

            return f"{escape_json(json.dumps(whole, indent=4, ensure_ascii=False))}\n"
        case "yaml":
            from kubeloop.wire import dump_yaml

            return dump_yaml(whole)
        case "jsonpath-as-json":
            return str(output.value.render_json(whole))
    return str(output.value.render(whole))


def _name(obj: dict[str, Any]) -> str:
    return str((obj.get("metadata") or {}).get("name") or "")


def _sorted(value: Any) -> Any:
    """The value with sorted keys in every map, as kubectl prints them."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def _list(items: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "List",
        "metadata": {"resourceVersion": ""},
        "items": items,
    }
