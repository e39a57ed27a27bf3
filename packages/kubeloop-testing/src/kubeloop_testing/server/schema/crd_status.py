"""The status of a CustomResourceDefinition, as the controllers of apiextensions-apiserver set it.

Guarantees: pure; a condition keeps its time until its status changes, and its place in the list.
See also: when the status is computed (`controllers.definitions`), the kind (`crds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from .crd_validation import APPROVED, is_established, is_protected

__all__ = ["end_deletion", "mark_deleted", "mark_deleting", "status_of"]

_Crd = Mapping[str, Any]


def status_of(crd: _Crd, others: Iterable[_Crd] = (), *, now: str) -> dict[str, Any]:
    """The status of a definition beside `others`.

    Names that another definition of the same group uses are not accepted, and then the kind is
    not established; once established, it stays so. `now` is the transition time.
    """
    spec, before = crd.get("spec") or {}, crd.get("status") or {}
    requested, accepted = spec.get("names") or {}, before.get("acceptedNames") or {}
    conditions = list(before.get("conditions") or ())
    is_new = not conditions
    # Each controller adds its condition when it is done: the one of the approval, which needs no
    # other definition, is mostly the first.
    if is_protected(spec.get("group") or ""):
        conditions = _with_approval(conditions, crd, now)
    if requested != accepted or is_new:
        accepted, conflict = _accept_names(requested, accepted, _names_in_use(crd, others))
        good = ("NoConflicts", "no conflicts found")
        state = "False" if conflict else "True"
        conditions = _set(conditions, _condition("NamesAccepted", state, *(conflict or good)), now)
        if not is_established(crd):
            good = ("InitialNamesAccepted", "the initial names have been accepted")
            bad = ("NotAccepted", "not all names are accepted")
            established = _condition("Established", state, *(bad if conflict else good))
            conditions = _set(conditions, established, now)
    return {
        **before,
        "acceptedNames": {"kind": "", "plural": "", **accepted},
        "conditions": conditions,
    }


def _condition(kind: str, status: str, reason: str, message: str) -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _set(conditions: list[dict[str, Any]], new: dict[str, Any], now: str) -> list[dict[str, Any]]:
    """`conditions` with one of them set (`SetCRDCondition`)."""
    for index, old in enumerate(conditions):
        if old.get("type") == new["type"]:
            is_same = old.get("status") == new["status"]
            time = old.get("lastTransitionTime") if is_same else None
            changed = {"lastTransitionTime": time or now, **new}
            return [*conditions[:index], changed, *conditions[index + 1 :]]
    return [*conditions, {"lastTransitionTime": now, **new}]


# --- names


def _names_in_use(crd: _Crd, others: Iterable[_Crd]) -> tuple[set[str], set[str]]:
    # Plural, singular and short names share one namespace, kinds another.
    resources: set[str] = set()
    kinds: set[str] = set()
    own, group = (crd.get("metadata") or {}).get("name"), (crd.get("spec") or {}).get("group")
    for other in others:
        if (other.get("metadata") or {}).get("name") == own:
            continue
        if (other.get("spec") or {}).get("group") != group:
            continue
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {names.get("plural", ""), names.get("singular", "")}
        resources |= set(names.get("shortNames") or ())
        kinds |= {names.get("kind", ""), names.get("listKind", "")}
    return resources - {""}, kinds - {""}


def _accept_names(
    requested: Mapping[str, Any], accepted: Mapping[str, Any], in_use: tuple[set[str], set[str]]
) -> tuple[dict[str, Any], tuple[str, str] | None]:
    """The accepted names, and reason and message of the last conflict."""
    resources, kinds = in_use
    result, conflict = dict(accepted), None
    for name, reason, used in (
        ("plural", "PluralConflict", resources),
        ("singular", "SingularConflict", resources),
        ("shortNames", "ShortNamesConflict", resources),
        ("kind", "KindConflict", kinds),
        ("listKind", "ListKindConflict", kinds),
        ("categories", "", set[str]()),
    ):
        new = set(_as_list(requested.get(name))) - set(_as_list(accepted.get(name)))
        if new & used:
            conflict = reason, f'"{min(new & used)}" is already in use'
        elif requested.get(name):
            result[name] = requested[name]
        else:
            result.pop(name, None)
    return result, conflict


def _as_list(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


# --- approval


def _with_approval(conditions: list[dict[str, Any]], crd: _Crd, now: str) -> list[dict[str, Any]]:
    """`conditions` with the one about the approval of a group of the Kubernetes community."""
    annotation = ((crd.get("metadata") or {}).get("annotations") or {}).get(APPROVED) or ""
    url = urlsplit(annotation)
    kind = "KubernetesAPIApprovalPolicyConformant"
    if not annotation:
        message = f'there is no annotation "{APPROVED}"'
        found = _condition(kind, "False", "MissingAnnotation", message)
    elif annotation.startswith("unapproved"):
        message = f'not approved: "{annotation}"'
        found = _condition(kind, "False", "UnapprovedAnnotation", message)
    elif url.scheme and url.netloc:
        found = _condition(kind, "True", "ApprovedAnnotation", f"approved in {annotation}")
    else:
        message = f'"{APPROVED}" is neither a URL nor a text that begins with "unapproved"'
        found = _condition(kind, "False", "InvalidAnnotation", message)
    return _set(conditions, found, now)


# --- deletion


def mark_deleted(crd: dict[str, Any], finalizer: str, *, now: str) -> dict[str, Any]:
    """A definition after the first request to delete it.

    Unlike other objects it gets no grace period and no new generation (`REST.Delete` of
    apiextensions-apiserver).
    """
    meta = crd["metadata"]
    finalizers = list(meta.get("finalizers") or ())
    if finalizer not in finalizers:
        finalizers.append(finalizer)
    meta = {**meta, "deletionTimestamp": now, "finalizers": finalizers}
    message = (
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    )
    found = _condition("Terminating", "True", "InstanceDeletionPending", message)
    return _with_condition({**crd, "metadata": meta}, found, now)


def mark_deleting(crd: dict[str, Any], *, now: str) -> dict[str, Any]:
    """A deleted definition whose objects are being deleted."""
    message = "CustomResource deletion is in progress"
    found = _condition("Terminating", "True", "InstanceDeletionInProgress", message)
    return _with_condition(crd, found, now)


def end_deletion(crd: dict[str, Any], *, now: str) -> dict[str, Any]:
    """A deleted definition without objects."""
    if is_established(crd):
        reason, message = "InstanceDeletionCompleted", "removed all instances"
    else:
        reason, message = "NeverEstablished", "resource was never established"
    return _with_condition(crd, _condition("Terminating", "False", reason, message), now)


def _with_condition(crd: dict[str, Any], condition: dict[str, Any], now: str) -> dict[str, Any]:
    status = crd.get("status") or {}
    conditions = _set(list(status.get("conditions") or ()), condition, now)
    return {**crd, "status": {**status, "conditions": conditions}}
