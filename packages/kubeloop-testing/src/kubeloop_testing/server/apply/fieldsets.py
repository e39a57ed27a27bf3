"""Sets of field paths, as `managedFields` stores them in the format FieldsV1.

A path element has the format of FieldsV1: `f:spec`, `k:{"name":"web"}`, `v:"a"`, `i:0`; `.`
stands for the path itself. This is `fieldpath.Set` of structured-merge-diff.
Guarantees: a `FieldSet` is immutable and shares subtrees with the sets it was computed from;
elements are normalized, so that equal elements are equal strings.
See also: the fields of an object, and differences of objects (`object_fields`), the schema of a
field (`shapes`), the owner of a set (`managers`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

import msgspec

from kubeloop.wire import InvalidArgument

from .shapes import Shape

__all__ = [
    "EMPTY",
    "LEAF",
    "FieldSet",
    "Path",
    "Tree",
    "key_element",
    "path_text",
    "union",
    "value_element",
]

# A node for each element; the key "." in a node means that this path itself is in the set.
# Invariant: every node has "." or a child.
Tree: TypeAlias = "dict[str, Tree]"
Path: TypeAlias = tuple[str, ...]

LEAF: Final[Tree] = {".": {}}


@final
class FieldSet:
    """An immutable set of field paths."""

    __slots__ = ("tree",)

    def __init__(self, tree: Tree) -> None:
        self.tree: Final = tree

    @classmethod
    def parse(cls, fields: object) -> FieldSet:
        """Parse `fieldsV1` (decoded JSON).

        Elements of an unknown type are dropped, as in structured-merge-diff.
        Raises: InvalidArgument when it is not FieldsV1.
        """
        return cls(_read(fields, top=True))

    @classmethod
    def of(cls, *paths: Iterable[str]) -> FieldSet:
        """The set of these paths: `FieldSet.of(["f:spec", "f:replicas"])`."""
        tree: Tree = {}
        for path in paths:
            node = tree
            for element in path:
                node = node.setdefault(_normalize(element) or element, {})
            node["."] = {}
        return cls(tree)

    def as_json(self) -> dict[str, Any]:
        """The set as `fieldsV1`, in the order in which kube-apiserver writes it."""
        return {key: _to_json(self.tree[key]) for key in _in_order(self.tree)}

    def __bool__(self) -> bool:
        return bool(self.tree)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldSet) and self.tree == other.tree

    __hash__ = None  # type: ignore[assignment]  # a set of paths is a value, but no key

    def __repr__(self) -> str:
        return f"FieldSet({', '.join(path_text(path) for path in self.paths())})"

    def __or__(self, other: FieldSet) -> FieldSet:
        return FieldSet(union(self.tree, other.tree))

    def __and__(self, other: FieldSet) -> FieldSet:
        return FieldSet(_intersection(self.tree, other.tree))

    def __sub__(self, other: FieldSet) -> FieldSet:
        """Without the paths in `other`; paths below them stay."""
        return FieldSet(_difference(self.tree, other.tree))

    def __le__(self, other: FieldSet) -> bool:
        return not _difference(self.tree, other.tree)

    def __contains__(self, path: Sequence[str]) -> bool:
        node: Tree | None = self.tree
        for element in path:
            node = node.get(element) if node is not None else None
        return node is not None and "." in node

    def without(self, other: FieldSet) -> FieldSet:
        """Without the paths in `other` and everything below them."""
        return FieldSet(_cut(self.tree, other.tree))

    def leaves(self) -> FieldSet:
        """Only the paths that have no other path of the set below them."""
        return FieldSet(_leaves(self.tree))

    def with_declared(self, shape: Shape) -> FieldSet:
        """With the declared fields above every path.

        A field of a struct exists because it has content, so it belongs to the set of fields
        that may be removed. Map keys and list elements are in a set by themselves.
        """
        return FieldSet(_with_declared(self.tree, shape))

    def paths(self) -> Iterator[Path]:
        """Every path; those of one level before those below it."""
        return _paths(self.tree, ())


EMPTY: Final = FieldSet({})


# --- set algebra; "." is treated as an ordinary element, which keeps these short


def union(one: Tree, two: Tree) -> Tree:
    """The union of two nodes, which are not changed."""
    if one is two or not two:
        return one
    if not one:
        return two
    made = dict(one)
    for element, node in two.items():
        mine = made.get(element)
        made[element] = node if mine is None else union(mine, node)
    return made


def _intersection(one: Tree, two: Tree) -> Tree:
    made: Tree = {}
    for element, node in one.items():
        other = two.get(element)
        if other is None:
            continue
        if element == ".":
            made["."] = {}
        elif common := _intersection(node, other):
            made[element] = common
    return made


def _difference(one: Tree, two: Tree) -> Tree:
    if not two:
        return one
    made: Tree = {}
    for element, node in one.items():
        other = two.get(element)
        if other is None:
            made[element] = node
        elif element != "." and (rest := _difference(node, other)):
            made[element] = rest
    return made


def _cut(one: Tree, two: Tree) -> Tree:
    # Unlike `_difference`, this removes the whole subtree.
    made: Tree = {}
    for element, node in one.items():
        other = two.get(element)
        if other is None:
            made[element] = node
        elif "." not in other and (rest := _cut(node, other)):
            made[element] = rest
    return made


def _leaves(tree: Tree) -> Tree:
    # A path with children stays only as their parent.
    if len(tree) == 1:
        return {element: _leaves(node) for element, node in tree.items()}
    return {element: _leaves(node) for element, node in tree.items() if element != "."}


def _with_declared(tree: Tree, shape: Shape) -> Tree:
    made: Tree = {}
    for element, node in tree.items():
        if element == ".":
            made["."] = {}
            continue
        named = element.startswith("f:")
        below = _with_declared(node, shape.field(element[2:]) if named else shape.item())
        if named and "." not in below and shape.declares(element[2:]):
            below["."] = {}
        made[element] = below
    return made


def _paths(tree: Tree, start: Path) -> Iterator[Path]:
    order = [element for element in _in_order(tree) if element != "."]
    for element in order:
        if "." in tree[element]:
            yield (*start, element)
    for element in order:
        yield from _paths(tree[element], (*start, element))


# --- reading and writing


def _read(fields: object, *, top: bool = False) -> Tree:
    # Elements with the same normal form are merged.
    if not isinstance(fields, Mapping):
        raise InvalidArgument(f"fieldsV1: expected an object, found {type(fields).__name__}")
    tree: Tree = {}
    for key, below in fields.items():
        if key == ".":
            tree["."] = {}
        elif element := _normalize(key):
            node = _read(below)
            tree[element] = union(tree.get(element, {}), node)
    if top:
        tree.pop(".", None)  # the whole object has no owner
        return tree
    return tree or LEAF


def _to_json(node: Tree) -> dict[str, Any]:
    if len(node) == 1 and "." in node:
        return {}
    return {
        key: {} if key == "." or node[key] is LEAF else _to_json(node[key])
        for key in _in_order(node)
    }


@functools.lru_cache(maxsize=4096)
def _normalize(key: str) -> str:
    """A path element in its normal form; "" for an unknown type."""
    if len(key) < 2 or key[1] != ":":
        raise InvalidArgument(f"fieldsV1: {key!r} is not a path element (f:, k:, v: or i:)")
    match key[0]:
        case "f":
            return key
        case "k":
            return key_element(_decode(key, dict))
        case "v":
            return value_element(_decode(key, object))
        case "i":
            return f"i:{_index(key)}"
    return ""


def _decode(key: str, expected: type) -> Any:
    try:
        found = msgspec.json.decode(key[2:])
    except msgspec.DecodeError as error:
        raise InvalidArgument(f"fieldsV1: {key!r} has no JSON after its colon") from error
    if not isinstance(found, expected):
        raise InvalidArgument(f"fieldsV1: {key!r} needs an object after its colon")
    return found


def _index(key: str) -> int:
    try:
        return int(key[2:])
    except ValueError as error:
        raise InvalidArgument(f"fieldsV1: {key!r} needs a number after its colon") from error


def key_element(keys: Mapping[str, Any]) -> str:
    """The path element of a list element with these keys."""
    if len(keys) == 1:
        ((name, value),) = keys.items()
        if isinstance(value, str):
            return _name_element(name, value)
    return "k:" + _compact({name: _plain(keys[name]) for name in sorted(keys)})


@functools.lru_cache(maxsize=8192)
def _name_element(name: str, value: str) -> str:
    # Cached: most keyed lists have the single key `name`.
    return "k:" + _compact({name: value})


def value_element(value: Any) -> str:
    """The path element of a value in a set."""
    return "v:" + _compact(_plain(value))


def _plain(value: Any) -> Any:
    """A whole float as an integer, because the API compares numbers by value."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Go's encoding/json escapes these, so that JSON can be embedded in HTML.
