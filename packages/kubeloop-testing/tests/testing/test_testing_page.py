"""docs/how-to/testing.md is complete; its code runs in `test_pages`."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "testing.md"


def test_the_page_names_every_fixture() -> None:
    plugin = PAGE.parents[2] / "packages/kubeloop-testing/src/kubeloop_testing/plugin.py"
    fixtures = re.findall(r"^(?:async )?def (kube\w+)\(", plugin.read_text(), re.MULTILINE)

    text = PAGE.read_text(encoding="utf-8")

    assert fixtures
    assert [name for name in fixtures if f"`{name}`" not in text] == []
