"""Decodes protobuf of the API into models, by upb (the extra `kubeloop[protobuf]`).

Guarantees: an object is equal, field by field, to what its JSON would decode to: what Go's JSON
always has is set, what it omits is not. An object with a field that our models do not know raises
`UnknownFields`: nothing is lost silently, and JSON has the field. Thread-safe.
How: upb parses the bytes. A function that is compiled for each message reads its fields and makes
the model; times, quantities and numbers-or-strings are parsed once for equal bytes.
See also: the fields (`protobuf_messages`), the descriptors (`protobuf_descriptors`), the pure
Python reader for bodies of requests and errors (`protobuf`), JSON (`codec`).
"""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar, final

import msgspec
from msgspec import Raw

from .codec import hook
from .errors import DecodeError
from .model import Kind, Model, api_version_of, kind_of
from .plan import ListOf, MapOf, Node, Object, View, plan_of
from .protobuf_descriptors import (
    ABSENT_BOOL,
    ABSENT_INT,
    is_available,
    is_message_map,
    message_class,
)
from .protobuf_messages import (
    MAGIC,
    PROTOBUF,
    SCALARS,
    SCHEMAS,
    MessageField,
    is_message,
    message_fields,
    message_of,
)
from .quantity import Quantity, cached_quantity
from .raw import RawList, RawListMeta
from .times import MicroTime, format_micro_time, format_time

__all__ = [
    "MAGIC",
    "PROTOBUF",
    "Envelope",
    "MessageReader",
    "ObjectIdentity",
    "UnknownFields",
    "decode_envelope",
    "identity_in",
    "is_available",
    "is_readable",
    "message_reader",
    "open_envelope",
    "split_protobuf_event",
    "split_protobuf_list",
]

T = TypeVar("T")

Read: TypeAlias = Callable[[Any], Any]  # from a upb message to a value


class UnknownFields(DecodeError):
    """The object has fields that our models do not know: read it as JSON, which keeps them."""


class Envelope(NamedTuple):
    """The type of an object, and its message."""

    api_version: str
    kind: str
    message: bytes


class ObjectIdentity(NamedTuple):
    """What identifies an object, and its version."""

    uid: str
    namespace: str
    name: str
    version: str


# --- envelopes, lists and events


def open_envelope(body: bytes) -> Envelope:
    """The message in a body or in an event. Raises: DecodeError."""
    if not body.startswith(MAGIC):
        raise DecodeError("the body is not protobuf of the API: it does not begin with k8s\\0")
    found = _parse(_base("Unknown"), body[len(MAGIC) :])
    if found.encoding:
        raise DecodeError("the body has a content encoding, which is not supported")
    type_meta = found.typeMeta
    return Envelope(_text(type_meta.apiVersion), _text(type_meta.kind), found.raw)


def split_protobuf_list(body: bytes) -> RawList:
    """A list whose items are messages, which a `MessageReader` decodes. Raises: DecodeError."""
    api_version, kind, message = open_envelope(body)
    if not kind.endswith("List"):
        return RawList(api_version=api_version, kind=kind, items=[], is_protobuf=True)
    found = _parse(_base("RawList"), message)
    head = found.metadata
    metadata = RawListMeta(
        resource_version=_text(head.version) or None,
        continue_=_text(head.next) or None,
        remaining_item_count=head.remaining if head.HasField("remaining") else None,
    )
    items: list[Any] = found.items[:]
    return RawList(
        api_version=api_version, kind=kind, metadata=metadata, items=items, is_protobuf=True
    )


def split_protobuf_event(frame: bytes) -> tuple[str, bytes]:
    """The type of an event, and its object in an envelope. Raises: DecodeError."""
    found = _parse(_base("WatchEvent"), frame)
    return _text(found.type), found.object.raw


def identity_in(message: bytes) -> ObjectIdentity:
    """What identifies the object in a message of any kind. Raises: DecodeError."""
    found = _parse(_base("Identified"), message).metadata
    return ObjectIdentity(*map(_text, (found.uid, found.namespace, found.name, found.version)))


