"""The ground under every model: what a field that was not set looks like, and what survives.

Guarantees: a field that is not set is not sent, whatever was read meanwhile; a list, a map
or a required field that is missing or null reads as its empty value; keys that a class
does not know travel with the object, at every depth, through copies and pickles.

How: an absent field is `UNSET` in its slot. Reading it hands out an empty value and, where
that can be changed, keeps it marked as implied, so that sending can tell "read, but never
filled" from "set to empty". Unknown keys sit in the `_extra` slot of the struct they belong
to. Models stand outside the garbage collector (`gc=False`): they hold trees, and walking
millions of them again and again is what makes large lists slow.
See also: reading (`codec`) and sending (`sending`), what a class knows of its fields (`schema`).
"""

from __future__ import annotations

import copy
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import msgspec

from .quantity import Quantity
from .times import Duration

if TYPE_CHECKING:
    from types import MemberDescriptorType

    from .definitions import Column, ScalePaths

__all__ = ["UNSET", "Extra", "Kind", "Model", "ModelMeta"]

# Typed as Any so that `hosts: list[str] = UNSET` is a correct line for a type checker.
UNSET: Any = msgspec.UNSET


@final
class Extra(dict[str, Any]):
    """The keys of a JSON object that its class does not know, as they came."""


@final
class ImpliedList(list[Any]):
    """The empty list that reading an absent field hands out; sent only once it is filled."""

    __slots__ = ()


@final
class ImpliedMap(dict[str, Any]):
    """The empty map that reading an absent field hands out; sent only once it is filled."""

    __slots__ = ()


# In the `_extra` slot: this struct exists only because somebody read an absent field.
IMPLIED = Extra()

_ZEROS: dict[Any, Any] = {
    str: "",
    int: 0,
    bool: False,
    float: 0.0,
    bytes: b"",
    Quantity: Quantity("0"),
    Duration: Duration(0),
}


_UNIONS = (typing.Union, types.UnionType)


class ImpliedField(property):
    """A field that reads as its empty value while nothing is in its slot."""

    slot: MemberDescriptorType


def _implied(owner: type, name: str, slot: MemberDescriptorType) -> ImpliedField:
    read, write = slot.__get__, slot.__set__
    make: Callable[[], tuple[Any, bool]] | None = None

    def value_of(self: Model) -> Any:
        value = read(self)
        if value is not UNSET:
            return value
        nonlocal make
        if make is None:  # annotations may name classes defined further down the module
            make = _maker(hints_of(owner)[name])
        value, keep = make()
        if keep:
            write(self, value)
        return value

    field = ImpliedField(value_of, write)
    field.slot = slot
    return field


def _maker(hint: Any) -> Callable[[], tuple[Any, bool]]:
    """What makes the empty value of a type, and whether it can be filled and must be kept."""
    kind = typing.get_origin(hint) or hint
    if kind is list:
        return lambda: (ImpliedList(), True)
    if kind is dict:
        return lambda: (ImpliedMap(), True)
    if isinstance(kind, ModelMeta):
        return lambda: (kind(_extra=IMPLIED), True)
    if kind in _UNIONS:  # int-or-string is the int 0 while it is nothing
        kind = typing.get_args(hint)[0]
    zero = zero_of(kind)
    return lambda: (zero, False)


def zero_of(hint: Any) -> Any:
    """The empty value of a scalar type, as Go has it; None for what has none."""
    return _ZEROS.get(hint)


def hints_of(cls: type) -> dict[str, Any]:
    """The resolved annotations of a model; `Annotated` bounds are left out."""
    return typing.get_type_hints(cls, localns=_LOCALS)


_LOCALS: Mapping[str, Any] = {"Any": Any, "ClassVar": ClassVar}


