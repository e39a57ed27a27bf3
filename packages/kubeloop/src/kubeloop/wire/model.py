"""The base classes of models: absent fields, unknown keys, equality and copies.

Guarantees: a field that is not set is not encoded, even after it was read; a list, a map or a
required field that is missing or null reads as its empty value; unknown keys are kept at every
depth, in copies and pickles too.

How: an absent field is `UNSET` in its slot. Reading it returns an empty value and, if that is
mutable, stores it marked as implied, so that encoding can distinguish "read but never filled"
from "set to empty". Unknown keys are in the `_extra` slot of their struct. A lazy field holds
its JSON until it is read. The garbage collector does not track models (`gc=False`): they are
trees, and traversing millions of them repeatedly makes large lists slow.
See also: decoding (`codec`), encoding (`encoding`), the fields of a class (`plan`).
"""

from __future__ import annotations

import copy
import functools
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import msgspec
from msgspec import Raw

from .errors import DecodeError
from .quantity import Quantity
from .times import Duration

if TYPE_CHECKING:
    from inspect import Signature
    from types import MemberDescriptorType

    from .definitions import Column, ScalePaths

__all__ = ["UNSET", "Extra", "Kind", "KindMeta", "Model", "ModelMeta"]

# Typed as Any so that `hosts: list[str] = UNSET` is a correct line for a type checker.
UNSET: Any = msgspec.UNSET
"""The value of a field that an object does not have; null is None."""


@final
class Extra(dict[str, Any]):
    """The unknown keys of a JSON object, unchanged."""


@final
class ImpliedList(list[Any]):
    """The empty list that an absent field reads as; encoded only if it is not empty."""

    __slots__ = ()


@final
class ImpliedMap(dict[str, Any]):
    """The empty map that an absent field reads as; encoded only if it is not empty."""

    __slots__ = ()


# In the `_extra` slot: this struct exists only because an absent field was read.
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
    """A field that reads as its empty value while its slot is unset."""

    slot: MemberDescriptorType


def _implied_field(owner: type, name: str, slot: MemberDescriptorType) -> ImpliedField:
    read, write = slot.__get__, slot.__set__
    make: Callable[[], tuple[Any, bool]] | None = None

    def value_of(self: Model) -> Any:
        value = read(self)
        if value is not UNSET:
            return value
        nonlocal make
        if make is None:  # annotations may name classes defined further down the module
            make = _factory_of(hints_of(owner)[name])
        value, keep = make()
        if keep:
            write(self, value)
        return value

    field = ImpliedField(value_of, write)
    field.slot = slot
    return field


def _lazy_field(name: str, slot: MemberDescriptorType) -> ImpliedField:
    """A field whose slot may hold JSON, which is decoded when the field is first read."""
    read, write = slot.__get__, slot.__set__

    def value_of(self: Model) -> Any:
        value = read(self)
        if type(value) is Raw:
            value = decode_lazy(value)
            if not isinstance(value, dict | None):
                raise DecodeError(f"expected an object, found {type(value).__name__}", path=name)
        elif value is not UNSET:
            return value
        value = ImpliedMap() if value is None or value is UNSET else value
        write(self, value)
        return value

    field = ImpliedField(value_of, write)
    field.slot = slot
    return field


def decode_lazy(text: Raw) -> Any:
    """The value of a lazy field. Raises: DecodeError."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(f"the text is not JSON: {error}") from error


def _factory_of(hint: Any) -> Callable[[], tuple[Any, bool]]:
    """The factory of a type's empty value, and whether that is mutable and must be stored."""
    kind = typing.get_origin(hint) or hint
    if kind is list:
        return lambda: (ImpliedList(), True)
    if kind is dict:
        return lambda: (ImpliedMap(), True)
    if isinstance(kind, ModelMeta):
        return lambda: (kind(_extra=IMPLIED), True)
    if kind in _UNIONS:  # the zero value of int-or-string is the int 0
        kind = typing.get_args(hint)[0]
    zero = zero_of(kind)
    return lambda: (zero, False)


