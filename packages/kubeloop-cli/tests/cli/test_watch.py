"""`kubeloop watch` shows changes, also across failures of the server."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime, timedelta

import pytest

from kubeloop.blocking import Client
from kubeloop.clients import Table, TableColumn, TableRow
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_cli.live_table import LiveTable, age_text
from kubeloop_cli.tables import TableLayout
from kubeloop_testing import APIServer

from .conftest import Call, line_of, on_terminal, started

COLUMNS = (TableColumn("Name", format="name"), TableColumn("Phase"), TableColumn("Age"))
BORN = datetime(2026, 1, 1, tzinfo=UTC)
DAY = BORN + timedelta(days=1)


def a_row(name: str, version: str, phase: str = "Running") -> TableRow:
    metadata = {
        "name": name,
        "uid": name,
        "resourceVersion": version,
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    return TableRow([name, phase, "0s"], object={"metadata": metadata})


def a_table(*rows: TableRow) -> Table:
    return Table(COLUMNS, rows)


@pytest.fixture
def pods() -> LiveTable:
    """A table with two rows, listed at second 0."""
    table = LiveTable("pods", TableLayout())
    table.replace_rows(a_table(a_row("a", "1"), a_row("b", "2")), 0)
    return table


# --- lists and events


def test_a_new_list_reports_only_differences(pods: LiveTable) -> None:
    changes = pods.replace_rows(a_table(a_row("b", "3", "Failed"), a_row("c", "4")), 1)

    assert [(row.event, row.cells[0]) for row in changes] == [
        ("DELETED", "a"),
        ("MODIFIED", "b"),
        ("ADDED", "c"),
    ]


def test_an_unchanged_list_reports_nothing(pods: LiveTable) -> None:
    assert pods.replace_rows(a_table(a_row("a", "1"), a_row("b", "2")), 1) == []


def test_a_deleted_row_is_shown_for_seconds_and_reported_once(pods: LiveTable) -> None:
    pods.apply_event("DELETED", a_row("a", "9"), 10)

    assert [row.event for row in pods.rows(11, DAY)] == ["DELETED", ""]
    assert pods.replace_rows(a_table(a_row("b", "2")), 12) == []
    assert [row.cells[0] for row in pods.rows(14, DAY)] == ["b"]


def test_rows_of_the_first_list_are_not_highlighted(pods: LiveTable) -> None:
    assert [row.event for row in pods.rows(0, DAY)] == ["", ""]


def test_ages_increase_between_events(pods: LiveTable) -> None:
    assert [row.cells for row in pods.rows(0, DAY)] == [
        ("a", "Running", "24h"),
        ("b", "Running", "24h"),
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0s"),
        (119, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (3600, "60m"),
        (5 * 3600 + 60, "5h1m"),
        (47 * 3600, "47h"),
        (3 * 86_400 + 4 * 3600, "3d4h"),
        (100 * 86_400, "100d"),
        (3 * 365 * 86_400, "3y"),
        (9 * 365 * 86_400, "9y"),
    ],
)
def test_an_age_is_formatted_as_in_kubectl(seconds: float, text: str) -> None:
    assert age_text(seconds) == text


# --- in separate processes

in_processes = pytest.mark.timeout(60)


def a_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name))


@in_processes
def test_a_pipe_gets_a_line_for_each_change_also_across_a_restart(
    kube_server: APIServer, kube_blocking_client: Client, environment: dict[str, str]
) -> None:
    maps = kube_blocking_client.core_v1.config_maps("shop")
    with started(environment, "watch", "cm", "-n", "shop") as process:
        assert line_of(process).split() == ["EVENT", "NAME", "DATA", "AGE"]
        maps.create(a_map("first"))
        assert line_of(process).split()[:2] == ["ADDED", "first"]

        asyncio.run(kube_server.restart())
        maps.create(a_map("second"))
        assert line_of(process).split()[:2] == ["ADDED", "second"]

        maps.delete("first")
        assert line_of(process).split()[:2] == ["DELETED", "first"]


@in_processes
def test_an_unreachable_server_is_reported_once_and_retried(
    kube_server: APIServer, kube_blocking_client: Client, environment: dict[str, str]
) -> None:
    maps = kube_blocking_client.core_v1.config_maps("shop")
    with started(environment, "watch", "cm", "-n", "shop") as process:
        assert line_of(process)
        assert process.stderr is not None
        asyncio.run(kube_server.refuse_connections())
        assert "watch interrupted, will retry" in process.stderr.readline()
        asyncio.run(kube_server.accept_connections())
        maps.create(a_map("first"))

        assert line_of(process).split()[:2] == ["ADDED", "first"]
        assert process.stderr.readline() == "configmaps: watch restored\n"


@in_processes
def test_one_object_is_watched_by_name(
    kube_blocking_client: Client, environment: dict[str, str]
) -> None:
    maps = kube_blocking_client.core_v1.config_maps("shop")
    with started(environment, "watch", "cm", "second", "-n", "shop") as process:
        assert line_of(process)
        maps.create(a_map("first"))
        maps.create(a_map("second"))

        assert line_of(process).split()[:2] == ["ADDED", "second"]


@in_processes
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_a_terminal_shows_a_table_that_recovers_after_an_outage(
    kube_server: APIServer, kube_blocking_client: Client, environment: dict[str, str]
) -> None:
    maps = kube_blocking_client.core_v1.config_maps("shop")
    with on_terminal(environment, "watch", "cm,po", "-n", "shop") as terminal:
        terminal.until(lambda seen: "pod/web-1" in seen and "live" in seen)
        asyncio.run(kube_server.refuse_connections())
        terminal.until(lambda seen: "watch interrupted, retrying: " in seen)
        asyncio.run(kube_server.accept_connections())
        maps.create(a_map("first"))
        terminal.forget()
        terminal.until(lambda seen: "configmap/first" in seen and "live" in seen)

        terminal.interrupt()
        terminal.rest()

    assert terminal.process.returncode == 130
    assert terminal.raw.rstrip().endswith("\x1b[?25h"), "the cursor is restored"


@in_processes
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
@pytest.mark.parametrize("size", [(5, 20), (2, 8), (1, 1)])
def test_a_small_terminal_shows_what_fits(
    kube_blocking_client: Client, environment: dict[str, str], size: tuple[int, int]
) -> None:
    for number in range(9):
        kube_blocking_client.core_v1.config_maps("shop").create(a_map(f"map-{number}"))

    with on_terminal(environment, "watch", "cm", "-n", "shop", size=size) as terminal:
        seen = terminal.until(lambda seen: "l" in seen or "…" in seen)
        if size[0] == 5:
            seen = terminal.until(lambda seen: "… and 7 more" in seen)
        terminal.interrupt()
        seen = terminal.rest()

    assert terminal.process.returncode == 130
    assert "Traceback" not in seen
    assert max(map(len, seen.replace("^C", "").replace("\r", "\n").splitlines())) <= max(size[1], 2)


def test_a_resource_without_watch_is_an_error_at_once(kubeloop: Call) -> None:
    result = kubeloop("watch", "componentstatuses")

    assert result.exit_code == 2
    assert "the server does not support watch (use get)" in result.stderr


@in_processes
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_colours_are_for_terminals_without_no_color(environment: dict[str, str]) -> None:
    arguments = ("get", "ns")
    with on_terminal(environment, *arguments) as coloured:
        assert "shop" in coloured.rest()
    with on_terminal({**environment, "NO_COLOR": "1"}, *arguments) as plain:
        assert "shop" in plain.rest()

    assert "\x1b[32mActive" in coloured.raw
    assert "\x1b[3" not in plain.raw
