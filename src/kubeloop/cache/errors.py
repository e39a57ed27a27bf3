"""What can go wrong in a cache without a server's help.

InvalidArgument
├── UnkeyedObject     an object has no name, or a key function has failed for it
├── UnknownIndex      nobody made an index of that name
├── IndexConflict     an index of that name exists already
└── TransformFailed   a transform raised, or returned nothing
KubeError
├── QueueClosed       nothing is left in a queue that was closed
└── PartlyApplied     some changes of a transaction could not be made; the others were
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
    "UnkeyedObject",
    "UnknownIndex",
]


@final
class UnkeyedObject(DecodeError):
    """An object without a key: it has no name, or a key function raised or returned none.

    client-go's `KeyError`. The object is named as far as it can be; nothing of its data is in
    the message, and `__cause__` is what the key function raised.
    """


@final
class UnknownIndex(InvalidArgument):
    """A read named an index that does not exist."""


@final
class IndexConflict(InvalidArgument):
    """An index of that name exists already; none of those given was added."""


@final
class TransformFailed(InvalidArgument):
    """A transform raised or returned nothing; the object was not taken."""


@final
class QueueClosed(KubeError):
    """The queue was closed and holds nothing any more."""


@final
class PartlyApplied(KubeError):
    """A transaction with objects that have no key; the rest of it was applied.

    `applied` holds the places of the changes that were made, `failures` the reasons by
    place, and `total` how many changes there were.
    """

    def __init__(self, *, applied: list[int], total: int, failures: Mapping[int, Exception]):
        self.applied = applied
        self.total = total
        self.failures = failures
        first = next(iter(failures.values()))
        super().__init__(
            f"a transaction of {total} changes: {len(applied)} applied, "
            f"{len(failures)} not, the first because of: {first}"
        )


class Requeue(Exception):
    """Raised by a process function to have what it was given put back into the queue.

    Write `raise Requeue from error`: the queue raises `error`, after putting back.
    """