def zero_of(hint: Any) -> Any:
    """The zero value of a scalar type as in Go; None for types without one."""
    return _ZEROS.get(hint)


def hints_of(cls: type) -> dict[str, Any]:
    """The resolved annotations of a model without `Annotated` bounds."""
    return typing.get_type_hints(cls, localns=_LOCALS)


_LOCALS: Mapping[str, Any] = {"Any": Any, "ClassVar": ClassVar}


def resolve_annotations(hint: Any) -> None:
    """Replace the text of annotations by types, in our own models that `hint` contains.

    msgspec and `typing` compile each text again for every class and its base classes: for a Pod
    that was most of the time of a first request. Not thread-safe.
    """
    if not isinstance(hint, ModelMeta):
        for part in typing.get_args(hint):
            resolve_annotations(part)
        return
    for base in hint.__mro__:
        if base.__module__.startswith(_OUR_MODULES) and base not in _resolved:
            _resolved.add(base)
            own = {
                name: _type_of(base.__module__, text) if isinstance(text, str) else text
                for name, text in base.__annotations__.items()
            }
            base.__annotations__ = own
            for part in own.values():
                resolve_annotations(part)


_OUR_MODULES = f"{__package__}."
_resolved: set[type] = set()


@functools.cache
def _type_of(module: str, text: str) -> Any:
    return eval(text, vars(sys.modules[module]))  # noqa: S307 - the source of our own module


class ModelMeta(msgspec.StructMeta):
    """Builds model classes: fields without a value may be omitted, and read as empty."""

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
        lazy: frozenset[str] = namespace.get("__lazy__", frozenset())
        for field in lazy:
            namespace["__annotations__"][field] = Raw
        cls = super().__new__(mcls, name, bases, namespace, **options)
        defaults = _defaults(cls)
        for field in fields:
            if defaults.get(field) is UNSET and field != "_extra":
                slot = _slot(cls, field)
                if slot is not None:
                    is_lazy = field in lazy
                    implied = (
                        _lazy_field(field, slot) if is_lazy else _implied_field(cls, field, slot)
                    )
                    setattr(cls, field, implied)
        # Fields without a value in the class body are required by the API.
        inherited: frozenset[str] = getattr(cls, "__required__", frozenset())
        cls.__required__ = frozenset(inherited - set(fields) | bare)  # type: ignore[attr-defined] # on Model
        if own:
            cls.__kind_options__ = {"kind": name} | own  # type: ignore[attr-defined] # on Model
        return cls

    if not TYPE_CHECKING:  # checkers know the arguments by the fields

        def __call__(cls, *values: Any, **fields: Any) -> Any:
            if values:
                raise TypeError(_bad_arguments(cls, fields))
            try:
                return super().__call__(**fields)
            except TypeError as error:
                # msgspec's own message names neither the class nor its fields.
                if fields.keys() <= set(cls.__struct_fields__):
                    raise
                raise TypeError(_bad_arguments(cls, fields)) from error

    @property
    def __signature__(cls) -> Signature:
        """What `help` and editors show: the fields, without our own slot."""
        signature: Signature = _signature_of(cls)
        return signature.replace(
            parameters=[
                parameter.replace(kind=parameter.KEYWORD_ONLY)
                for parameter in signature.parameters.values()
                if parameter.name != "_extra"
            ]
        )


_signature_of = msgspec.StructMeta.__dict__["__signature__"].__get__


