"""The root of every error that kubeloop raises, and the errors about values themselves.

They stand here, on the lowest floor, because decoding raises them; the rest of
the tree is in `kubeloop.machinery.errors`, which is also the door to use.
"""

from __future__ import annotations

__all__ = ["DecodeError", "InvalidValue", "KubeError"]


class KubeError(Exception):
    """Whatever kubeloop raises on purpose."""


class InvalidValue(KubeError, ValueError):
    """A value that the API's rules do not allow: a selector, a quantity, a name, a patch."""


class DecodeError(InvalidValue):
    """Text that is not what it was read as; `path` names the offending value."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
