"""Reads a few fields of a protobuf message and skips the rest; cuts fields out of it.

Guarantees: a value is what the JSON of the object has for the field, None where that has none; a
message without its dropped fields is otherwise equal, fields that are not known included. Needs
the extra `kubeloop[protobuf]`.
How: upb parses the message by a descriptor that has only the fields on the paths. It keeps the
others as bytes, and writes them again.
See also: `projection` and `field_cutter` (the same for JSON), `protobuf_codec` (whole objects).
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from .errors import DecodeError, InvalidArgument
from .projection import parse_path
from .protobuf_messages import MAGIC, SCALARS, MessageField, is_message, message_fields
from .times import format_time

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto

__all__ = ["MessageProjection", "has_upb", "read_label", "read_owner", "read_time", "type_bytes"]

# Of ObjectMeta: name, namespace, uid, resourceVersion, generation, labels, ownerReferences,
# deletionTimestamp. The last three are read as bytes, which most objects share.
_HEAD: Final = (1, 3, 5, 6, 7, 11, 13, 9)
_BYTES: Final = frozenset({9, 11, 13})
_METADATA: Final = "meta_v1.ObjectMeta"


class _Step(NamedTuple):
    """A field on a path, in the message that has it."""

    field: MessageField
    key: str = ""  # of a map, if the path names one of its entries


@final
class MessageProjection:
    """The head of an object, the values at `paths`, and the object without the fields in `drop`.

        where = MessageProjection("core_v1.Pod", ("spec.nodeName",), ("metadata.managedFields",))
        parsed = where.parse(message)
        where.head(parsed), where.values(parsed), where.cut(parsed, message)

    Raises:
        InvalidArgument: a path is not a field of the message, or is into a list.
    """

    def __init__(self, message: str, paths: Sequence[str] = (), drop: Sequence[str] = ()) -> None:
        read = [_steps(message, path) for path in paths]
        cut = [_steps(message, path) for path in drop]
        classes = _projection_classes(message, tuple(map(tuple, (*read, *cut))))
        self._parse: Callable[[bytes], Any] = classes[0].FromString
        self._parse_envelope: Callable[[bytes], Any] = classes[1].FromString
        self._head = operator.attrgetter(*(f"f{number}" for number in _HEAD))
        self._getters = [_getter(steps) for steps in read]
        self._cutters = [_cutter(steps) for steps in cut]
        # None: the value of a path takes more than a field, so that the object has to be decoded.
        self.reads_values = all(_is_plain(steps[-1]) for steps in read)

    def parse(self, message: bytes) -> Any:
        """The message as upb has it. Raises: DecodeError."""
        try:
            return self._parse(message)
        except Exception as error:
            raise DecodeError(f"the bytes are not protobuf of the API: {error}") from error

    def parse_envelope(self, body: bytes) -> tuple[bytes, Any]:
        """The type of an object in its envelope, as bytes, and its message as `parse` has it.

        The type is as `type_bytes` has it, and empty for a body with an encoding.
        Raises: DecodeError.
        """
        try:
            found = self._parse_envelope(body[len(MAGIC) :])
        except Exception as error:
            raise DecodeError(f"the bytes are not protobuf of the API: {error}") from error
        return (b"" if found.encoding else found.type), found.message

    def head(self, parsed: Any) -> tuple[Any, ...]:
        """Name, namespace, uid, version, generation, labels, owners, time of the deletion.

        Labels and owners are lists of bytes, for `read_label` and `read_owner`; the time is
        empty, or bytes for `read_time`. Text that is not UTF-8 is bytes.
        """
        found: tuple[Any, ...] = self._head(parsed.f1)
        return found

    def values(self, parsed: Any) -> list[Any]:
        """The values at the paths, as JSON has them; text that is not UTF-8 is bytes."""
        return [get(parsed) for get in self._getters]

    def cut(self, parsed: Any, message: bytes | None = None) -> bytes:
        """The message without the dropped fields; `parsed` is changed.

        `message` is what was parsed, which is returned if there are none of them.
        """
        is_cut = message is None
        for cut in self._cutters:
            is_cut |= cut(parsed)
        if not is_cut and message is not None:
            return message
        found: bytes = parsed.SerializePartialToString()
        return found


@functools.cache
def has_upb() -> bool:
    """Whether protobuf can be read at all; as `protobuf_descriptors.is_available`, without a log
    line, for code that was not asked for protobuf."""
    try:
        from google.protobuf.internal import api_implementation
    except ImportError:
        return False
    return bool(api_implementation.Type() == "upb")


def _steps(message: str, path: str) -> list[_Step]:
    """The fields along a path. Fields of an inlined message are one level deeper than in JSON."""
    found: list[_Step] = []
    names = list(parse_path(path))
    while names:
        name = names.pop(0)
        chain = _chain(message, name)
        if chain is None:
            raise InvalidArgument(f"field path {path!r}: {message} has no field {name!r}")
        found += [_Step(field) for field in chain]
        field = chain[-1]
        if not names:
            break
        if field.how == "map" and field.type == "string" and len(names) == 1:
            found[-1] = _Step(field, names.pop())
        elif field.how or not is_message(field.type):
            raise InvalidArgument(
                f"field path {path!r}: {name} is a list, a map or a value (name the whole field)"
            )
        message = field.type
    return found


def _chain(message: str, wire: str) -> list[MessageField] | None:
    for field in message_fields(message):
        if field.how == "inline":
            inner = _chain(field.type, wire)
            if inner is not None:
                return [field, *inner]
        elif field.wire == wire:
            return [field]
    return None


def _is_plain(step: _Step) -> bool:
    field = step.field
    return bool(step.key) or (field.type in SCALARS - {"bytes"} and field.how != "map")


# --- descriptors

_numbers = itertools.count()


def type_bytes(api_version: str, kind: str) -> bytes:
    """The type in an envelope, as Go writes it (a runtime.TypeMeta)."""
    found = _class_of("TypeMeta")(apiVersion=api_version, kind=kind)
    return bytes(found.SerializeToString())


@functools.cache
def _projection_classes(message: str, paths: tuple[tuple[_Step, ...], ...]) -> tuple[Any, Any]:
    """The class of messages with the head and the fields of the paths, and of their envelopes."""
    from google.protobuf import descriptor_pool, message_factory
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    package = f"kubeloop.projection{next(_numbers)}"
    file = FileDescriptorProto(name=package, package=package, syntax="proto2")
    metadata = next(field for field in message_fields(message) if field.type == _METADATA)
    head = [(metadata, field) for field in message_fields(_METADATA) if field.number in _HEAD]
    chains = [*head, *(tuple(step.field for step in path) for path in paths)]
    name = _add_message(file, chains)
    envelope = file.message_type.add(name="Envelope")
    for number, part in enumerate(("type", "message", "encoding"), 1):
        field = envelope.field.add(name=part, number=number, label=1, type=Field.TYPE_BYTES)
        if part == "message":
            field.type, field.type_name = Field.TYPE_MESSAGE, f".{package}.{name}"
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    one, other = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{each}"))
        for each in (name, "Envelope")
    )
    return one, other


def _add_message(
    file: FileDescriptorProto,
    chains: Iterable[tuple[MessageField, ...]],
    *,
    is_metadata: bool = False,
) -> str:
    """Add a message with the first field of each chain, and messages for the others."""
    name = f"M{len(file.message_type)}"
    message = file.message_type.add(name=name)
    below: dict[MessageField, list[tuple[MessageField, ...]]] = {}
    for first, *rest in chains:
        below.setdefault(first, []).append(tuple(rest))
    for field, rests in below.items():
        inner = ""
        if all(rests):
            inner = _add_message(file, rests, is_metadata=field.type == _METADATA)
        _add_field(message, field, inner and f".{file.package}.{inner}", is_metadata=is_metadata)
    return name


def _add_field(
    message: DescriptorProto, field: MessageField, inner: str, *, is_metadata: bool
) -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

    label = Field.LABEL_REPEATED if field.how in {"list", "map"} else Field.LABEL_OPTIONAL
    found = message.field.add(name=f"f{field.number}", number=field.number, label=label)
    if inner:
        found.type, found.type_name = Field.TYPE_MESSAGE, inner
        return
    is_bytes = field.how == "map" or (is_metadata and field.number in _BYTES)
    found.type = Field.TYPE_BYTES if is_bytes else _types().get(field.type, Field.TYPE_BYTES)


# --- reading and cutting


def _parents(steps: Sequence[_Step]) -> Iterator[tuple[str, bool]]:
    """The attributes above a field, and whether JSON has them only if the message does."""
    for step in steps[:-1]:
        is_pointer = step.field.presence == "p" and step.field.how != "inline"
        yield f"f{step.field.number}", is_pointer


def _getter(steps: Sequence[_Step]) -> Callable[[Any], Any]:
    parents = list(_parents(steps))
    field, key = steps[-1]
    name = f"f{field.number}"
    is_list, presence = field.how == "list", field.presence

    def get(parsed: Any) -> Any:
        for parent, is_pointer in parents:
            if is_pointer and not parsed.HasField(parent):
                return None
            parsed = getattr(parsed, parent)
        value = getattr(parsed, name)
        if key:
            return dict(map(read_label, value)).get(key)
        if is_list:
            return value[:] or None
        if presence == "p":
            return value if parsed.HasField(name) else None
        return value if value or presence == "a" else None

    return get


def _cutter(steps: Sequence[_Step]) -> Callable[[Any], bool]:
    """A function that clears a field, and returns whether there was one."""
    parents = [name for name, _ in _parents(steps)]
    field, key = steps[-1]
    name = f"f{field.number}"
    is_repeated = field.how in {"list", "map"}

    def cut(parsed: Any) -> bool:
        for parent in parents:
            if not parsed.HasField(parent):
                return False
            parsed = getattr(parsed, parent)
        if key:
            entries = getattr(parsed, name)
            kept = [each for each in entries if read_label(each)[0] != key]
            if len(kept) == len(entries):
                return False
            entries[:] = kept
            return True
        has = bool(getattr(parsed, name)) if is_repeated else parsed.HasField(name)
        if has:
            parsed.ClearField(name)
        return has

    return cut


def read_label(entry: bytes) -> tuple[str, str]:
    """A label's key and value. Raises: ValueError."""
    found = _class_of("Label").FromString(entry)
    return _text(found.key), _text(found.value)


