"""The descriptors of messages for upb, made from the table of fields.

upb is the C runtime of the package `protobuf` (the extra `kubeloop[protobuf]`). Its messages are
made of descriptors; there are no generated modules. A group version is one file of descriptors,
which is built when one of its messages is first used, after those that it refers to.

Guarantees: a field is named by its number (`f1`); a message with its own JSON (a time, a quantity)
is read as bytes, because a message object costs more than the value; a pointer to a small number
or a boolean has a default that no value has, so that its presence needs no second look.
See also: the decoders made from them (`protobuf_codec`).
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any, Final

from .protobuf_messages import MessageField, is_message, message_fields
from .text import get_logger

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool

__all__ = ["ABSENT_BOOL", "ABSENT_INT", "BASE", "is_available", "is_message_map", "message_class"]

log = get_logger(__name__)

ABSENT_INT: Final = 1 << 40  # no value of an int32
ABSENT_BOOL: Final = 2

_PACKAGE = "kubeloop"
_MODULE_OF_OWN = {"strings": "meta_v1"}  # the others are with the schemas that refer to them

# The envelope of an object, an event of a watch, and a list whose items are not decoded.
BASE: Final = {
    "Unknown": ("1 typeMeta TypeMeta", "2 raw bytes", "3 encoding string", "4 contentType string"),
    "TypeMeta": ("1 apiVersion string", "2 kind string"),
    "WatchEvent": ("1 type string", "2 object RawExtension"),
    "RawExtension": ("1 raw bytes",),
    "RawList": ("1 metadata ListMeta", "2 items *bytes"),
    "ListMeta": ("2 version string", "3 next string", "4 remaining int64"),
    "Identified": ("1 metadata Identity",),
    "Identity": ("1 name string", "3 namespace string", "5 uid string", "6 version string"),
}


@functools.cache
def is_available() -> bool:
    """Whether upb is installed; logged once if another runtime is, which would be slow."""
    try:
        from google.protobuf.internal import api_implementation
    except ImportError:
        return False
    found = api_implementation.Type()
    if found != "upb":
        log.warning(
            "protobuf: the installed runtime is %r, not upb, and would be slower than JSON: JSON is"
            " used (install a wheel of the package protobuf for this platform)",
            found,
        )
    return bool(found == "upb")


# Two threads must not add the same file to the pool.
_lock = threading.RLock()


def message_class(name: str) -> Any:
    """The upb class of a message: `core_v1.Pod`, `SchemaOrBool`, or one of `BASE`."""
    from google.protobuf import message_factory

    with _lock:
        file = _add_base() if name in BASE else _add_module(_module_of(name))
        descriptor = _pool().FindMessageTypeByName(f"{file}.{_short(name)}")
        return message_factory.GetMessageClass(descriptor)


@functools.cache
def _pool() -> DescriptorPool:
    from google.protobuf import descriptor_pool

    return descriptor_pool.DescriptorPool()


def _module_of(name: str) -> str:
    if is_message(name):
        return name.partition(".")[0]
    return _MODULE_OF_OWN.get(name, "apiextensions_v1")


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _is_nested(type_: str) -> bool:
    return is_message(type_) or type_ == "strings" or type_.startswith("SchemaOr")


def is_message_map(field: MessageField) -> bool:
    """Whether a field is a map that upb reads as one; of others the entries are read as bytes,
    because most of them are in many objects."""
    return field.how == "map" and _is_nested(field.type)


@functools.cache
def _add_base() -> str:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto(name="base", package=f"{_PACKAGE}.base", syntax="proto2")
    for name, rows in BASE.items():
        message = file.message_type.add(name=name)
        for row in rows:
            number, field_name, type_ = row.split(" ")
            field = message.field.add(name=field_name, number=int(number), label=1)
            if type_.startswith("*"):
                field.label = field.LABEL_REPEATED
                type_ = type_[1:]
            if type_ in BASE:
                field.type, field.type_name = field.TYPE_MESSAGE, f".{_PACKAGE}.base.{type_}"
            else:
                field.type = _scalar_type(type_)
    _pool().AddSerializedFile(file.SerializeToString())
    return file.package


@functools.cache
def _add_module(module: str) -> str:
    """Add the messages of a group version, and of those that it refers to; returns the package."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    from ._generated.protobuf import MESSAGES

    names = [name for name in MESSAGES if name.startswith(f"{module}.")]
    names += ["strings"] if module == "meta_v1" else []
    if module == "apiextensions_v1":
        names += ["SchemaOrArray", "SchemaOrBool", "SchemaOrStrings"]
    package = f"{_PACKAGE}.{module}"
    file = FileDescriptorProto(name=module, package=package, syntax="proto2")
    others = set()
    for name in names:
        message = file.message_type.add(name=_short(name))
        for each in message_fields(name):
            _add_field(message, each, f".{package}.{_short(name)}")
            if _is_nested(each.type):
                others.add(_module_of(each.type))
    for other in sorted(others - {module}):
        _add_module(other)
        file.dependency.append(other)
    _pool().AddSerializedFile(file.SerializeToString())
    return package


def _add_field(message: DescriptorProto, each: MessageField, full_name: str) -> None:
    field = message.field.add(name=f"f{each.number}", number=each.number)
    if is_message_map(each):
        entry = message.nested_type.add(name=f"F{each.number}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=1, type=field.TYPE_STRING)
        _set_type(entry.field.add(name="value", number=2, label=1), each.type)
        field.label, field.type = field.LABEL_REPEATED, field.TYPE_MESSAGE
        field.type_name = f"{full_name}.{entry.name}"
        return
    field.label = field.LABEL_REPEATED if each.how in {"list", "map"} else field.LABEL_OPTIONAL
    if each.how == "map":
        field.type = field.TYPE_BYTES
    else:
        _set_type(field, each.type)
    if not each.how and each.presence == "p":
        if each.type == "int32":
            field.type, field.default_value = field.TYPE_INT64, str(ABSENT_INT)
        elif each.type == "bool":
            field.type, field.default_value = field.TYPE_INT32, str(ABSENT_BOOL)


def _set_type(field: FieldDescriptorProto, type_: str) -> None:
    if _is_nested(type_):
        field.type = field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{_module_of(type_)}.{_short(type_)}"
    else:
        field.type = _scalar_type(type_)


def _scalar_type(type_: str) -> Any:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto

    return {
        "string": FieldDescriptorProto.TYPE_STRING,
        "int32": FieldDescriptorProto.TYPE_INT32,
        "int64": FieldDescriptorProto.TYPE_INT64,
        "bool": FieldDescriptorProto.TYPE_BOOL,
        "double": FieldDescriptorProto.TYPE_DOUBLE,
    }.get(type_, FieldDescriptorProto.TYPE_BYTES)
