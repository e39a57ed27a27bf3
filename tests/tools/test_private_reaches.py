"""The tool that counts the uses of private attributes of other modules."""

from __future__ import annotations

import ast

import pytest
from private_reaches import uses


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("client._collection", ["client._collection"]),
        ("self._client._collection", ["self._client._collection"]),
        ("self._collection", []),
        ("other._text\ndef f(self): self._text = 1", []),
        ("other._parse\nclass A:\n    def _parse(self): ...", []),
        ("value.__class__", []),
        ("sys._getframe(1)", []),
        ("server.service.core.store", ["server.service.core"]),
        ("group.core", []),
    ],
)
def test_a_private_attribute_counts_unless_the_module_defines_it(
    text: str, found: list[str]
) -> None:
    assert [ast.unparse(node) for node in uses(ast.parse(text))] == found


def test_the_server_may_use_its_own_parts() -> None:
    assert list(uses(ast.parse("self.service.core.store"), of_server=True)) == []
