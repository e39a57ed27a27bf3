"""ClusterRoleBinding (rbac.authorization.k8s.io): defaults, validation and columns."""

from __future__ import annotations

from typing import Final

from ..kind import Kind
from ..rules.names import path_name
from .role_binding import COLUMNS, binding_cells, check_binding, default_binding

__all__ = ["KIND"]


KIND: Final = Kind(
    "rbac.authorization.k8s.io",
    "ClusterRoleBinding",
    creates_on_update=True,
    name_rule=path_name,
    defaults=(default_binding,),
    validate=check_binding(namespaced=False),
    columns=COLUMNS,
    cells=binding_cells,
)
