"""`kubeloop watch` follows what changes, whatever becomes of the server."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime, timedelta

import pytest

from kubeloop.blocking import Client
from kubeloop.cli.ages import age_text
from kubeloop.cli.live import LiveTable, Shape
from kubeloop.clients import Table, TableColumn, TableRow
from kubeloop.testing import APIServer
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta

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
    """With two rows, listed at second 0."""
    table = LiveTable("pods", Shape())
    table.take_list(a_table(a_row("a", "1"), a_row("b", "2")), 0)
    return table


# --- what a list and an event mean


def test_a_new_list_tells_only_what_it_changes(pods: LiveTable) -> None:
    changes = pods.take_list(a_table(a_row("b", "3", "Failed"), a_row("c", "4")), 1)

    assert [(row.event, row.cells[0]) for row in changes] == [
        ("DELETED", "a"),
        ("MODIFIED", "b"),
        ("ADDED", "c"),
    ]


def test_a_list_that_changes_nothing_tells_nothing(pods: LiveTable) -> None:
    assert pods.take_list(a_table(a_row("a", "1"), a_row("b", "2")), 1) == []


def test_what_was_deleted_is_shown_for_a_moment_and_told_once(pods: LiveTable) -> None:
    pods.take_change("DELETED", a_row("a", "9"), 10)

    assert [row.event for row in pods.rows(11, DAY)] == ["DELETED", ""]
    assert pods.take_list(a_table(a_row("b", "2")), 12) == []
    assert [row.cells[0] for row in pods.rows(14, DAY)] == ["b"]


def test_what_was_there_from_the_start_is_no_news(pods: LiveTable) -> None:
    assert [row.event for row in pods.rows(0, DAY)] == ["", ""]


def test_ages_go_on_between_events(pods: LiveTable) -> None:
    assert [row.cells for row in pods.rows(0, DAY)] == [
        ("a", "Running", "24h"),
        ("b", "Running", "24h"),
    ]


@pytest.mark.parametrize(
    ("seconds", "said"),
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
def test_an_age_has_the_figures_of_kubectl(seconds: float, said: str) -> None:
    assert age_text(seconds) == said


# --- in processes of their own

in_processes = pytest.mark.timeout(60)


def a_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name))


@in_processes
def test_a_pipe_gets_a_line_for_each_change_and_none_is_lost_by_a_restart(
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
def test_a_server_that_is_away_is_said_once_and_waited_for(
    kube_server: APIServer, kube_blocking_client: Client, environment: dict[str, str]
) -> None:
    maps = kube_blocking_client.core_v1.config_maps("shop")
    with started(environment, "watch", "cm", "-n", "shop") as process:
        assert line_of(process)
        assert process.stderr is not None
        asyncio.run(kube_server.refuse_connections())
        assert "trying again" in process.stderr.readline()
        asyncio.run(kube_server.accept_connections())
        maps.create(a_map("first"))

        assert line_of(process).split()[:2] == ["ADDED", "first"]
        assert process.stderr.readline() == "configmaps: the server is back\n"


@in_processes
def test_one_object_is_followed_by_its_name(
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
def test_a_terminal_gets_a_picture_that_heals_after_a_restart(
    kube_server: APIServer, kube_blocking_client: Client, environment: dict[str, str]
) -> None:
    maps = kube_blocking_client.core_v1.config_maps("shop")
    with on_terminal(environment, "watch", "cm,po", "-n", "shop") as terminal:
        terminal.until(lambda seen: "pod/web-1" in seen and "live" in seen)
        asyncio.run(kube_server.refuse_connections())
        terminal.until(lambda seen: "lost, trying again: " in seen)
        asyncio.run(kube_server.accept_connections())
        maps.create(a_map("first"))
        terminal.forget()
        terminal.until(lambda seen: "configmap/first" in seen and "live" in seen)

        terminal.interrupt()
        terminal.rest()

    assert terminal.process.returncode == 130
    assert terminal.raw.rstrip().endswith("\x1b[?25h"), "the cursor is given back"


@in_processes
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
@pytest.mark.parametrize("size", [(5, 20), (2, 8), (1, 1)])
def test_a_terminal_too_small_shows_what_fits(
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


def test_what_cannot_be_watched_is_said_at_once(kubeloop: Call) -> None:
    result = kubeloop("watch", "componentstatuses")

    assert result.exit_code == 2
    assert "the server cannot (use get)" in result.stderr


@in_processes
@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_colours_are_for_terminals_that_want_them(environment: dict[str, str]) -> None:
    asked = ("get", "ns")
    with on_terminal(environment, *asked) as coloured:
        assert "shop" in coloured.rest()
    with on_terminal({**environment, "NO_COLOR": "1"}, *asked) as plain:
        assert "shop" in plain.rest()

    assert "\x1b[32mActive" in coloured.raw
    assert "\x1b[3" not in plain.raw
