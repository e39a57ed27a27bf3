"""Where the embedded server is known to answer otherwise than kube-apiserver.

Promises: every line here stands in docs/reference/conformance.md too, and is held by a test that is
marked with `differs`: against the embedded server that test must fail.
"""

from __future__ import annotations

from typing import Final

import pytest

__all__ = ["DIFFERENCES", "differs"]

# what differs -> why it stays so
DIFFERENCES: Final[dict[str, str]] = {
    "narrow impersonation": (
        "impersonation needs the verb `impersonate`; the narrower verbs, which nobody is given "
        "by default, are not known"
    ),
    "protobuf answers": "answers are JSON or YAML; protobuf is read in bodies, and never written",
    "types in an apply": (
        "in an apply of a custom kind a value of the wrong type is found by the schema (422) "
        "and not by the merge before it (500)"
    ),
    "unknown methods": "the HTTP library ends a request with a method it does not know with 400",
    "tests of JSON patches": (
        "`test` compares values; kube-apiserver compares texts, so that a number or a string that "
        "is written in another way than its own (`1.50`, `<` unescaped) fails"
    ),
}


def differs(what: str) -> pytest.MarkDecorator:
    """Marks a test that kube-apiserver passes and the embedded server must not."""
    return pytest.mark.differs(what)
