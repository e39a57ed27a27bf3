"""The pages of the site that are made of something else."""

from __future__ import annotations

from pathlib import Path

import docs_site
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("at_the_top", "on_the_site"),
    [
        ("[a page](docs/explanation/cache.md#its-part)", "[a page](explanation/cache.md#its-part)"),
        ("[changes](CHANGELOG.md)", "[changes](changelog.md)"),
        ("[examples](examples)", "[examples](how-to/examples.md)"),
        ("[elsewhere](https://semver.org)", "[elsewhere](https://semver.org)"),
        ("[the tests](conftest.py)", "the tests"),
    ],
)
def test_a_link_of_the_repository_works_on_the_site(at_the_top: str, on_the_site: str) -> None:
    assert docs_site.page_of(f"See {at_the_top}.") == f"See {on_the_site}."


def test_every_example_is_shown_whole() -> None:
    page = docs_site.examples()

    programs = sorted((ROOT / "examples").rglob("*.py"))

    assert [path.name for path in programs if path.read_text("utf-8") not in page] == []


def test_a_page_says_where_the_examples_belong() -> None:
    text = docs_site.on_page_markdown("before\n\n<!-- made: examples -->\n\nafter")

    assert text == f"before\n\n{docs_site.examples()}\n\nafter"
