"""What admission configurations and definitions request and this server does not evaluate: CEL.

Guarantees: every policy, binding, match condition and rule of a write is named, in a warning to
the client and in the log.
See also: the rules of definitions (`schema.crd_warnings`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..registry import ServedResource
from ..schema.crd_warnings import not_evaluated as not_evaluated_of_definition
from ..schema.crd_warnings import warnings_of_crd
from ..storage.store import Object

__all__ = ["UNEVALUATED_GROUPS", "warnings_of_unevaluated"]

log = logging.getLogger(__name__)

_ADMISSION: Final = "admissionregistration.k8s.io"
_DEFINITIONS: Final = "apiextensions.k8s.io"
UNEVALUATED_GROUPS: Final = frozenset({_ADMISSION, _DEFINITIONS})
_POLICIES: Final = frozenset({"validatingadmissionpolicies", "mutatingadmissionpolicies"})
_BINDINGS: Final = frozenset(
    {"validatingadmissionpolicybindings", "mutatingadmissionpolicybindings"}
)


def warnings_of_unevaluated(served: ServedResource, obj: Object, old: Object | None) -> list[str]:
    """The warnings about a write in one of `UNEVALUATED_GROUPS`; what has no effect is logged."""
    warnings: list[str] = []
    if served.group == _DEFINITIONS:
        warnings = warnings_of_crd(obj, old)
        ignored = not_evaluated_of_definition(obj, old)
    else:
        ignored = _new_requests(served.plural, obj, old)
    for each in ignored:
        log.warning("%s %s: %s", served.kind, obj["metadata"].get("name", ""), each)
    return [*warnings, *ignored]


def _new_requests(plural: str, obj: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[str]:
    """What `obj` requests, and `old` did not, that has no effect on this server."""
    before = set() if old is None else set(_not_evaluated(plural, old))
    return [each for each in _not_evaluated(plural, obj) if each not in before]


def _not_evaluated(plural: str, obj: Mapping[str, Any]) -> Iterator[str]:
    if plural in _POLICIES:
        yield (
            "this server does not evaluate CEL: the policy is stored, and neither rejects nor "
            "changes any request"
        )
    elif plural in _BINDINGS:
        name = (obj.get("spec") or {}).get("policyName", "")
        yield f'this server does not evaluate CEL: the policy "{name}" has no effect'
    for index, hook in enumerate(obj.get("webhooks") or ()):
        names = [str(each.get("name", "")) for each in hook.get("matchConditions") or ()]
        if names:
            yield (
                f"webhooks[{index}].matchConditions ({', '.join(names)}): this server does not "
                f'evaluate CEL, the webhook "{hook.get("name", "")}" is called regardless of them'
            )
