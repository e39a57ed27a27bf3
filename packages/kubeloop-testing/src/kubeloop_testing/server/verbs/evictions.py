"""Eviction: deletes a pod if its PodDisruptionBudget allows it.

Guarantees: a budget without allowed disruptions is a 429, and an eviction takes one of the
allowed disruptions; without a budget an eviction is a deletion.
See also: `deletion`. No controller computes the status of budgets here: a test writes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeloop.selectors import selector_from_wire
from kubeloop.wire import InvalidArgument

from ..request.calls import Call
from ..request.options import DeleteOptions, Query, delete_options
from ..statuses import Cause, StatusError, bad_request, too_many_requests, untyped_error
from ..storage.store import Entry, Object
from .deletion import Deleter
from .writing import Verbs

__all__ = ["evict"]

_BUDGETS = ("policy", "poddisruptionbudgets")
_TWO_BUDGETS = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)
_MESSAGE = "Cannot evict pod as it would violate the pod's disruption budget."


async def evict(verbs: Verbs, deleter: Deleter, call: Call, body: Object) -> Object:
    """Evict a pod. Raises `StatusError` 429 when its budget forbids it.

    Cancelled while webhooks run, the disruption is counted and the pod stays.
    """
    if (body.get("metadata") or {}).get("name") != call.name:
        raise bad_request("name in URL does not match name in Eviction object")
    pod = verbs.get(call)
    options = _options(body, call)
    budgets = list(_budgets(verbs, pod))
    if budgets and not _ignores_budgets(pod.obj):
        _take_disruption(verbs, budgets, pod, dry_run=options.dry_run)
    await deleter.delete(call, options)
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }


def _options(body: Object, call: Call) -> DeleteOptions:
    options = body.get("deleteOptions") or {}
    if call.options.dry_run:
        options = {**options, "dryRun": ["All"]}
    return delete_options(Query(), options)


def _ignores_budgets(pod: Object) -> bool:
    # canIgnorePDB of kube-apiserver: such a pod does not count as available.
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


def _take_disruption(verbs: Verbs, budgets: list[Entry], pod: Entry, *, dry_run: bool) -> None:
    # EvictionREST: which of several budgets to take from is undefined, so none is used.
    if len(budgets) > 1:
        raise untyped_error(_TWO_BUDGETS)
    budget = budgets[0]
    status = budget.obj.get("status") or {}
    # checkAndDecrement: the numbers belong to an older spec, so a client should retry.
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
        # disruptedPods keeps the controller from counting the pod twice before it is gone.
        disrupted = {**(status.get("disruptedPods") or {}), pod.name: verbs.now()}
        spent = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
        verbs.store.write(_BUDGETS, {**budget.obj, "status": spent})


def _violation(why: str, *, retry_after: int = 0) -> StatusError:
    cause = Cause(reason="DisruptionBudget", message=why)
    return too_many_requests(_MESSAGE, retry_after=retry_after, causes=[cause])
