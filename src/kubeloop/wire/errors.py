"""The root of every error that kubeloop raises, and the errors about values themselves.

They stand here, on the lowest floor, because decoding raises them; the rest of
the tree is in `kubeloop.machinery.errors`, which is also the door to use.
"""

from __future__ import annotations

from typing import Self

__all__ = ["DecodeError", "InvalidValue", "KubeError"]


class KubeError(Exception):
    """Whatever kubeloop raises on purpose.

    `hint` is what a Python program can do about it; `str(error)` shows it in parentheses.
    `summary` is the text without it, for programs that have advice of their own.
    """

    hint: str = ""

    @property
    def summary(self) -> str:
        """What was tried and what came back, without the hint."""
        return super().__str__()

    def with_hint(self, hint: str) -> Self:
        """The same error with this hint."""
        self.hint = hint
        return self

    def __str__(self) -> str:
        return f"{self.summary} ({self.hint})" if self.hint else self.summary


class InvalidValue(KubeError, ValueError):
    """A value that the API's rules do not allow: a selector, a quantity, a name, a patch."""


class DecodeError(InvalidValue):
    """Text that is not what it was read as; `path` names the offending value."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