def _text(value: Any) -> str:
    """Text, for which upb returns bytes if they are not UTF-8."""
    if type(value) is str:
        return value
    raise DecodeError(f"the bytes are not protobuf of the API: {bytes(value)[:40]!r} is not UTF-8")


@functools.cache
def _base(name: str) -> Callable[[bytes], Any]:
    parse: Callable[[bytes], Any] = message_class(name).FromString
    return parse


def _parse(parse: Callable[[bytes], Any], text: bytes) -> Any:
    try:
        return parse(text)
    except Exception as error:
        raise _not_protobuf(error) from error


def _not_protobuf(error: Exception) -> DecodeError:
    # upb raises its own DecodeError, and TypeError for what is not bytes.
    return DecodeError(f"the bytes are not protobuf of the API: {error}")


# --- objects

# What a message with odd values may raise: a time in the year 10^11, a number that is text.
_FOREIGN: Final = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)


@final
class MessageReader(Generic[T]):
    """Decodes the messages of one kind as `T`: a model, a view (a plain struct) or a dict."""

    def __init__(self, message: str, type_: type[T]) -> None:
        self.message = message
        self.parse: Callable[[bytes], Any] = message_class(message).FromString
        """The message as upb has it; its fields are named by their numbers, such as `f1`."""
        self._read = _reader(message, type_)

    def decode(self, message: bytes) -> T:
        """The object in a message without an envelope.

        Raises:
            UnknownFields: it has fields that our models do not know.
            DecodeError: the bytes are not such a message.
        """
        found = _parse(self.parse, message)
        # Go and upb write the same fields with the same number of bytes, so that any difference
        # is a field that was discarded.
        found.DiscardUnknownFields()
        if found.ByteSize() != len(message):
            raise _unknown(self.message)
        return self.read(found)

    def read(self, parsed: Any) -> T:
        """As `decode`, for a message that was parsed and checked before."""
        try:
            value: T = self._read(parsed)
        except _UnknownPart as error:
            raise _unknown(self.message) from error
        except _FOREIGN as error:
            if isinstance(error, DecodeError):
                raise
            raise DecodeError(f"cannot read {self.message}: {error}") from error
        return value

    def has_unknown_fields(self, message: bytes) -> bool:
        """Whether a message has fields that our models do not know. Raises: DecodeError.

        Parts that are read as bytes, such as times, are checked when they are decoded.
        """
        found = _parse(self.parse, message)
        found.DiscardUnknownFields()
        return bool(found.ByteSize() != len(message))


def _unknown(message: str) -> UnknownFields:
    return UnknownFields(
        f"the {message} has fields that this version of kubeloop does not know (read it as JSON)"
    )


def is_readable(cls: type[Any]) -> bool:
    """Whether objects of a class can come as protobuf: it is built in, and upb is installed."""
    if not cls.__module__.startswith("kubeloop.wire.") or not issubclass(cls, Kind):
        return False
    try:
        message_of(api_version_of(cls), kind_of(cls))
    except DecodeError:
        return False
    return is_available()


@functools.cache
def message_reader(
    type_: type[T], *, api_version: str = "", kind: str = "", message: str = ""
) -> MessageReader[T]:
    """The reader of a kind; a model names its kind itself.

    Raises:
        DecodeError: it is not a built-in kind.
    """
    if not message:
        if not api_version and issubclass(type_, Kind):
            api_version, kind = api_version_of(type_), kind_of(type_)
        message = message_of(api_version, kind)
    return MessageReader(message, type_)


