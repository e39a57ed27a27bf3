"""The forms that objects are printed in: a table, YAML, JSON, names, a JSONPath template.

Promises: a form that cannot be read is a usage error, before anything is asked of a server.
Elsewhere: tables (`tables`), the template language (`kubeloop.jsonpath`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, final, get_args

import click
import msgspec

from kubeloop.wire import visible
from kubeloop.wire.text import escape_json

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from kubeloop.wire import ResourceInfo

__all__ = ["Output", "OutputType", "printed"]

Form = Literal["table", "wide", "yaml", "json", "name", "jsonpath"]


class Output(msgspec.Struct, frozen=True):
    """A form, and the template of those that have one."""

    form: Form = "table"
    template: str = ""

    @property
    def is_table(self) -> bool:
        return self.form in ("table", "wide")


@final
class OutputType(click.ParamType[Output]):
    """`-o yaml`, `-o jsonpath={.metadata.name}`."""

    name = "form"

    def __init__(self, *forms: Form) -> None:
        self._forms = forms or get_args(Form)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Output:
        if isinstance(value, Output):
            return value
        form, equals, template = str(value).partition("=")
        if form not in self._forms or bool(equals) != (form == "jsonpath"):
            known = ", ".join(_as_typed(each) for each in self._forms)
            self.fail(f"{value!r} is not one of {known}", param, ctx)
        if equals:
            _check(self, template, param, ctx)
        return Output(cast("Form", form), template)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's shape
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        typed = map(_as_typed, self._forms)
        return [CompletionItem(each) for each in typed if each.startswith(incomplete)]


def _as_typed(form: Form) -> str:
    return "jsonpath=" if form == "jsonpath" else form


def _check(
    kind: OutputType, template: str, param: click.Parameter | None, ctx: click.Context | None
) -> None:
    from kubeloop.jsonpath import JSONPath, JSONPathError

    try:
        JSONPath(template)
    except JSONPathError as error:
        kind.fail(str(error), param, ctx)


def printed(
    output: Output, objects: Sequence[tuple[ResourceInfo, dict[str, Any]]], *, single: bool
) -> str:
    """Objects in a form that is no table; a `single` one stands alone, more are a List.

    Raises: JSONPathError when the template does not fit them.
    """
    from .kinds import qualified

    if output.form == "name":
        return "\n".join(visible(qualified(info, _name(obj))) for info, obj in objects)
    things = [obj for _, obj in objects]
    whole = _sorted(things[0] if single else _list(things))
    match output.form:
        case "json":
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
    """With the keys of every map in order, as kubectl has them."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def _list(things: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "List",
        "metadata": {"resourceVersion": ""},
        "items": things,
    }
