"""The list of known differences is whole: in the documents, in the table and in the tests."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conformance.differences import DIFFERENCES, RECORDED_DIFFERENCES

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "reference" / "conformance.md"


async def test_every_difference_has_a_test() -> None:
    sources = "".join(path.read_text() for path in HERE.glob("test_*.py"))

    marked = set(re.findall(r'differs\("([^"]+)"\)', sources))
    assert marked | set(RECORDED_DIFFERENCES.values()) == set(DIFFERENCES)


async def test_the_document_lists_the_differences_of_the_tests() -> None:
    text = DOCUMENT.read_text().partition("## Known differences")[2]

    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)

    assert {what.strip(): why.strip() for what, why in rows[1:]} == DIFFERENCES
