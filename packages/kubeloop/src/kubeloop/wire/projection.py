"""Decodes a few fields of a JSON object and skips the rest.

Guarantees: an invalid path is an error when it is compiled; a missing or null field reads as
None; nothing outside the paths is decoded or checked.
See also: splitting lists and watch events without decoding them (`raw`).
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, final

import msgspec

from .codec import hook
from .errors import DecodeError, InvalidArgument
from .model import Model
from .plan import ListOf, MapOf, Node, Object, Value, node_for, plan_of

__all__ = ["FieldTree", "Projection", "field_tree", "parse_path"]

_STEP = re.compile(
    r"""\.?(?P<name>[A-Za-z_$][\w$-]*)|\[(?P<quote>['"])(?P<key>(?:(?!(?P=quote)).)+)(?P=quote)\]"""
)


def parse_path(path: str) -> tuple[str, ...]:
    """The wire names along a field path: `spec.nodeName`, `metadata.labels['app.io/name']`.

    Raises:
        InvalidArgument: the path cannot be parsed; the message has the position.
    """
    steps: list[str] = []
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        dotted = position == 0 or path[position] in ".["
        if step is None or not dotted or (position == 0 and path.startswith(".")):
            raise InvalidArgument(
                f"field path {path!r}: cannot read {path[position:]!r} at {position} "
                "(write names joined by dots, as in metadata.name, or ['key'] for a map's key)"
            )
        steps.append(step["name"] or step["key"])
        position = step.end()
    if not steps:
        raise InvalidArgument("field path '': it is empty (write a field, as in metadata.name)")
    return tuple(steps)


@final
class Projection:
    """Compiled field paths; `read` returns their values in the order of the paths.

        where = Projection("metadata.name", "spec.nodeName", of=Pod)
        name, node = where.read(text)

    With `of`, each path must exist in that class. A path into a list is rejected: select the
    list. `decode` returns an opaque row that holds the values in little memory, and `getter` a
    function that reads one of them from a row. A path in `types` is decoded as that type, and
    another value than that or null is an error: this is faster than to check it afterwards.
    `Raw` skips the value.
    """

    def __init__(
        self,
        *paths: str,
        of: type[Model] | None = None,
        types: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        if not paths:
            raise InvalidArgument("a projection needs at least one field path")
        self.paths = paths
        self._steps = {path: parse_path(path) for path in paths}
        for path, steps in self._steps.items():
            if of is not None:
                _check(path, steps, node_for(of))
        by_steps = {parse_path(path): type_ for path, type_ in types.items()}
        self._row = _row_type(field_tree(self._steps.values()), by_steps)
        self._decoder = msgspec.json.Decoder(self._row, dec_hook=hook)
        places = [
            _location(self._row, self._steps[path]) for path in paths
        ]  # a path may occur twice
        self._getters = tuple(_getter(names, rest) for names, rest in places)
        # One call for all values if they are all in the row itself.
        in_row = len(paths) > 1 and not any(rest for _, rest in places)
        # Public for hot paths: `decode` without its translation of errors, and all values of a
        # row; None if a value is inside another one.
        self.decode_strictly: Callable[[bytes | msgspec.Raw], Any] = self._decoder.decode
        self.values_of = operator.attrgetter(*(names for names, _ in places)) if in_row else None

    def __repr__(self) -> str:
        return f"Projection({', '.join(map(repr, self.paths))})"

    def decode(self, text: bytes | msgspec.Raw | str) -> Any:
        """The row of an object's JSON text.

        Raises:
            DecodeError: the text is not a JSON object, or a parent in a path is not one.
        """
        try:
            return self._decoder.decode(text)
        except msgspec.ValidationError:
            return self._decode_with_nulls(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DecodeError(f"the text is not JSON: {error}") from error

    def read(self, text: bytes | msgspec.Raw | str) -> tuple[Any, ...]:
        """The values of all paths. Raises `DecodeError` as `decode` does."""
        return self.values(self.decode(text))

    def values(self, row: Any) -> tuple[Any, ...]:
        """The values of all paths in a row."""
        if self.values_of is not None:
            found: tuple[Any, ...] = self.values_of(row)
            return found
        return tuple([get(row) for get in self._getters])

    def getter(self, path: str) -> Callable[[Any], Any]:
        """A function that reads the value of one of the paths from a row."""
        return self._getters[self.paths.index(path)]

    def _decode_with_nulls(self, text: bytes | msgspec.Raw | str) -> Any:
        """Decode again if an object in a path is null, which counts as missing."""
        try:
            data = msgspec.json.decode(text)
            return msgspec.convert(_without_nulls(data, self._row), self._row)
        except msgspec.ValidationError as error:
            raise DecodeError(f"cannot project {list(self.paths)}: {error}") from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DecodeError(f"the text is not JSON: {error}") from error


def _check(path: str, steps: tuple[str, ...], node: Node) -> None:
    for index, step in enumerate(steps):
        match node:
            case Object() if step in (plan := plan_of(node.hint)):
                node = plan[step].node
            case MapOf():
                node = node.value
            case Value() if node.hint is Any:
                return
            case _:
                where = ".".join(steps[:index]) or "the object"
                raise InvalidArgument(
                    f"field path {path!r}: {where} {_why(node, step)} (check the spelling; "
                    "paths use the names of the wire, as spec.nodeName)"
                )


def _why(node: Node, step: str) -> str:
    if isinstance(node, Object):
        return f"is a {node.hint.__name__} and has no field {step!r}"
    return f"is a {'list' if isinstance(node, ListOf) else 'value'} and has no fields"


# None is the end of a path; a path that is a prefix of another one wins.
FieldTree = dict[str, "FieldTree | None"]


def field_tree(paths: Iterable[tuple[str, ...]]) -> FieldTree:
    """The paths by their steps."""
    tree: FieldTree = {}
    for steps in sorted(paths, key=len):
        row_type: FieldTree | None = tree
        for step in steps[:-1]:
            row_type = row_type.setdefault(step, {}) if row_type is not None else None
        if row_type is not None:
            row_type.setdefault(steps[-1], None)
    return tree


def _row_type(
    tree: FieldTree, types: Mapping[tuple[str, ...], Any], above: tuple[str, ...] = ()
) -> type[msgspec.Struct]:
    """A struct for the fields of one level; msgspec skips unknown keys."""
    fields: list[tuple[str, Any, Any]] = []
    renames: dict[str, str] = {}
    for index, (wire, below) in enumerate(tree.items()):
        name = f"f{index}"
        renames[name] = wire
        steps = (*above, wire)
        if below is None:
            type_ = types.get(steps, Any)
            # A union of Raw and None cannot be decoded; null is a Raw as well.
            fields.append((name, type_ if type_ in {Any, msgspec.Raw} else type_ | None, None))
        else:
            inner = _row_type(below, types, steps)
            fields.append((name, inner, inner()))
    return msgspec.defstruct("Row", fields, frozen=True, gc=False, rename=renames)


def _location(row: type[msgspec.Struct], steps: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The attributes of a row that lead to a value, joined by dots, and the steps inside it."""
    names: list[str] = []
    row_type: Any = row
    for index, step in enumerate(steps):
        info = {field.encode_name: field for field in msgspec.structs.fields(row_type)}[step]
        names.append(info.name)
        if not _is_row(info.type):
            return ".".join(names), steps[index + 1 :]
        row_type = info.type
    raise AssertionError(f"no end in {steps}")  # pragma: no cover


def _is_row(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, msgspec.Struct)


def _getter(names: str, rest: tuple[str, ...]) -> Callable[[Any], Any]:
    take = operator.attrgetter(names)
    return functools.partial(_inside, take, rest) if rest else take


def _inside(take: Callable[[Any], Any], rest: tuple[str, ...], row: Any) -> Any:
    value = take(row)
    for step in rest:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _without_nulls(data: Any, row: type[msgspec.Struct]) -> Any:
    if not isinstance(data, dict):
        return data
    kept = {}
    for field in msgspec.structs.fields(row):
        value = data.get(field.encode_name)
        if value is not None:
            inner = field.type
            kept[field.encode_name] = _without_nulls(value, inner) if _is_row(inner) else value
    return kept
