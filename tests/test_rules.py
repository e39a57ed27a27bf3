"""Every cited rule number exists in docs/reference/rules, and every rule there is cited."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "reference" / "rules").glob("*.md"))
TESTS = [str(path.relative_to(ROOT)) for path in ROOT.glob("packages/*/tests")]
RULE = re.compile(r"^- ([A-Z]{1,4}-C?\d+) ", re.MULTILINE)
RULES = Counter(rule for page in PAGES for rule in RULE.findall(page.read_text(encoding="utf-8")))
FAMILIES = "|".join(sorted({rule.split("-")[0] for rule in RULES}))
CITED = re.compile(rf"\b(?:{FAMILIES})-C?\d+\b")


def cited_in(*paths: str, suffix: str = "py") -> set[str]:
    files = [file for path in paths for file in (ROOT / path).rglob(f"*.{suffix}")]
    return {rule for file in files for rule in CITED.findall(file.read_text(encoding="utf-8"))}


def test_a_rule_is_stated_once() -> None:
    assert len(RULES) > 700
    assert [rule for rule, times in RULES.items() if times > 1] == []


def test_every_rule_that_is_cited_is_stated() -> None:
    cited = cited_in("packages", "tests", "tools", "bench") | cited_in("docs", suffix="md")

    assert sorted(cited - set(RULES)) == []


def test_every_rule_is_cited_by_a_test_or_listed_as_a_difference() -> None:
    differences = (ROOT / "docs" / "reference" / "differences.md").read_text(encoding="utf-8")

    assert sorted(set(RULES) - cited_in("tests", *TESTS) - set(CITED.findall(differences))) == []
