"""The rows of the table: what is judged, and how a spread reads."""

from __future__ import annotations

import pytest

from bench.measure import Row, figure, figures, ratio, ratio_of_turns, ratios


@pytest.mark.parametrize(("ours", "ok"), [(0.5, True), (0.8, True), (0.81, False)])
def test_a_ratio_meets_its_goal_up_to_and_including_the_bound(ours: float, ok: bool) -> None:
    assert ratio("cpu", ours, 1.0, at_most=0.8).ok is ok


def test_a_ratio_without_a_goal_is_not_judged() -> None:
    assert ratio("cpu", 9.0, 3.0) == Row("cpu", "3.00")


def test_the_median_of_several_rounds_is_judged_and_the_spread_is_shown() -> None:
    row = ratios("cpu", [1.0, 2.0, 9.0], [2.0, 2.5, 10.0], at_most=0.8)

    assert row == Row("cpu", "0.80 (0.50..0.90)", "at most 0.8", ok=True)


def test_of_many_turns_the_ratio_of_medians_is_judged_with_that_of_each_half_behind_it() -> None:
    ours, theirs = [1.0, 9.0, 1.0, 2.0, 3.0, 2.0], [2.0, 2.0, 2.0, 2.0, 4.0, 4.0]

    row = ratio_of_turns("cpu", ours, theirs, at_most=0.8)

    assert row == Row("cpu", "1.00 (0.50, 0.50)", "at most 0.8", ok=False)


def test_an_absolute_figure_is_never_judged() -> None:
    assert figure("decode", 28_000, "pods/s") == Row("decode", "28,000 pods/s")
    assert figure("import", 0.0612, "s") == Row("import", "0.0612 s")
    assert figures("import", [3.0, 1.0, 2.0], "s") == Row("import", "2 (1..3) s")
