"""How an object is kept: as the bytes that came, as an object, or compressed.

Promises: one interface for the three; what does not read as JSON or has no name is refused
and never kept. Bytes come back exactly as they came, and `give` decodes them into an object
that the caller owns. Only `objects` hands out what it holds, which nobody may change (the
`MutationDetector` tells who does): that is the price of decoding once.
Threads: `take` and `keep` belong to the thread of the event loop; `give` and `raw` may be
called from any.
Elsewhere: what is read without decoding the rest (`keeper`).
"""

from __future__ import annotations

import threading
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, final

import msgspec

from kubeloop.errors import ConfigError
from kubeloop.wire import Model, decode

__all__ = ["Keeping", "Way", "way_of"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Keeping: TypeAlias = Literal["bytes", "objects", "compressed"]


class Way(Protocol[T_co]):
    """One way to keep objects of a type."""

    shares: bool  # whether `give` hands out what is held

    def keep(self, raw: bytes) -> Any:
        """What to hold for an object. Raises `DecodeError` where that takes decoding."""
        ...

    def give(self, kept: Any) -> T_co: ...
    def raw(self, kept: Any) -> bytes: ...


def way_of(keeping: Keeping, form: Form[T]) -> Way[T]:
    """The way of that name.

    Raises:
        ConfigError: `compressed` without its library.
    """
    match keeping:
        case "bytes":
            return AsBytes(form)
        case "objects":
            return AsObjects(form)
        case "compressed":
            return Compressed(form)


@final
class Form(Generic[T]):
    """The type that objects are given as: a model, a dict, or a struct of the user's (a view).

    A dict is told its apiVersion and kind where they are missing, as in the items of a list.
    """

    def __init__(self, of: type[T], *, api_version: str = "", kind: str = "") -> None:
        self.of = of
        self.is_model = issubclass(of, Model)
        self.is_whole = self.is_model or of is dict  # a view leaves out what it does not name
        self._said = {"apiVersion": api_version, "kind": kind} if kind else {}

    def decode(self, raw: bytes) -> T:
        """Raises `DecodeError`."""
        found = decode(self.of, raw)
        if self._said and isinstance(found, dict):
            return self._said | found  # type: ignore[return-value] # T is dict here
        return found

    def encode(self, given: T) -> bytes:
        """Raises `InvalidArgument` for what JSON cannot say."""
        return given.to_json() if isinstance(given, Model) else msgspec.json.encode(given)


@final
class AsBytes(Generic[T]):
    """Bytes as they came; each read decodes."""

    shares = False

    def __init__(self, form: Form[T]) -> None:
        self._form = form

    def keep(self, raw: bytes) -> Any:
        return raw

    def give(self, kept: Any) -> T:
        return self._form.decode(kept)

    def raw(self, kept: Any) -> bytes:
        found: bytes = kept
        return found


@final
class AsObjects(Generic[T]):
    """Decoded once; every reader is given the same object, to read only.

    `raw` writes it anew: equal in content, not in every space.
    """

    shares = True

    def __init__(self, form: Form[T]) -> None:
        self._form = form

    def keep(self, raw: bytes) -> Any:
        return self._form.decode(raw)

    def give(self, kept: Any) -> T:
        found: T = kept
        return found

    def raw(self, kept: Any) -> bytes:
        return self._form.encode(kept)


# What a dictionary is trained on: enough to see what objects of a kind have in common, and
# little enough that training takes ten milliseconds (it runs on the event loop).
SAMPLES = 64
SAMPLE_BYTES = 8 * 1024
DICTIONARY_BYTES = 32 * 1024
LEVEL = 3
_PLAIN = ord("{")  # how an object's JSON begins, and no compressed frame does


@final
class Compressed(Generic[T]):
    """Zstandard with a dictionary trained on the first objects, which stay as they came.

    Needs the extra `compression`.
    """

    shares = False

    def __init__(self, form: Form[T]) -> None:
        self._form = form
        self._zstd = _zstandard()
        self._samples: list[bytes] = []
        self._dictionary: Any = None
        self._compressor: Any = None
        self._local = threading.local()  # a decompressor must not be used by two threads at once

    def keep(self, raw: bytes) -> Any:
        raw = raw.lstrip()
        if self._compressor is None:
            self._sample(raw)
            return raw
        # A copy: what the compressor returns was allocated for the worst case and cut short,
        # and the rest of each such allocation is too small for the next one to use.
        return memoryview(self._compressor.compress(raw)).tobytes()

    def give(self, kept: Any) -> T:
        return self._form.decode(self.raw(kept))

    def raw(self, kept: Any) -> bytes:
        if kept[0] == _PLAIN:
            return bytes(kept)
        found: bytes = self._decompressor().decompress(kept)
        return found

    def _sample(self, raw: bytes) -> None:
        self._samples.append(raw[:SAMPLE_BYTES])
        if len(self._samples) >= SAMPLES:
            self._dictionary = self._trained()
            self._compressor = self._zstd.ZstdCompressor(
                level=LEVEL, dict_data=self._dictionary, write_dict_id=False
            )
            self._samples = []

    def _trained(self) -> Any:
        try:
            # With k and d given nothing is searched for, which takes a third of the time.
            return self._zstd.train_dictionary(DICTIONARY_BYTES, self._samples, k=512, d=8)
        except self._zstd.ZstdError:
            # Samples too small or too much alike to train on serve as they are.
            content = b"".join(self._samples)[-DICTIONARY_BYTES:]
            raw_content = self._zstd.DICT_TYPE_RAWCONTENT
            return self._zstd.ZstdCompressionDict(content, dict_type=raw_content)

    def _decompressor(self) -> Any:
        found = getattr(self._local, "decompressor", None)
        if found is None:
            found = self._zstd.ZstdDecompressor(dict_data=self._dictionary)
            self._local.decompressor = found
        return found


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise ConfigError(
            "keep a cache compressed: the zstandard library is not there "
            "(install kubeloop[compression], or keep bytes)"
        ) from error
    return zstandard
