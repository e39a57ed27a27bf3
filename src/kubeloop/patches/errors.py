"""The one error of this package.

Guarantees: a message names the place and the kind of what was found there, never
the value itself: patched documents may hold secrets.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from kubeloop.wire.errors import InvalidArgument

__all__ = ["PatchError", "PatchFailure"]

PatchFailure: TypeAlias = Literal["malformed", "missing", "test", "conflict", "limit"]
"""Why a patch was refused.

`malformed`: it is no patch, or its rules are broken; `missing`: it names what the
document does not have; `test`: a `test` operation found something else;
`conflict`: two sides changed the same field; `limit`: too many, too big, too deep.
"""


class PatchError(InvalidArgument):
    """A patch that cannot be read, applied or computed; the documents are untouched.

    `path` is the JSON pointer of the offending place and `operation` the index of
    the offending JSON patch operation, where there is one.
    """

    def __init__(
        self,
        message: str,
        *,
        failure: PatchFailure = "malformed",
        path: str | None = None,
        operation: int | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.path = path
        self.operation = operation

    def within(self, context: str, *, operation: int) -> PatchError:
        """The same failure, told as that of one operation."""
        return PatchError(
            f"{context}: {self}", failure=self.failure, path=self.path, operation=operation
        )