def decode_envelope(type_: type[T], body: bytes) -> T:
    """The object in a body or in an event, as a model of its kind, a view or a dict.

    Raises:
        UnknownFields: it has fields that our models do not know.
        DecodeError: it is not protobuf of the API, or of another kind.
    """
    api_version, kind, message = open_envelope(body)
    if issubclass(type_, Kind) and (api_version, kind) != (api_version_of(type_), kind_of(type_)):
        raise DecodeError(
            f"expected {api_version_of(type_)} {kind_of(type_)} for a {type_.__name__}, found"
            f" {api_version} {kind} (decode it as the class of that kind)"
        )
    reader: MessageReader[T] = message_reader(type_, api_version=api_version, kind=kind)  # type: ignore[arg-type] # hashable
    return reader.decode(message)


def _reader(message: str, type_: Any) -> Read:
    if isinstance(type_, type) and issubclass(type_, Model):
        return _compile(message, type_)
    read = _compile_data(message, type_ if isinstance(type_, msgspec.StructMeta) else None)
    if type_ is dict or type_ == dict[str, Any]:
        return read
    return lambda found: msgspec.convert(read(found), type_, dec_hook=hook)


# --- compiling the reader of a message


@functools.cache
def _compile(message: str, cls: type[Model]) -> Read:
    """A function from a upb message to a model."""
    plan = plan_of(cls)
    source = _Source(message, is_data=False)
    for field, name in source.fields(message):
        known = plan.get(field.wire)
        if known is not None:
            source.add(field, name, known.name, known.node)
    return source.function("C(**k)", {"C": cls})


@functools.cache
def _compile_data(message: str, view: Any = None) -> Read:
    """A function from a upb message to its JSON data; of a view, only the fields that it has."""
    plan = None if view is None else plan_of(view)
    source = _Source(message, is_data=True)
    for field, name in source.fields(message):
        if plan is None:
            source.add(field, name, field.wire, None)
        elif field.wire in plan:
            source.add(field, name, field.wire, plan[field.wire].node)
    return source.function("k", {})


