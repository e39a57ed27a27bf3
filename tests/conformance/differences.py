"""The known differences between the embedded server and kube-apiserver.

Guarantees: every line is in docs/reference/conformance.md as well, and a test is marked with
`differs` for it, or a recorded case named: against the embedded server these must fail.
"""

from __future__ import annotations

from typing import Final

import pytest

__all__ = ["DIFFERENCES", "RECORDED_DIFFERENCES", "differs"]

# what differs -> why it stays so
DIFFERENCES: Final[dict[str, str]] = {
    "expressions": (
        "CEL is not evaluated: admission policies and their bindings are stored, and each write "
        "has a warning that says so"
    ),
    "owners of dropped fields": (
        "a field of a disabled feature and the time of a device taint have no owner in "
        "`managedFields`, because they are dropped or set later than there"
    ),
    "narrow impersonation": (
        "impersonation needs the verb `impersonate`; the narrower verbs, which no default role "
        "grants, are not supported"
    ),
    "unknown methods": "the HTTP library responds with 400 to a method that it does not know",
    "tests of JSON patches": (
        "`test` compares values; kube-apiserver compares texts, so a number or string in another "
        "notation (`1.50`, `<` unescaped) fails"
    ),
}


# recorded case -> the difference above that it shows
RECORDED_DIFFERENCES: Final[dict[str, str]] = {
    "pod_rules: a stop signal": "owners of dropped fields",
    "pod_rules: a stop signal with an os": "owners of dropped fields",
    "registration_rules: a binding of a mutating policy": "expressions",
    "registration_rules: a binding of an admission policy": "expressions",
    "registration_rules: a binding with all fields": "expressions",
    "registration_rules: a mutating admission policy": "expressions",
    "registration_rules: a sparse admission policy": "expressions",
    "registration_rules: an admission policy with all fields": "expressions",
    "resource_claims: a rule of device taints": "owners of dropped fields",
    "status_writes: the status of an admission policy is applied": "expressions",
    "status_writes: the status of an admission policy is written": "expressions",
    "update_strategies: a policy binding is created and updated": "expressions",
    "update_strategies: an admission policy is created and updated": "expressions",
    "zero_values: a validating admission policy": "expressions",
    "zero_values: a validating admission policy binding": "expressions",
}


def differs(what: str) -> pytest.MarkDecorator:
    """Marks a test that kube-apiserver passes and the embedded server must not."""
    return pytest.mark.differs(what)
