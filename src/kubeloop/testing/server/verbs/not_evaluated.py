"""What an admission configuration requests and this server does not evaluate: CEL.

Guarantees: pure; every policy, binding and match condition of a write is named.
See also: who sends and logs the warnings (`strategy`), definitions (`schema.crd_warnings`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

__all__ = ["GROUP", "not_evaluated"]

GROUP: Final = "admissionregistration.k8s.io"

_POLICIES: Final = frozenset({"validatingadmissionpolicies", "mutatingadmissionpolicies"})
_BINDINGS: Final = frozenset(
    {"validatingadmissionpolicybindings", "mutatingadmissionpolicybindings"}
)


def not_evaluated(plural: str, obj: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[str]:
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
