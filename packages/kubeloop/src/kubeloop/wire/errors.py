"""The root of every error that kubeloop raises, and the errors about values themselves.

They are in the lowest layer because decoding raises them. Import them from `kubeloop.errors`,
which has the rest of the tree.
"""

from __future__ import annotations

from typing import Self

from .text import visible

__all__ = ["DecodeError", "InvalidArgument", "KubeError"]


class KubeError(Exception):
    """The base class of all errors that kubeloop raises on purpose.

    `hint` says what to do, `python_hint` which argument or method of kubeloop helps;
    `str(error)` shows both in parentheses. `summary` is the text without them, for programs
    whose users do not write Python. The text is one line: hidden characters in the text of a
    server, a file or a plugin are escaped (`visible`), so that no message can forge a log line
    or control a terminal.
    """

    hint: str = ""
    python_hint: str = ""

    @property
    def summary(self) -> str:
        """The text without the hints."""
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
        """The text before escaping; a class that composes its text overrides this."""
        return super().__str__()


class InvalidArgument(KubeError, ValueError):
    """A value breaks a rule of the API: a selector, a quantity, a name, a patch."""


class DecodeError(InvalidArgument):
    """Text or data cannot be decoded as the expected type; `path` is that of the value."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
