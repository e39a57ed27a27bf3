"""The code of docs/testing.md runs: programs as programs, tests as tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

# Imported here, because pytester forgets what is imported during a test, and cryptography
# cannot be imported twice.
from kubeloop.testing.server.access.certs import Authority
from tests.following import blocks_of

pytest_plugins = ["pytester"]

Authority("kubeloop").server("localhost")

PAGE = Path(__file__).parent.parent.parent / "docs" / "testing.md"
BLOCKS = [block.text for block in blocks_of("docs/testing.md", "python")]


@pytest.mark.parametrize("block", [each for each in BLOCKS if "import pytest" not in each])
def test_the_programs_of_the_page_run(block: str) -> None:
    exec(compile(block, PAGE.name, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("block", [each for each in BLOCKS if "import pytest" in each])
def test_the_tests_of_the_page_pass(block: str, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(block)

    result = pytester.runpytest_inprocess("-o", "asyncio_default_fixture_loop_scope=function")

    result.assert_outcomes(passed=len(re.findall(r"def test_", block)))


def test_the_page_names_every_fixture() -> None:
    plugin = PAGE.parent.parent / "src/kubeloop/testing/plugin.py"
    fixtures = re.findall(r"^(?:async )?def (kube\w+)\(", plugin.read_text(), re.MULTILINE)

    text = PAGE.read_text(encoding="utf-8")

    assert [name for name in fixtures if f"`{name}`" not in text] == []