_ESCAPES: Final = {
    ord(char): f"\\u{ord(char):04x}" for char in ("<", ">", "&", "\N{LINE SEPARATOR}", "\u2029")
}


def _compact(value: Any) -> str:
    return msgspec.json.encode(value).decode().translate(_ESCAPES)


def _in_order(tree: Tree) -> Iterable[str]:
    if len(tree) < 2:
        return tree
    names = sorted(tree)  # "." sorts before "f:", and both before all others
    return names if names[-1][0] in ".f" else sorted(names, key=_rank)


@functools.lru_cache(maxsize=4096)
def _rank(element: str) -> tuple[Any, ...]:
    """The sort key of structured-merge-diff: fields, keys, values, indexes."""
    match element[0]:
        case "f":
            return (1, element)
        case "k":
            keys = msgspec.json.decode(element[2:])
            return (2, tuple((name, _value_rank(value)) for name, value in keys.items()))
        case "v":
            return (3, _value_rank(msgspec.json.decode(element[2:])))
        case "i":
            return (4, int(element[2:]))
    return (0,)


def _value_rank(value: Any) -> tuple[Any, ...]:
    # `value.Compare`: numbers, strings, booleans, others, null.
    match value:
        case bool():
            return (2, value)
        case int() | float():
            return (0, value)
        case str():
            return (1, value)
        case None:
            return (5,)
    return (4, _compact(value))


# --- messages


def path_text(path: Iterable[str]) -> str:
    """A path as in the message of a conflict: `.spec.containers[name="web"].image`."""
    return "".join(map(_element_text, path))


def _element_text(element: str) -> str:
    rest = element[2:]
    match element[0]:
        case "f":
            return f".{rest}"
        case "k":
            keys = msgspec.json.decode(rest)
            return f"[{','.join(f'{name}={_format(value)}' for name, value in keys.items())}]"
        case "v":
            return f"[={_format(msgspec.json.decode(rest))}]"
    return f"[{rest}]"


def _format(value: Any) -> str:
    return msgspec.json.encode(value).decode()
