"""LeaseCandidate (coordination.k8s.io): columns."""

from __future__ import annotations

from typing import Final

from ..kind import Kind
from ..rules.cells import field_cells

__all__ = ["KIND"]

_cells = field_cells("spec.leaseName", "spec.binaryVersion", "spec.emulationVersion")


KIND: Final = Kind(
    "coordination.k8s.io",
    "LeaseCandidate",
    creates_on_update=True,
    requires_version=True,
    columns="Name, LeaseName, BinaryVersion, EmulationVersion, Age",
    cells=_cells,
)
