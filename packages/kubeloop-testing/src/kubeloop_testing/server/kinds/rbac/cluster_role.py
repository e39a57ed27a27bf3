"""ClusterRole (rbac.authorization.k8s.io): validation."""

from __future__ import annotations

from typing import Final

from ..kind import Kind
from ..rules.names import path_name
from .role import check_role

__all__ = ["KIND"]


KIND: Final = Kind(
    "rbac.authorization.k8s.io",
    "ClusterRole",
    creates_on_update=True,
    name_rule=path_name,
    validate=check_role(namespaced=False),
)
