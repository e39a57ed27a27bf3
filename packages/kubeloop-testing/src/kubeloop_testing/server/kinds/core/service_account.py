"""ServiceAccount: preparation, warnings and columns."""

from __future__ import annotations

from typing import Final

from kubeloop.wire import JsonObject

from ...values.json_values import map_items
from ..kind import Json, Kind, Warnings
from ..rules.cells import name_and_age
from ..rules.warnings import annotations_of

__all__ = ["KIND"]


def _clean_secrets(obj: JsonObject) -> JsonObject:
    """A service account whose references to secrets have only a name."""

    def clean(reference: JsonObject) -> JsonObject:
        return {"name": reference["name"]} if reference.get("name") else {}

    return map_items(obj, "secrets", clean)


_MOUNTABLE: Final = "kubernetes.io/enforce-mountable-secrets"


def _warn(obj: Json, old: Json | None) -> Warnings:
    is_new = old is None or _MOUNTABLE not in annotations_of(old)
    if is_new and _MOUNTABLE in annotations_of(obj):
        yield (
            f"metadata.annotations[{_MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces "
            "to isolate access to mounted secrets"
        )


KIND: Final = Kind(
    "",
    "ServiceAccount",
    returns_deleted=True,
    prepare_new=_clean_secrets,
    prepare_update=lambda new, _: _clean_secrets(new),
    warn=_warn,
    columns="Name, Age",
    cells=name_and_age,
)
