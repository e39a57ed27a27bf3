"""Validation of storage classes.

Guarantees: the common checks, with kube-apiserver's paths, reasons and messages.
See also: volumes and claims (`volume_validation`, `claim_validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from ..values import causes
from .value_rules import Causes, check_choice, check_unchanged

__all__ = ["STORAGE"]

_Raw: TypeAlias = Mapping[str, Any]


def _storage_class(obj: _Raw, old: _Raw | None) -> Causes:
    # `ValidateStorageClass` and `ValidateStorageClassUpdate`.
    if not obj.get("provisioner"):
        yield causes.required("provisioner")
    modes = ("Immediate", "WaitForFirstConsumer")
    yield from check_choice("volumeBindingMode", obj.get("volumeBindingMode"), modes)
    yield from check_choice("reclaimPolicy", obj.get("reclaimPolicy"), ("Delete", "Retain"))
    if old is not None:
        for field in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            yield from check_unchanged(field, obj.get(field), old.get(field))


STORAGE: Final[dict[tuple[str, str], Callable[[_Raw, _Raw | None], Causes]]] = {
    ("storage.k8s.io", "StorageClass"): _storage_class,
}