def _bad_arguments(cls: ModelMeta, fields: Mapping[str, Any]) -> str:
    """The message for a call with positional arguments, or with one that is not a field."""
    import difflib

    known = [field for field in cls.__struct_fields__ if field != "_extra"]
    listed = f"its fields: {', '.join(known)}"
    wrong = next((name for name in fields if name not in known), None)
    if wrong is None:
        return f"{cls.__name__}() takes keyword arguments only ({listed})"
    by_wire_name = dict(zip(cls.__struct_encode_fields__, cls.__struct_fields__, strict=True))
    close = [by_wire_name[wrong]] if wrong in by_wire_name else None
    close = close or difflib.get_close_matches(wrong.lower(), known, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"{cls.__name__}() has no argument {wrong} ({hint}{listed})"


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
    """Whether a class body gives a field no value; it may still give it a wire name."""
    if isinstance(given, _FieldType):
        return given.default is given.default_factory is msgspec.NODEFAULT
    return given is msgspec.NODEFAULT


def _fields_in(namespace: Mapping[str, Any]) -> list[str]:
    """The names of the annotated fields in a class body, without resolving annotations."""
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
    for base in cls.__mro__:
        if field in base.__dict__:
            found: MemberDescriptorType | ImpliedField = base.__dict__[field]
            return found.slot if isinstance(found, ImpliedField) else found
    return None


def slot_reader(cls: type, field: str) -> Callable[[Any], Any]:
    """Reads the value of a slot as it is: `UNSET` if the field is absent."""
    slot = _slot(cls, field)
    assert slot is not None, f"{cls.__name__} has no field {field}"
    return slot.__get__


def _defaults(cls: Any) -> dict[str, Any]:
    """The defaults of fields; msgspec aligns them with the last fields."""
    return dict(
        zip(reversed(cls.__struct_fields__), reversed(cls.__struct_defaults__), strict=False)
    )


@typing.dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Model(
    msgspec.Struct,
    metaclass=ModelMeta,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,  # fast decoding; `codec` handles what it rejects
    rename="camel",
    eq=False,
    gc=False,
):
    """A JSON object of the API: plain, mutable, keyword-only, snake_case for camelCase.

    Derive the parts of your kinds from it, and the kinds themselves from `Resource`.
    """

    __redacted__: ClassVar[frozenset[str]] = frozenset()  # fields whose value repr hides
    __required__: ClassVar[frozenset[str]] = frozenset()  # fields without a value
    __optional__: ClassVar[frozenset[str]] = frozenset()  # of built-in kinds: objects that read
    # as empty where they are not set, and that the API does not require
    __lazy__: ClassVar[frozenset[str]] = frozenset()  # maps that are decoded when they are read
    __kind_options__: ClassVar[Mapping[str, Any]] = {}  # the options of a kind

    if TYPE_CHECKING:
        # Not as a field, so that editors do not offer it as an argument.
        @property
        def _extra(self) -> Extra: ...
        @_extra.setter
        def _extra(self, unknown: Extra) -> None: ...
    else:
        # No JSON text decodes into an Extra, so a key of this name is unknown like any other.
        _extra: Extra = msgspec.field(default=UNSET, name="$extra")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Decode plain JSON data; the object shares nothing with it.

        Raises:
            DecodeError: a value has the wrong type; the error has its path.
        """
        from .codec import from_builtins

        return from_builtins(cls, data)

    @classmethod
    def from_json(cls, text: bytes | str) -> Self:
        """Decode JSON text. Raises `DecodeError` as `from_dict` does."""
        from .codec import from_json

        return from_json(cls, text)

    @classmethod
    def from_yaml(cls, text: bytes | str) -> Self:
        """Decode one YAML document. Raises `DecodeError` as `from_dict` does."""
        from .codec import from_yaml

        return from_yaml(cls, text)

    def to_dict(self) -> dict[str, Any]:
        """The object as plain JSON data, which the caller may change."""
        from .encoding import to_builtins

        return to_builtins(self)

    def to_json(self) -> bytes:
        """The object as JSON text."""
        from .encoding import to_json

        return to_json(self)

    def to_yaml(self) -> str:
        """The object as one YAML document."""
        from .encoding import to_yaml

        return to_yaml(self)

    def __eq__(self, other: object) -> bool:
        """Equal if class, fields and unknown keys are; reading absent fields has no effect."""
        if type(self) is not type(other):
            return NotImplemented
        return self._content() == other._content()

    def __ne__(self, other: object) -> bool:
        # msgspec's `!=` compares identities only.
        return not self == other

    def _content(self) -> dict[str, Any]:
        """The values compared for equality; all forms of "not set" are one value."""
        return {field: _normalized(value) for field, value in slots_of(self)}

    __hash__ = None  # type: ignore[assignment] # mutable, as dicts and lists are

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy that shares nothing with the original."""
        return type(self)(
            **{
                field: copy.deepcopy(value, memo) if field != "_extra" else _copy_extra(value)
                for field, value in slots_of(self)
                if value is not UNSET
            }
        )

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{field}={HIDDEN if field in self.__redacted__ else _display(value)}"
            for field, value in slots_of(self)
            if field != "_extra" and not is_absent(value)
        )
        return f"{type(self).__name__}({shown})"


