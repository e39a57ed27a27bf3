"""Columns and orders that the user chooses: `-o custom-columns`, `--sort-by`, `-L`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.clients import Table, TableColumn, TableRow
from kubeloop.wire import InvalidArgument
from kubeloop_cli.columns import custom_table, parse_columns, sort_by
from kubeloop_cli.tables import TableLayout, lines_of, text_table, widths_of

from .conftest import Call


def test_values_are_printed_as_go_prints_them() -> None:
    obj = {"text": "a", "map": {"b": 1, "a": [True, None]}, "list": ["x", "y"], "float": 1.5}
    columns = parse_columns("A:.text,B:.map,C:.list[*],D:.list,E:.float,F:.missing")

    shown = custom_table(columns, [obj])

    assert shown.header == ("A", "B", "C", "D", "E", "F")
    assert shown.rows == (("a", "map[a:[true <nil>] b:1]", "x,y", "[x y]", "1.5", "<none>"),)


@pytest.mark.parametrize("spec", ["NAME", "NAME:.a:.b", "NAME:{", "A:.a,"])
def test_columns_that_cannot_be_parsed_are_an_error(spec: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_columns(spec)


def test_columns_can_be_in_a_file(kubeloop: Call, tmp_path: Path) -> None:
    (tmp_path / "columns").write_text("NAME   NODE\n.metadata.name  .spec.nodeName\n")
    (tmp_path / "broken").write_text("NAME NODE\n.metadata.name\n")

    result = kubeloop("get", "po", "-n", "shop", "-o", "custom-columns-file=columns")

    assert result.stdout == "NAME    NODE\nweb-1   node-1\nweb-2   node-1\n"
    assert kubeloop("get", "po", "-o", "custom-columns-file=broken").exit_code == 2
    assert kubeloop("get", "po", "-o", "custom-columns-file=missing").exit_code == 2


def sorted_values(*values: Any) -> list[Any]:
    objects = [{"at": value} if value != "missing" else {} for value in values]
    return [obj.get("at", "missing") for obj in sort_by(objects, ".at", lambda obj: obj)]


@pytest.mark.parametrize(
    "ordered",
    [
        ["web-1", "web-2", "web-10"],  # numbers in text count
        ["a", "a1", "ab"],
        ["100m", "1", "2k", "1Mi"],  # quantities
        [1, 2.5, 10],
        ["missing", None, "a"],
        ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"],
    ],
)
def test_the_order_is_that_of_kubectl(ordered: list[Any]) -> None:
    assert sorted_values(*ordered) == ordered
    assert sorted_values(*reversed(ordered)) == ordered


@given(st.lists(st.integers(0, 10**6)))
def test_numbers_at_the_end_of_names_are_sorted_by_value(numbers: list[int]) -> None:
    names = sorted_values(*(f"web-{number}" for number in numbers))

    assert [int(name[4:]) for name in names] == sorted(numbers)


def test_a_field_without_values_or_without_an_order_is_an_error() -> None:
    with pytest.raises(InvalidArgument, match="no object has such a field"):
        sort_by([{"a": 1}, {"a": 2}], ".b", lambda obj: obj)
    with pytest.raises(InvalidArgument, match="have no order"):
        sorted_values(True, False)


def test_an_empty_last_cell_leaves_the_padding_before_it() -> None:
    rows = [("A", "B"), ("x", "")]

    assert lines_of(rows, widths_of(rows)) == ["A     B", "x     "]


def test_labels_are_columns() -> None:
    row = TableRow(["web"], object={"metadata": {"labels": {"b/app": "web", "a": "b"}}})
    table = Table((TableColumn("Name", format="name"),), (row, TableRow(["bare"])))

    shown = text_table(table, TableLayout(label_columns=("b/app", "x"), labels=True))

    assert shown.header == ("NAME", "APP", "X", "LABELS")
    assert shown.rows == (("web", "web", "", "a=b,b/app=web"), ("bare", "", "", "<none>"))