@final
class _Source:
    """The source of a reader: statements that put the fields of message `m` into dict `k`."""

    def __init__(self, message: str, *, is_data: bool) -> None:
        self._message = message
        self._is_data = is_data
        self._lines: list[str] = []
        self._names: dict[str, Any] = {}
        self._unused: set[str] = set()  # lines that no other line needs

    def fields(self, message: str, name: str = "m") -> Iterator[tuple[MessageField, str]]:
        """The fields of a message and of those inlined into it, each with the name of its message
        in the source."""
        # Bound once: upb looks for a field of this name first.
        bind = _bind(name)
        self._lines.append(bind)
        self._unused.add(bind)
        for field in message_fields(message):
            if field.how == "inline":
                inner = f"{name}_{field.number}"
                self._lines.append(f" {inner} = {name}.f{field.number}")
                yield from self.fields(field.type, inner)
            else:
                yield field, name

    def add(self, field: MessageField, name: str, key: str, node: Node | None) -> None:
        """Read one field of message `name` as `key`."""
        read = f"{name}.f{field.number}"
        has = f"has_{name}('f{field.number}')"
        convert = self._converter(field, node)
        put = f"k[{key!r}]"
        if field.how == "map" and not is_message_map(field):
            entry = self._entry_reader(field, convert)
            self._lines.append(f" v = {read}")
            self._lines.append(f" if v: {put} = dict(map({entry}, v[:]))")
        elif field.how in {"list", "map"}:
            self._lines.append(f" v = {read}")
            self._lines.append(f" if v: {put} = {_collection(field, convert)}")
        elif field.presence == "a":
            self._lines.append(f" {put} = {convert.format(read)}")
        elif field.type in SCALARS and (field.type, field.presence) not in _WITH_DEFAULT:
            self._lines.append(f" v = {read}")
            self._lines.append(f" if v: {put} = {convert.format('v')}")
            if field.presence == "p":
                self._unused.discard(_bind(name))
                self._lines.append(f" elif {has}: {put} = {convert.format('v')}")
        elif field.type in SCALARS:
            self._lines.append(f" v = {read}")
            absent = ABSENT_INT if field.type == "int32" else ABSENT_BOOL
            value = "v" if field.type == "int32" else "v != 0"
            self._lines.append(f" if v != {absent}: {put} = {value}")
        elif field.type in _OR_NULL:
            self._lines.append(f" v = {read}")
            self._lines.append(f" if v: {put} = {convert.format('v')}")
        else:
            self._unused.discard(_bind(name))
            self._lines.append(f" if {has}: {put} = {convert.format(read)}")

    def _converter(self, field: MessageField, node: Node | None) -> str:
        """The expression that converts a value, which it has as `{}`."""
        type_, of = field.type, _element(node)
        if type_ in SCALARS:
            if type_ == "bytes" and self._is_data:
                return self._call("b64", lambda value: base64.b64encode(value).decode())
            return "{}"
        if is_message(type_):
            name = f"read_{type_.replace('.', '_')}"
            view = of.hint if isinstance(of, View | Object) else None
            cls = of.hint if isinstance(of, Object) and not self._is_data else None
            self._refer(name, lambda: _compile(type_, cls) if cls else _compile_data(type_, view))
            return f"{name}({{}})"
        if type_ in SCHEMAS:
            return self._call(type_, _SCHEMA_READERS[type_])
        if type_ == "Raw" and isinstance(of, MapOf) and of.hint is Raw:
            return self._call("lazy", _lazy_json)
        table = _DATA if self._is_data else _VALUES
        return self._call(type_, table[type_])

    def _entry_reader(self, field: MessageField, convert: str) -> str:
        """The name of a function from the bytes of a map's entry to its key and value."""
        name = f"entry_{field.type}"
        function = self._names.get(convert.partition("(")[0])
        is_short = field.wire in _SHORT_MAPS or field.type not in {"string", "bytes"}
        name += "" if is_short else "_any"
        self._names[name] = _entry_reader(
            function, is_text=field.type == "string", is_short=is_short
        )
        return name

    def _call(self, name: str, function: Read) -> str:
        self._names[name] = function
        return f"{name}({{}})"

    def _refer(self, name: str, compile_: Callable[[], Read]) -> None:
        """Name the reader of another message, which is compiled when it is first called: most
        objects have few of the fields that their kind has, and messages refer to each other in
        cycles."""
        names = self._names

        def read(found: Any) -> Any:
            names[name] = compile_()
            return names[name](found)

        names[name] = read

    def function(self, result: str, names: dict[str, Any]) -> Read:
        self._names.update(names)
        lines = [line for line in self._lines if line not in self._unused]
        text = "\n".join(["def read(m):", " k = {}", *lines, f" return {result}"])
        exec(compile(text, f"<{self._message}>", "exec"), self._names)  # noqa: S102 - names of our own table
        found: Read = self._names["read"]
        return found


def _bind(name: str) -> str:
    return f" has_{name} = {name}.HasField"


# Fields whose default value says that they are absent.
_WITH_DEFAULT: Final = frozenset({("int32", "p"), ("bool", "p")})
# Types whose empty bytes are null.
_OR_NULL: Final = frozenset({"Time", "MicroTime", "Raw"})


def _element(node: Node | None) -> Node | None:
    """The node of the elements of a list or map; a lazy field is a map without elements."""
    if isinstance(node, ListOf):
        return node.item
    if isinstance(node, MapOf) and node.hint is not Raw:
        return node.value
    return node


def _collection(field: MessageField, convert: str) -> str:
    if field.how == "list":
        # A slice is a list, which is faster to iterate than what upb has.
        return "v[:]" if convert == "{}" else f"list(map({convert.removesuffix('({})')}, v[:]))"
    return f"{{a: {convert.format('v[a]')} for a in v}}"


# --- types with JSON of their own, which are read as bytes


class _UnknownPart(Exception):
    """A time, a quantity or a number-or-string has a field that is not known."""