HIDDEN = "<hidden>"
# kubectl stores the whole object here, including the data of a Secret.
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def _display(value: Any) -> str:
    if isinstance(value, dict) and _LAST_APPLIED in value:
        return repr({**value, _LAST_APPLIED: HIDDEN})
    return bytes(value).decode(errors="replace") if type(value) is Raw else repr(value)


def slots_of(model: Model) -> Iterator[tuple[str, Any]]:
    """Field names and the raw values of their slots, including `UNSET`."""
    return zip(model.__struct_fields__, msgspec.structs.astuple(model), strict=True)


def is_absent(value: Any) -> bool:
    """Whether the value of a slot means "not set", so that it is not encoded."""
    if value is UNSET or value is None or (type(value) is Raw and value == _NULL):
        return True
    if isinstance(value, ImpliedList | ImpliedMap):
        return not value
    return (
        isinstance(value, Model)
        and value._extra is IMPLIED
        and all(is_absent(part) for field, part in slots_of(value) if field != "_extra")
    )


_NULL = Raw(b"null")


def _normalized(value: Any) -> Any:
    if type(value) is Raw:
        return decode_lazy(value)
    return None if value is IMPLIED or is_absent(value) else value


def _copy_extra(extra: Any) -> Any:
    return extra if extra is UNSET or extra is IMPLIED else Extra(copy.deepcopy(dict(extra)))


class KindMeta(ModelMeta):
    """The class of kinds: how mypy types the items of `[Deployment, Service]`."""


class Kind(Model, metaclass=KindMeta):
    """A JSON object with apiVersion and kind, which the class determines."""

    api_version: str = UNSET
    kind: str = UNSET

    def _content(self) -> dict[str, Any]:
        # The values of the class are not stored again in each object.
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


@functools.cache
def api_version_of(cls: type[Kind]) -> str:
    """`apps/v1` or `v1`; empty for a class without a group and version."""
    options = cls.__kind_options__
    group, version = options.get("group", ""), options.get("version", "")
    return f"{group}/{version}" if group else str(version)


@functools.cache
def kind_of(cls: type[Kind]) -> str:
    """The kind of a class; empty for a class without one."""
    return str(cls.__kind_options__.get("kind", ""))


def _class_constant(name: str, ask: Callable[[type[Kind]], str]) -> ImpliedField:
    """A field that reads as the value of the class while its slot is unset."""
    slot: MemberDescriptorType = getattr(Kind, name).slot
    read, write = slot.__get__, slot.__set__

    def value_of(self: Kind) -> Any:
        value = read(self)
        return ask(type(self)) if value is UNSET else value

    field = ImpliedField(value_of, write)
    field.slot = slot
    return field


setattr(Kind, "api_version", _class_constant("api_version", api_version_of))  # noqa: B010
setattr(Kind, "kind", _class_constant("kind", kind_of))  # noqa: B010

# The slots, in which objects of a class with a kind usually hold nothing.
api_version_slot = slot_reader(Kind, "api_version")
kind_slot = slot_reader(Kind, "kind")
