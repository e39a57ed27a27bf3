"""The error of this package.

Guarantees: a message names the path and the type of the value, never the value itself:
patched documents may hold secrets.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from kubeloop.wire.errors import InvalidArgument

__all__ = ["PatchError", "PatchFailure", "StrategicRule"]

PatchFailure: TypeAlias = Literal["malformed", "missing", "test", "conflict", "limit"]
"""Why a patch was rejected.

`malformed`: it is not a valid patch; `missing`: a path does not exist in the document;
`test`: a `test` operation failed; `conflict`: two sides changed the same field; `limit`:
too many operations, too large or nested too deeply.
"""


StrategicRule: TypeAlias = Literal["directive", "key", "kinds", "list", "order", "retain"]


class PatchError(InvalidArgument):
    """A patch cannot be read, applied or computed; the documents are unchanged.

    `path` is the JSON pointer to the cause and `operation` the index of the failed JSON
    patch operation, if known. `rule` is the broken rule of a strategic merge patch, and `values`
    what broke it, for servers that quote it.
    """

    def __init__(
        self,
        message: str,
        *,
        failure: PatchFailure = "malformed",
        path: str | None = None,
        operation: int | None = None,
        rule: StrategicRule | None = None,
        values: tuple[Any, ...] = (),
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.values = values
        self.failure = failure
        self.path = path
        self.operation = operation

    def in_operation(self, context: str, *, operation: int) -> PatchError:
        """The same failure as an error of one operation."""
        return PatchError(
            f"{context}: {self}", failure=self.failure, path=self.path, operation=operation
        )