class ModelMeta(msgspec.StructMeta):
    """Builds model classes: fields without a value may be left out, and read as empty."""

    def __new__(
        mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> ModelMeta:
        own = {key: options.pop(key) for key in _KIND_OPTIONS & options.keys()}
        fields = _fields_in(namespace)
        bare = {field for field in fields if _is_bare(namespace.get(field, msgspec.NODEFAULT))}
        for field in fields:
            if field in bare:
                renamed = getattr(namespace.get(field), "name", None)
                namespace[field] = msgspec.field(default=UNSET, name=renamed)
            elif namespace[field] in ([], {}):
                namespace[field] = UNSET
        cls = super().__new__(mcls, name, bases, namespace, **options)
        for field in fields:
            slot = _slot(cls, field)
            if slot is not None and _default(cls, field) is UNSET and field != "_extra":
                setattr(cls, field, _implied(cls, field, slot))
        # What a class body gives no value must be there, as far as the API is concerned.
        inherited: frozenset[str] = getattr(cls, "__required__", frozenset())
        cls.__required__ = frozenset(inherited - set(fields) | bare)  # type: ignore[attr-defined] # on Model
        if own:
            cls.__kind_options__ = {"kind": name} | own  # type: ignore[attr-defined] # on Model
        return cls


_KIND_OPTIONS = frozenset(
    {
        "group",
        "version",
        "kind",
        "plural",
        "singular",
        "namespaced",
        "short_names",
        "categories",
        "scale",
        "columns",
        "selectable_fields",
        "status_subresource",
        "extra_json_schema",
    }
)
_FieldType = type(msgspec.field())


def _is_bare(given: Any) -> bool:
    """Whether a class body leaves a field without a value, be it with a name of its own."""
    if isinstance(given, _FieldType):
        return given.default is given.default_factory is msgspec.NODEFAULT
    return given is msgspec.NODEFAULT


def _fields_in(namespace: Mapping[str, Any]) -> list[str]:
    """The names that a class body annotates as fields, without resolving anything."""
    annotations = namespace.get("__annotations__")
    if annotations is None and sys.version_info >= (3, 14):  # pragma: no cover
        import annotationlib

        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        annotations = (
            annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF)
            if annotate
            else {}
        )
    return [
        name
        for name, hint in (annotations or {}).items()
        if not str(hint).removeprefix("typing.").startswith("ClassVar")
    ]


def _slot(cls: type, field: str) -> MemberDescriptorType | None:
    found = next((base.__dict__[field] for base in cls.__mro__ if field in base.__dict__), None)
    return found.slot if isinstance(found, ImpliedField) else found


def _default(cls: Any, field: str) -> Any:
    """The default that the class was built with, found from the end as msgspec keeps it."""
    names, defaults = cls.__struct_fields__, cls.__struct_defaults__
    index = names.index(field) - len(names) + len(defaults)
    return defaults[index] if index >= 0 else msgspec.NODEFAULT


