"""Eviction: deleting a pod if its disruption budget allows it.

Promises: a budget that allows no disruption answers 429, and one that allows some has one
less afterwards; without a budget an eviction is a deletion.
Elsewhere: deleting (`deletion`). Budgets' numbers are set by whoever writes their status.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeloop.selectors import selector_from_wire
from kubeloop.wire import InvalidArgument

from ..request.calls import Call
from ..request.options import DeleteOptions, Query, delete_options
from ..statuses import Cause, Refusal, bad_request, too_many_requests
from ..storage.store import Entry, Object
from .deletion import Deleter
from .writing import Verbs

__all__ = ["evict"]

_BUDGETS = ("policy", "poddisruptionbudgets")
_MESSAGE = "Cannot evict pod as it would violate the pod's disruption budget."


async def evict(verbs: Verbs, deleter: Deleter, call: Call, body: Object) -> Object:
    """Evict a pod. Raises `Refusal` 429 when its budget forbids it.

    Safe to cancel: the pod is evicted or not.
    """
    name = (body.get("metadata") or {}).get("name")
    if name and name != call.name:
        raise bad_request("name in URL does not match name in Eviction object")
    pod = verbs.get(call)
    options = _options(body, call)
    budgets = list(_budgets(verbs, pod))
    if budgets and not _is_beyond_protection(pod.obj):
        _spend(verbs, budgets, pod, dry_run=options.dry_run)
    await deleter.delete(call, options)
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }


def _options(body: Object, call: Call) -> DeleteOptions:
    said = body.get("deleteOptions")
    if call.options.dry_run:
        said = {**(said or {}), "dryRun": ["All"]}
    return delete_options(Query(), said or {})


def _is_beyond_protection(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in {"Succeeded", "Failed", "Pending"} or "deletionTimestamp" in pod["metadata"]


def _budgets(verbs: Verbs, pod: Entry) -> Iterator[Entry]:
    labels = pod.metadata.get("labels") or {}
    for entry in verbs.store.collection(_BUDGETS).select(pod.namespace):
        try:
            selector = selector_from_wire((entry.obj.get("spec") or {}).get("selector"))
        except InvalidArgument:
            continue
        if selector.matches(labels):
            yield entry


def _spend(verbs: Verbs, budgets: list[Entry], pod: Entry, *, dry_run: bool) -> None:
    if len(budgets) > 1:
        raise _two_budgets()
    budget = budgets[0]
    status = budget.obj.get("status") or {}
    if (status.get("observedGeneration") or 0) < (budget.metadata.get("generation") or 0):
        why = f"The disruption budget {budget.name} is still being processed by the server."
        raise _violation(why, retry_after=10)
    allowed = status.get("disruptionsAllowed") or 0
    if allowed <= 0:
        raise _violation(
            f"The disruption budget {budget.name} needs {status.get('desiredHealthy') or 0} "
            f"healthy pods and has {status.get('currentHealthy') or 0} currently"
        )
    if not dry_run:
        disrupted = {**(status.get("disruptedPods") or {}), pod.name: verbs.now()}
        spent = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
        verbs.store.write(_BUDGETS, {**budget.obj, "status": spent})


def _violation(why: str, *, retry_after: int = 0) -> Refusal:
    cause = Cause(reason="DisruptionBudget", message=why)
    return too_many_requests(_MESSAGE, retry_after=retry_after, causes=[cause])


def _two_budgets() -> Refusal:
    return Refusal(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": (
                "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                "does not support."
            ),
            "reason": "InternalError",
            "code": 500,
        }
    )
