"""Writes the clientset: a method a resource, a class a group version; types, no behaviour."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Sequence

from kubeloop.clients.kinds import client_classes
from kubeloop.clients.resource import ResourceClient

from .discovery import ResourceRow
from .document import BadDocument
from .naming import attribute

__all__ = ["method_name", "render_clientset"]

_HEAD = '''
"""The groups of the API as methods: `client.apps_v1.deployments("shop")`.

Each method is `client.resource(…)` under the name of its resource; a group's module is
imported when one of its methods is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, cast, final

from kubeloop.wire import Kind

if TYPE_CHECKING:
'''

_RESOURCES = '''
K = TypeVar("K", bound=Kind)


class Resources(Protocol):
    """What the groups ask of a client."""

    def resource(self, kind: type[K], /, *, namespace: str | None = None) -> ResourceClient[K]: ...


class _Group:
    """The resources of one group version."""

    __slots__ = ("_client",)

    def __init__(self, client: Resources) -> None:
        self._client = client
'''


def render_clientset(
    rows: Sequence[ResourceRow], modules: Sequence[tuple[tuple[str, str], str]], *, source: str
) -> dict[str, str]:
    """The files by their path in the package of the clients; `modules` are by group version."""
    first_line = f"# Generated from {source} by tools/kubeloop_generate. Do not edit.\n"
    wire = [_import(module) for _, module in modules]
    named = {cls.__name__ for cls in client_classes().values()}
    kinds = "".join(f"        {name},\n" for name in sorted(named))
    imports = [
        f"from kubeloop.clients.kinds import (\n{kinds}    )",
        "from kubeloop.clients.resource import ResourceClient",
        *sorted(wire),
    ]
    names = sorted(["Clientset", "Resources", *(_class_name(module) for _, module in modules)])
    parts = [
        _HEAD + "".join(f"    {line}\n" for line in imports),
        "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n" + _RESOURCES,
        *(_group(module, _rows_of(group, rows)) for group, module in modules),
        _clientset([module for _, module in modules]),
    ]
    head, exported, *classes = parts
    text = f"{head}\n{exported}" + "".join(f"\n\n{part}" for part in classes)
    return {"_generated/__init__.py": first_line, "_generated/clientset.py": first_line + text}


def method_name(row: ResourceRow) -> str:
    """`horizontalpodautoscalers` of HorizontalPodAutoscaler is `horizontal_pod_autoscalers`."""
    *first, _ = attribute(_check_name(row.kind)).strip("_").split("_")
    stem = "".join(first)
    if not first or not row.plural.startswith(stem):
        return _check_name(row.plural)
    return _check_name("_".join([*first, row.plural.removeprefix(stem)]))


def _check_name(name: str) -> str:
    """The name, if it is a valid Python identifier. Raises: BadDocument."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise BadDocument(f"not a name: {name!r}")
    return name


def _rows_of(group_version: tuple[str, str], rows: Iterable[ResourceRow]) -> list[ResourceRow]:
    return [row for row in rows if (row.group, row.version) == group_version]


def _import(module: str) -> str:
    group, _, version = module.rpartition("_")
    return f"from kubeloop.wire.{group} import {version} as {module}"


def _class_name(module: str) -> str:
    return "".join(part.capitalize() for part in module.split("_"))


def _group(module: str, rows: Sequence[ResourceRow]) -> str:
    group, _, version = module.rpartition("_")
    methods = "".join(_method(module, row) for row in rows)
    return (
        f"@final\nclass {_class_name(module)}(_Group):\n"
        f'    """The resources of {group} {version}."""\n\n    __slots__ = ()\n{methods}'
    )


def _method(module: str, row: ResourceRow) -> str:
    group, _, version = module.rpartition("_")
    parameters = "self, namespace: str | None = None" if row.namespaced else "self"
    argument = ", namespace=namespace" if row.namespaced else ""
    returns = _client(module, row.kind)
    head = f"    def {method_name(row)}({parameters}) -> {returns}:"
    if len(head) > 100:
        comma = "" if row.namespaced else ","  # as ruff format
        head = f"    def {method_name(row)}(\n        {parameters}{comma}\n    ) -> {returns}:"
    call = f"self._client.resource({row.kind}{argument})"
    if not returns.startswith("ResourceClient["):
        call = _wrapped_cast(returns, call)
    return (
        f'\n{head}\n        """{row.kind}: `{row.plural}`."""\n'
        f"        from kubeloop.wire.{group}.{version} import {row.kind}\n\n"
        f"        return {call}\n"
    )


def _wrapped_cast(type_: str, call: str) -> str:
    line = f'cast("{type_}", {call})'
    if len(line) <= 100 - len("        return "):
        return line
    inner = f'"{type_}", {call}'
    if len(inner) > 100 - 12:
        inner = f'"{type_}",\n            {call},'
    return f"cast(\n            {inner}\n        )"


def _client(module: str, kind: str) -> str:
    """The type of the client of a kind, with the class of its objects if it is generic."""
    cls = client_classes().get(f"{module}.{kind}", ResourceClient)
    is_generic = bool(getattr(cls, "__parameters__", ()))
    return f"{cls.__name__}[{module}.{kind}]" if is_generic else cls.__name__


def _clientset(modules: Iterable[str]) -> str:
    properties = "".join(
        f"\n    @property\n    def {module}(self: Resources) -> {_class_name(module)}:\n"
        f'        """The resources of {" ".join(module.rsplit("_", 1))}."""\n'
        f"        return {_class_name(module)}(self)\n"
        for module in modules
    )
    return (
        'class Clientset:\n    """A client\'s groups, each under the name of its module."""\n\n'
        f"    __slots__ = ()\n{properties}"
    )