@typing.dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Model(
    msgspec.Struct,
    metaclass=ModelMeta,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,  # the fast way of decoding; `codec` catches what it refuses
    rename="camel",
    eq=False,
    gc=False,
):
    """A JSON object of the API: plain, mutable, keyword-only, snake_case for camelCase.

    Derive from it for the parts of your own kinds; `Resource` is for the kinds themselves.
    """

    __redacted__: ClassVar[frozenset[str]] = frozenset()  # fields whose value repr hides
    __required__: ClassVar[frozenset[str]] = frozenset()  # fields that were given no value
    __optional__: ClassVar[frozenset[str]] = frozenset()  # of built-in kinds: objects that read
    # as empty where they are not set, and that the API does not require
    __kind_options__: ClassVar[Mapping[str, Any]] = {}  # what a kind says of itself

    # No JSON text decodes into an Extra, so a key of this name is unknown like any other.
    _extra: Extra = msgspec.field(default=UNSET, name="$extra")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read plain JSON data; the object shares nothing with it.

        Raises:
            DecodeError: a value has the wrong type; the path of it is named.
        """
        from .codec import from_builtins

        return from_builtins(cls, data)

    @classmethod
    def from_json(cls, text: bytes | str) -> Self:
        """Read JSON text. Raises `DecodeError` as `from_dict` does."""
        from .codec import from_json

        return from_json(cls, text)

    @classmethod
    def from_yaml(cls, text: bytes | str) -> Self:
        """Read one YAML document. Raises `DecodeError` as `from_dict` does."""
        from .codec import from_yaml

        return from_yaml(cls, text)

    def to_dict(self) -> dict[str, Any]:
        """What would be sent, as plain JSON data of the caller's own."""
        from .sending import to_builtins

        return to_builtins(self)

    def to_json(self) -> bytes:
        """What would be sent."""
        from .sending import to_json

        return to_json(self)

    def to_yaml(self) -> str:
        """What would be sent, as one YAML document."""
        from .sending import to_yaml

        return to_yaml(self)

    def __eq__(self, other: object) -> bool:
        """Equal when the class, every field and every unknown key are; reading changes nothing."""
        if type(self) is not type(other):
            return NotImplemented
        return self._content() == other._content()

    def __ne__(self, other: object) -> bool:
        # msgspec brings an `!=` of its own, which asks only whether it is the same object.
        return not self == other

    def _content(self) -> dict[str, Any]:
        """What counts for equality: fields and unknown keys, "not set" being one value."""
        return {field: _settled(value) for field, value in slots_of(self)}

    __hash__ = None  # type: ignore[assignment] # mutable, as dicts and lists are

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy that shares nothing with the original."""
        return type(self)(
            **{
                field: copy.deepcopy(value, memo) if field != "_extra" else _copied(value)
                for field, value in slots_of(self)
                if value is not UNSET
            }
        )

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{field}={HIDDEN if field in self.__redacted__ else _shown(value)}"
            for field, value in slots_of(self)
            if field != "_extra" and not is_absent(value)
        )
        return f"{type(self).__name__}({shown})"


HIDDEN = "<hidden>"
# kubectl puts the whole object here, the data of a Secret included.
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def _shown(value: Any) -> str:
    if isinstance(value, dict) and _LAST_APPLIED in value:
        return repr({**value, _LAST_APPLIED: HIDDEN})
    return repr(value)


def slots_of(model: Model) -> Iterator[tuple[str, Any]]:
    """Field names and what their slots really hold, `UNSET` included."""
    return zip(model.__struct_fields__, msgspec.structs.astuple(model), strict=True)


def is_absent(value: Any) -> bool:
    """Whether a slot's value stands for "not set": it would not be sent."""
    if value is UNSET or value is None:
        return True
    if isinstance(value, ImpliedList | ImpliedMap):
        return not value
    return (
        isinstance(value, Model)
        and value._extra is IMPLIED
        and all(is_absent(part) for field, part in slots_of(value) if field != "_extra")
    )


def _settled(value: Any) -> Any:
    return None if value is IMPLIED or is_absent(value) else value


def _copied(extra: Any) -> Any:
    return extra if extra is UNSET or extra is IMPLIED else Extra(copy.deepcopy(dict(extra)))


class Kind(Model):
    """A JSON object that says what it is: apiVersion and kind are the class's own."""

    api_version: str = UNSET
    kind: str = UNSET

    def _content(self) -> dict[str, Any]:
        # An object that repeats what its class says anyway says nothing more.
        return super()._content() | {"api_version": self.api_version, "kind": self.kind}

    if TYPE_CHECKING:

        def __init_subclass__(
            cls,
            *,
            group: str = ...,
            version: str = ...,
            kind: str = ...,
            plural: str = ...,
            singular: str = ...,
            namespaced: bool = ...,
            short_names: tuple[str, ...] = ...,
            categories: tuple[str, ...] = ...,
            scale: ScalePaths = ...,
            columns: tuple[Column, ...] = ...,
            selectable_fields: tuple[str, ...] = ...,
            status_subresource: bool = ...,
            extra_json_schema: Mapping[str, Any] = ...,
        ) -> None: ...


def api_version_of(cls: type[Kind]) -> str:
    """`apps/v1` or `v1`; empty for a class that does not say what it is."""
    options = cls.__kind_options__
    group, version = options.get("group", ""), options.get("version", "")
    return f"{group}/{version}" if group else str(version)


def kind_of(cls: type[Kind]) -> str:
    """The kind that a class stands for; empty for a class that does not say."""
    return str(cls.__kind_options__.get("kind", ""))


def _of_the_class(name: str, ask: Callable[[type[Kind]], str]) -> ImpliedField:
    """A field that reads as what the class says while nothing is in its slot."""
    slot: MemberDescriptorType = getattr(Kind, name).slot
    read, write = slot.__get__, slot.__set__

    def value_of(self: Kind) -> Any:
        value = read(self)
        return ask(type(self)) if value is UNSET else value

    field = ImpliedField(value_of, write)
    field.slot = slot
    return field


setattr(Kind, "api_version", _of_the_class("api_version", api_version_of))  # noqa: B010
setattr(Kind, "kind", _of_the_class("kind", kind_of))  # noqa: B010
