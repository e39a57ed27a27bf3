"""The formats of `-o`: table, YAML, JSON, names, a JSONPath template.

Guarantees: an invalid format is a usage error, before any request is sent.
See also: `tables` (tables), `kubeloop.jsonpath` (templates).
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

Format = Literal["table", "wide", "yaml", "json", "name", "jsonpath"]


class Output(msgspec.Struct, frozen=True):
    """A format, with its template if it is `jsonpath`."""

    format: Format = "table"
    template: str = ""

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
        name, equals, template = str(value).partition("=")
        if name not in self._formats or bool(equals) != (name == "jsonpath"):
            allowed = ", ".join(map(_flag_value, self._formats))
            self.fail(f"{value!r} is not one of {allowed}", param, ctx)
        if equals:
            _check_template(self, template, param, ctx)
        return Output(cast("Format", name), template)

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
    return "jsonpath=" if name == "jsonpath" else name


def _check_template(
    parameter_type: OutputType,
    template: str,
    param: click.Parameter | None,
    ctx: click.Context | None,
) -> None:
    from kubeloop.jsonpath import JSONPath, JSONPathError

    try:
        JSONPath(template)
    except JSONPathError as error:
        parameter_type.fail(str(error), param, ctx)


def format_objects(
    output: Output, objects: Sequence[tuple[ResourceInfo, dict[str, Any]]], *, single: bool
) -> str:
    """Objects in a format other than a table; without `single` they are items of a List.

    Raises: JSONPathError if the template does not match them.
    """
    from .kinds import qualified_name

    if output.format == "name":
        return "\n".join(visible(qualified_name(info, _name(obj))) for info, obj in objects)
    items = [obj for _, obj in objects]
    whole = _sorted(items[0] if single else _list(items))
    match output.format:
        case "json":
            import json

            return escape_json(json.dumps(whole, indent=4, ensure_ascii=False))
        case "yaml":
            from kubeloop.wire import dump_yaml

            return dump_yaml(whole).removesuffix("\n")
        case _:
            from kubeloop.jsonpath import JSONPath

            return JSONPath(output.template, allow_missing_keys=True).render(whole)


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