def _varint(text: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = text[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value - (1 << 64) if value >= 1 << 63 else value), at
        shift += 7
        if shift > 63:
            raise DecodeError("the bytes are not protobuf of the API: an endless number")


def _parts(text: bytes, *known: int) -> list[Any]:
    """The values of the fields with these tags, 0 or empty where there is none."""
    found: list[Any] = [b"" if tag & 7 == 2 else 0 for tag in known]
    at = 0
    try:
        while at < len(text):
            tag, at = _varint(text, at)
            if tag not in known:
                raise _UnknownPart
            value, at = _varint(text, at)
            if tag & 7 != 2:
                found[known.index(tag)] = value
                continue
            if value < 0 or at + value > len(text):
                raise DecodeError("the bytes are not protobuf of the API: truncated")
            found[known.index(tag)] = text[at : at + value]
            at += value
    except IndexError as error:
        raise DecodeError("the bytes are not protobuf of the API: truncated") from error
    return found


@functools.cache
def _entry_reader(
    convert: Read | None, *, is_text: bool, is_short: bool
) -> Callable[[bytes], tuple[str, Any]]:
    """A function from an entry of a map to its key and value, which is immutable."""

    def read(entry: bytes) -> tuple[str, Any]:
        key, value = _parts(entry, 0x0A, 0x12)
        if is_text:
            return key.decode(), value.decode()
        return key.decode(), value if convert is None else convert(value)

    # Objects share most of their labels and annotations; long values would fill the memory.
    read_short = functools.lru_cache(maxsize=16384)(read)
    if is_short:
        return read_short
    return lambda entry: read_short(entry) if len(entry) < _LONG else read(entry)


_LONG: Final = 256
_SHORT_MAPS: Final = frozenset({"labels", "matchLabels", "nodeSelector"})  # at most 63 characters
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@functools.lru_cache(maxsize=4096)
def _time(text: bytes) -> datetime:
    seconds, _ = _parts(text, 0x08, 0x10)
    return _EPOCH + timedelta(seconds=seconds)  # JSON has whole seconds only


@functools.lru_cache(maxsize=4096)
def _micro_time(text: bytes) -> MicroTime:
    seconds, nanos = _parts(text, 0x08, 0x10)
    return MicroTime.of(_EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000))


@functools.lru_cache(maxsize=4096)
def _quantity(text: bytes) -> Quantity:
    (found,) = _parts(text, 0x0A)
    return cached_quantity(found.decode() or "0")


@functools.lru_cache(maxsize=4096)
def _int_or_string(text: bytes) -> int | str:
    is_text, number, string = _parts(text, 0x08, 0x10, 0x1A)
    return str(string, "utf-8") if is_text else int(number)


def _json_in(text: bytes) -> bytes:
    (found,) = _parts(text, 0x0A)
    return bytes(found) or b"null"


def _lazy_json(text: bytes) -> Raw:
    return Raw(_json_in(text))


def _json(text: bytes) -> Any:
    return msgspec.json.decode(_json_in(text))


def _strings(found: Any) -> list[str]:
    items: list[str] = found.f1[:]
    return items


_VALUES: Final[dict[str, Read]] = {
    "Time": _time,
    "MicroTime": _micro_time,
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "Raw": _json,
    "strings": _strings,
}
_DATA: Final[dict[str, Read]] = _VALUES | {
    "Time": lambda text: format_time(_time(text)),
    "MicroTime": lambda text: format_micro_time(_micro_time(text)),
    "Quantity": lambda text: str(_quantity(text)),
}


# --- the schema of a CRD, whose models have plain data for these fields


def _schema(found: Any) -> Any:
    return _compile_data("apiextensions_v1.JSONSchemaProps")(found)


def _schema_or_items(found: Any) -> Any:
    if found.HasField("f1"):
        return _schema(found.f1)
    return [item if isinstance(item, str) else _schema(item) for item in found.f2]


def _schema_or_bool(found: Any) -> Any:
    return _schema(found.f2) if found.HasField("f2") else bool(found.f1)


_SCHEMA_READERS: Final[dict[str, Read]] = {
    "SchemaOrArray": _schema_or_items,
    "SchemaOrBool": _schema_or_bool,
    "SchemaOrStrings": _schema_or_items,
}
