"""How a cache holds the whole of an object: as bytes, JSON or protobuf, decoded, or compressed.

Guarantees: bytes are returned exactly as the server sent them, and `unpack` decodes them into
an object that the caller owns. Only the format `objects` shares what it holds with every
reader: objects are decoded once, and readers must not change them (`MutationDetector` finds
code that does).
Threads: `pack` is called on the thread of the event loop; `unpack` and `raw` on any.
See also: `codec` (what is read without decoding the object).
"""

from __future__ import annotations

import threading
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, final

import msgspec

from kubeloop.errors import ConfigError
from kubeloop.wire import MessageReader, Model, decode, message_reader

__all__ = ["ObjectType", "Storage", "StorageFormat", "storage_for"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
StorageFormat: TypeAlias = Literal["bytes", "objects", "compressed"]
"""How a cache keeps objects: as the bytes of the server, decoded, or compressed."""


class Storage(Protocol[T_co]):
    """One format for the content of entries."""

    shares_objects: bool  # whether `unpack` returns the object that is held

    def pack(self, raw: bytes) -> Any:
        """The content to hold. Raises `DecodeError` where that takes decoding."""
        ...

    def unpack(self, content: Any) -> T_co: ...
    def raw(self, content: Any) -> bytes: ...


def storage_for(store_as: StorageFormat, object_type: ObjectType[T]) -> Storage[T]:
    """The storage of that format.

    Raises:
        ConfigError: `compressed`, and its library is not installed.
    """
    match store_as:
        case "bytes":
            return BytesStorage(object_type)
        case "objects":
            return ObjectStorage(object_type)
        case "compressed":
            return CompressedStorage(object_type)


@final
class ObjectType(Generic[T]):
    """The type that readers get: a model, `dict`, or a struct with some of the fields.

    A dict gets the apiVersion and kind that the items of a list do not have. `message` is the
    protobuf message of the objects, if they may come as such.
    """

    def __init__(
        self, model: type[T], *, api_version: str = "", kind: str = "", message: str = ""
    ) -> None:
        self.model = model
        self._message = message
        self._reader: MessageReader[T] | None = None
        self.is_model = issubclass(model, Model)
        self.is_whole = self.is_model or model is dict  # a struct has only the fields it names
        self._type_meta = {"apiVersion": api_version, "kind": kind} if kind else {}

    def decode(self, raw: bytes) -> T:
        """Raises `DecodeError`, and `UnknownFields` for such a message."""
        found = self.reader.decode(raw) if self.is_message(raw) else decode(self.model, raw)
        if self._type_meta and isinstance(found, dict):
            return self._type_meta | found  # type: ignore[return-value] # T is dict here
        return found

    def is_message(self, raw: bytes) -> bool:
        """Whether it is protobuf: no message begins with a brace, and the JSON of a cache that
        may have both begins with one."""
        return bool(self._message) and raw[:1] != b"{"

    @property
    def reader(self) -> MessageReader[T]:
        """Reads messages."""
        if self._reader is None:
            self._reader = message_reader(self.model, message=self._message)  # type: ignore[arg-type] # hashable
        return self._reader

    def to_json(self, raw: bytes) -> bytes:
        """The JSON of a message. Raises `DecodeError` and `UnknownFields`."""
        data = message_reader(dict, message=self._message).decode(raw)
        return msgspec.json.encode(self._type_meta | data)

    def encode(self, value: T) -> bytes:
        """Raises `InvalidArgument` for a value that JSON cannot represent."""
        return value.to_json() if isinstance(value, Model) else msgspec.json.encode(value)


@final
class BytesStorage(Generic[T]):
    """The bytes of the server; each read decodes them."""

    shares_objects = False

    def __init__(self, object_type: ObjectType[T]) -> None:
        self._type = object_type

    def pack(self, raw: bytes) -> Any:
        return raw

    def unpack(self, content: Any) -> T:
        return self._type.decode(content)

    def raw(self, content: Any) -> bytes:
        found: bytes = content
        return found


@final
class ObjectStorage(Generic[T]):
    """Decoded once; all readers share one object, which they must not change.

    `raw` encodes it again: equal in content, not in whitespace.
    """

    shares_objects = True

    def __init__(self, object_type: ObjectType[T]) -> None:
        self._type = object_type

    def pack(self, raw: bytes) -> Any:
        return self._type.decode(raw)

    def unpack(self, content: Any) -> T:
        found: T = content
        return found

    def raw(self, content: Any) -> bytes:
        return self._type.encode(content)


# The dictionary is trained on enough objects to see what those of one kind have in common, and
# on so few that training takes ten milliseconds: it blocks the event loop.
SAMPLES = 64
SAMPLE_BYTES = 8 * 1024
DICTIONARY_BYTES = 32 * 1024
LEVEL = 3
_FRAME = b"\x28\xb5\x2f\xfd"  # begins a compressed object; neither JSON nor a message does


class _OfThread(threading.local):
    """What each thread has of its own: a decompressor is not thread-safe."""

    decompressor: Any = None


@final
class CompressedStorage(Generic[T]):
    """Zstandard with a dictionary trained on the first objects, which stay uncompressed.

    Needs the extra `compression`.
    """

    shares_objects = False

    def __init__(self, object_type: ObjectType[T]) -> None:
        self._type = object_type
        self._zstd = _zstandard()
        self._samples: list[bytes] = []
        self._dictionary: Any = None
        self._compressor: Any = None
        self._local = _OfThread()

    def pack(self, raw: bytes) -> Any:
        if self._compressor is None:
            self._sample(raw)
            return raw
        # A copy: the compressor allocates for the worst case and shrinks the result, and the
        # rest of each such allocation is too small for the next one to use.
        return memoryview(self._compressor.compress(raw)).tobytes()

    def unpack(self, content: Any) -> T:
        return self._type.decode(self.raw(content))

    def raw(self, content: Any) -> bytes:
        if not content.startswith(_FRAME):
            return bytes(content)
        found: bytes = self._decompressor().decompress(content)
        return found

    def _sample(self, raw: bytes) -> None:
        self._samples.append(raw[:SAMPLE_BYTES])
        if len(self._samples) >= SAMPLES:
            self._dictionary = self._train()
            self._compressor = self._zstd.ZstdCompressor(
                level=LEVEL, dict_data=self._dictionary, write_dict_id=False
            )
            self._samples = []

    def _train(self) -> Any:
        try:
            # With k and d given the library does not search for them: a third of the time.
            return self._zstd.train_dictionary(DICTIONARY_BYTES, self._samples, k=512, d=8)
        except self._zstd.ZstdError:
            # Samples that are too small or too similar to train on are the dictionary themselves.
            content = b"".join(self._samples)[-DICTIONARY_BYTES:]
            raw_content = self._zstd.DICT_TYPE_RAWCONTENT
            return self._zstd.ZstdCompressionDict(content, dict_type=raw_content)

    def _decompressor(self) -> Any:
        local = self._local
        if local.decompressor is None:
            local.decompressor = self._zstd.ZstdDecompressor(dict_data=self._dictionary)
        return local.decompressor


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise ConfigError(
            "store a cache compressed: the zstandard library is not installed "
            '(install kubeloop[compression], or use store_as="bytes")'
        ) from error
    return zstandard
