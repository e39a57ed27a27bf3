"""The root of every error that kubeloop raises, and the errors about values themselves.

They stand here, on the lowest floor, because decoding raises them; the rest of
the tree is in `kubeloop.errors`, which is also the door to use.
"""

from __future__ import annotations

from typing import Self

from .text import visible

__all__ = ["DecodeError", "InvalidArgument", "KubeError"]


class KubeError(Exception):
    """Whatever kubeloop raises on purpose.

    `hint` is what can be done about it, `python_hint` what an argument or a method of kubeloop
    could do; `str(error)` shows both in parentheses. `summary` is the text without them, for
    programs whose users do not write Python. The text is one line: hidden characters of what
    a server, a file or a plugin wrote are escaped (`visible`), so that no message forges a log
    line or drives a terminal.
    """

    hint: str = ""
    python_hint: str = ""

    @property
    def summary(self) -> str:
        """What was tried and what came back, without the hints."""
        return visible(self._message())

    def with_hint(self, hint: str = "", *, python: str = "") -> Self:
        """The same error with these hints."""
        self.hint = hint
        self.python_hint = python
        return self

    def __str__(self) -> str:
        hints = visible(", or ".join(filter(None, (self.hint, self.python_hint))))
        return f"{self.summary} ({hints})" if hints else self.summary

    def _message(self) -> str:
        """The text as it came; a class that composes its text overrides this."""
        return super().__str__()


class InvalidArgument(KubeError, ValueError):
    """A value that the API's rules do not allow: a selector, a quantity, a name, a patch."""


class DecodeError(InvalidArgument):
    """Text that is not what it was read as; `path` names the offending value."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
