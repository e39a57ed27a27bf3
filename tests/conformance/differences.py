"""The known differences between the embedded server and kube-apiserver.

Guarantees: every line is in docs/reference/conformance.md as well, and a test is marked with
`differs` for it: against the embedded server that test must fail.
"""

from __future__ import annotations

from typing import Final

import pytest

__all__ = ["DIFFERENCES", "RECORDED_DIFFERENCES", "differs"]

# what differs -> why it stays so
DIFFERENCES: Final[dict[str, str]] = {
    "narrow impersonation": (
        "impersonation needs the verb `impersonate`; the narrower verbs, which no default role "
        "grants, are not supported"
    ),
    "protobuf responses": "responses are JSON or YAML; protobuf is accepted in requests",
    "unknown methods": "the HTTP library responds with 400 to a method that it does not know",
    "tests of JSON patches": (
        "`test` compares values; kube-apiserver compares texts, so a number or string in another "
        "notation (`1.50`, `<` unescaped) fails"
    ),
}


# recorded case -> the difference above that it shows
RECORDED_DIFFERENCES: Final[dict[str, str]] = {}


def differs(what: str) -> pytest.MarkDecorator:
    """Marks a test that kube-apiserver passes and the embedded server must not."""
    return pytest.mark.differs(what)
