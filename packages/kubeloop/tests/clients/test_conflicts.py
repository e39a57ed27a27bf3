"""Trying again on a conflict."""

from __future__ import annotations

import pytest

from kubeloop.clients import is_conflict, retry_on_conflict
from kubeloop.errors import Conflict, NotFound, api_error, failure
from kubeloop.kit import DEFAULT_BACKOFF, DEFAULT_RETRY, SystemClock


class Change:
    """Fails some times before it succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def conflict(text: str = "changed") -> Conflict:
    error = api_error("PUT pods/web", failure("Conflict", text))
    assert isinstance(error, Conflict)
    return error


async def test_a_conflict_is_tried_again() -> None:
    """UTL-8: OnError(backoff, retriable, fn): fn error not retriable."""
    change = Change(conflict(), conflict())

    assert await retry_on_conflict(change) == "done"
    assert change.calls == 3


async def test_anything_else_leaves_at_once() -> None:
    """UTL-8: OnError(backoff, retriable, fn): fn error not retriable."""
    change = Change(api_error("GET pods/web", failure("NotFound", "gone")))

    with pytest.raises(NotFound):
        await retry_on_conflict(change)

    assert change.calls == 1


@pytest.mark.parametrize(("backoff", "calls"), [(DEFAULT_RETRY, 5), (DEFAULT_BACKOFF, 4)])
async def test_the_last_conflict_leaves_when_the_tries_are_used_up(
    backoff: object, calls: int
) -> None:
    """UTL-7, UTL-8, UTL-C1, UTL-C2: five or four tries, and no timeout error."""

    class Instant:
        """A clock that does not wait."""

        now = staticmethod(SystemClock().now)
        time = staticmethod(SystemClock().time)
        timeout = staticmethod(SystemClock().timeout)

        async def sleep(self, seconds: float) -> None: ...

    change = Change(*(conflict(str(number)) for number in range(9)))

    with pytest.raises(Conflict, match=f"Conflict: {calls - 1}"):
        await retry_on_conflict(change, backoff=backoff, clock=Instant())  # type: ignore[arg-type] # either backoff

    assert change.calls == calls


def test_a_409_of_an_unknown_reason_is_a_conflict() -> None:
    """UTL-8, REST-61: OnError(backoff, retriable, fn): fn error not retriable."""
    assert is_conflict(api_error("PUT", failure("Novelty", "?", code=409)))
    assert not is_conflict(api_error("POST", failure("AlreadyExists", "?")))
