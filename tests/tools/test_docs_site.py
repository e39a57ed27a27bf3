"""The pages of the site that are made of something else."""

from __future__ import annotations

from pathlib import Path

import docs_site
import pytest

from kubeloop.cache import CACHE_METRIC_NAMES
from kubeloop.election import ELECTION_METRIC_NAMES
from kubeloop.rest import METRIC_NAMES
from kubeloop.runtime import RECONCILE_METRIC_NAMES

ROOT = Path(__file__).parents[2]
NAMES = (
    *METRIC_NAMES,
    *CACHE_METRIC_NAMES,
    "workqueue_depth",
    "workqueue_adds_total",
    "workqueue_queue_duration_seconds",
    "workqueue_work_duration_seconds",
    "workqueue_unfinished_work_seconds",
    "workqueue_longest_running_processor_seconds",
    "workqueue_retries_total",
    *ELECTION_METRIC_NAMES,
    *RECONCILE_METRIC_NAMES,
)


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


def test_an_error_is_listed_under_its_family_and_links_to_its_package() -> None:
    lines = docs_site.errors().splitlines()

    family = next(number for number, line in enumerate(lines) if "[`ConfigError`]" in line)
    inside = lines[family + 1]

    assert inside.startswith("        - [`CredentialError`][kubeloop.config.CredentialError] – ")


def test_every_metric_has_a_line() -> None:
    page = docs_site.metrics()

    assert [name for name in NAMES if f"| `{name}` |" not in page] == []


def test_kinds_are_listed_by_the_module_that_has_their_class() -> None:
    page = docs_site.kinds()

    apps = page.partition("## kubeloop.wire.apps.v1")[2].partition("\n## ")[0]

    assert "| `Deployment` | `deployments` | deploy | yes |" in apps


def test_a_page_says_where_something_made_belongs() -> None:
    text = docs_site.on_page_markdown("before\n\n<!-- made: kinds -->\n\nafter")

    assert text == f"before\n\n{docs_site.kinds()}\n\nafter"
