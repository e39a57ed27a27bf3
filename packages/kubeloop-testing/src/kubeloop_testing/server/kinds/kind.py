"""What the server knows about one kind, as a value.

The fields have the role of a strategy in kube-apiserver's registries
(`pkg/registry/<group>/<kind>/strategy.go`), together with its conversion, defaulting, validation
and printer. A field that is not set has the value of most kinds.
See also: where the `Kind` of a resource is found (`registry`), its use (`strategies`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

import msgspec

from kubeloop.wire import JsonObject

from ..statuses import Cause
from ..values.json_values import Change, Json
from .rules.names import subdomain_name

if TYPE_CHECKING:
    from .core.allocation import Reservation

__all__ = [
    "ALL_METADATA",
    "CLIENT_METADATA",
    "METADATA",
    "Causes",
    "Cells",
    "Check",
    "Generation",
    "Json",
    "Kind",
    "NameRule",
    "PartCheck",
    "Since",
    "Warn",
    "Warnings",
    "own_paths",
    "unchecked",
]

# What metadata.generation does: it begins with 1 and grows when fields change, only one of both, or
# it is what a create sends.
Generation: TypeAlias = Literal["counted", "constant", "from zero", "none"]
Causes: TypeAlias = Iterator[Cause]
Check: TypeAlias = Callable[[Json, Json | None], Causes]  # of an object, or of its update from old
PartCheck: TypeAlias = Callable[[Json, Json], Causes]  # of a write to a subresource
Warnings: TypeAlias = Iterator[str]
Warn: TypeAlias = Callable[[Json, Json | None], Warnings]
Since: TypeAlias = Callable[[object], str]  # a timestamp of the API as an age
Cells: TypeAlias = Callable[[Json, Since], list[Any]]  # the cells of an object

CLIENT_METADATA: Final = ("labels", "annotations", "finalizers", "ownerReferences")
# What `ResetObjectMetaForStatus` keeps of the stored object.
METADATA: Final = (*CLIENT_METADATA, "deletionTimestamp")
ALL_METADATA: Final = (*METADATA, "deletionGracePeriodSeconds", "generateName")


class NameRule(Protocol):
    """What is wrong with a name, or with the prefix of a generated one."""

    def __call__(self, name: str, *, prefix: bool = False) -> list[str]: ...


class Kind(msgspec.Struct, frozen=True, eq=False):
    """The facts and rules of one kind; everything about it, on one page."""

    group: str
    kind: str

    # --- versions
    deprecation: str = ""  # a warning with every response
    schemas_differ: bool = False  # between its versions
    convert: Callable[[JsonObject, str, str], JsonObject] | None = None  # from, to an apiVersion

    # --- writes
    generation: Generation = "none"
    counted_metadata: str = ""  # metadata whose changes count too
    creates_on_update: bool = False  # AllowCreateOnUpdate
    requires_version: bool = False  # not AllowUnconditionalUpdate
    returns_deleted: bool = False  # ReturnDeletedObject
    orphans_by_default: bool = False  # DefaultGarbageCollectionPolicy is OrphanDependents
    orphan_warning: str = ""  # about a deletion that leaves its dependents without saying so
    kept_by_update: tuple[str, ...] = ()  # fields that an update cannot change, beside the status
    # New and old object: what else an update cannot change, before the defaults.
    merge_update: Callable[[JsonObject, JsonObject], JsonObject] | None = None
    kept_by_status: tuple[str, ...] = ()  # metadata that a write to the status cannot change
    reset_by_status: tuple[tuple[str, ...], ...] = ()  # what such a write cannot own, beside that

    # --- defaults and preparation
    defaults: tuple[Change, ...] = ()
    completed: tuple[str, ...] = ()  # fields that have their zero values after the defaults
    keeps_new_status: bool = False  # of an object that is created
    prepare_new: Change | None = None
    allocate_new: Callable[[JsonObject, Reservation], JsonObject] | None = None
    prepare_update: Callable[[JsonObject, JsonObject], JsonObject] | None = None
    allocate_update: Callable[[JsonObject, JsonObject, Reservation], JsonObject] | None = None
    # New and old object, the subresource, and the time.
    prepare_part: Callable[[JsonObject, JsonObject, str, str], JsonObject] | None = None

    # --- validation and warnings
    name_rule: NameRule = subdomain_name
    checks_prefix: bool = True  # of a generated name; else only the result
    validate: Check | None = None
    # Of an update, by the subresource that was written; None if that is unknown.
    validate_change: Callable[[Json, Json, str | None], Causes] | None = None
    validate_parts: Mapping[str, PartCheck] = {}  # by subresource, instead of `validate`
    warn: Warn | None = None
    warn_status: Warn | None = None
    # What an object requests that has no effect on this server: a warning, and a line of the log.
    not_evaluated: Callable[[Json], Warnings] | None = None

    # --- reads
    selectable: Mapping[str, str] | None = None  # fields and their paths, beside the name
    selects_namespace: bool = True
    unsupported_field: str = "field label not supported: {field}"
    pod_template: tuple[str, ...] = ()  # where a workload has it
    columns: str = ""  # `Name` or `Name:type`; a star marks a column of `-o wide`
    cells: Cells | None = None
    row_order: Callable[[Json], Any] | None = None
    row_conditions: Callable[[Json], list[dict[str, str]]] | None = None
    default_row: Callable[[Sequence[Json]], Json | None] | None = None  # the one that is marked

    @property
    def has_generation(self) -> bool:
        """Whether its objects begin with metadata.generation 1."""
        return self.generation in {"constant", "counted"}

    @property
    def counts_generation(self) -> bool:
        """Whether metadata.generation of its objects grows when their fields change."""
        return self.generation in {"counted", "from zero"}


def own_paths(*paths: str) -> Mapping[str, str]:
    """Selectable fields that have the names of their paths."""
    return {path: path for path in paths}


def unchecked(_: Json, __: Json) -> Causes:
    """The check of a subresource that has none: what it cannot change is not validated."""
    return iter(())
