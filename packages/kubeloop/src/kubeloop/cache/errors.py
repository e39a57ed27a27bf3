"""The errors of a cache that do not come from a server.

InvalidArgument
├── UnkeyedObject     an object has no name, or a key function failed for it
├── UnknownIndex      there is no index of that name
├── IndexConflict     an index of that name exists already
├── TransformFailed   a transform raised, or returned nothing
└── UnexpectedFormat  the server sent protobuf to a cache that requested JSON
KubeError
├── QueueClosed       the queue is closed and empty
└── PartlyApplied     some operations of a transaction failed; the others were applied
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from kubeloop.errors import DecodeError, InvalidArgument, KubeError

__all__ = [
    "IndexConflict",
    "PartlyApplied",
    "QueueClosed",
    "Requeue",
    "TransformFailed",
    "UnexpectedFormat",
    "UnkeyedObject",
    "UnknownIndex",
]


@final
class UnkeyedObject(DecodeError):
    """An object without a key: it has no name, or a key function raised or returned none.

    client-go's `KeyError`. The message names the object as far as possible and contains none of
    its data; `__cause__` is what the key function raised.
    """


@final
class UnexpectedFormat(DecodeError):
    """The server sent objects in a format that was not requested: none of them can be read.

    Unlike a single unreadable object, they are not left out: the cache would be empty.
    """


@final
class UnknownIndex(InvalidArgument):
    """A read named an index that does not exist."""


@final
class IndexConflict(InvalidArgument):
    """An index of that name exists already; none was added."""


@final
class TransformFailed(InvalidArgument):
    """A transform raised or returned nothing; the object was not stored."""


@final
class QueueClosed(KubeError):
    """The queue is closed and empty."""


@final
class PartlyApplied(KubeError):
    """A transaction with objects that have no key; the rest of it was applied.

    `applied` has the positions of the applied operations, `failures` the errors by position,
    and `total` is the number of operations.
    """

    def __init__(self, *, applied: list[int], total: int, failures: Mapping[int, Exception]):
        self.applied = applied
        self.total = total
        self.failures = failures
        first = next(iter(failures.values()))
        super().__init__(
            f"a transaction of {total} operations: {len(applied)} applied, "
            f"{len(failures)} failed, the first with: {first}"
        )


class Requeue(Exception):
    """Raised by a process function to put its batch back into the queue.

    Write `raise Requeue from error`: the queue raises `error` after it put the batch back.
    """