def read_owner(reference: bytes) -> tuple[str, str, str, str, bool]:
    """The apiVersion, kind, name and uid of an owner, and whether it is the controller.

    Raises: ValueError.
    """
    found = _class_of("OwnerReference").FromString(reference)
    texts = map(_text, (found.apiVersion, found.kind, found.name, found.uid))
    return (*texts, found.controller)


def _text(value: Any) -> str:
    """Text, for which upb returns bytes if they are not UTF-8."""
    if type(value) is str:
        return value
    raise ValueError(f"it is not UTF-8: {bytes(value)[:40]!r}")


def read_time(text: bytes) -> str:
    """A time as JSON has it. Raises: ValueError, OverflowError."""
    return format_time(_EPOCH + timedelta(seconds=_class_of("Time").FromString(text).seconds))


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PARTS: Final = {
    "Label": {"key": (1, "string"), "value": (2, "string")},
    "OwnerReference": {
        "apiVersion": (5, "string"),
        "kind": (1, "string"),
        "name": (3, "string"),
        "uid": (4, "string"),
        "controller": (6, "bool"),
    },
    "Time": {"seconds": (1, "int64")},
    "TypeMeta": {"apiVersion": (1, "string"), "kind": (2, "string")},
}


@functools.cache
def _class_of(part: str) -> Any:
    from google.protobuf import descriptor_pool, message_factory
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto(name=part, package="kubeloop.parts", syntax="proto2")
    message = file.message_type.add(name=part)
    for name, (number, type_) in _PARTS[part].items():
        message.field.add(name=name, number=number, label=1, type=_types()[type_])
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"kubeloop.parts.{part}"))


@functools.cache
def _types() -> dict[str, Any]:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

    return {
        "string": Field.TYPE_STRING,
        "int32": Field.TYPE_INT32,
        "int64": Field.TYPE_INT64,
        "bool": Field.TYPE_BOOL,
        "double": Field.TYPE_DOUBLE,
    }
