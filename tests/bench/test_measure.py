"""What the benches' measuring tools promise, without measuring time."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.measure import Failed, Row, figure, measured, ratio, ratios, side_by_side

MEGABYTE = 1_000_000


@pytest.mark.parametrize(("ours", "ok"), [(0.5, True), (0.8, True), (0.81, False)])
def test_a_ratio_meets_its_goal_up_to_and_including_the_bound(ours: float, ok: bool) -> None:
    assert ratio("cpu", ours, 1.0, at_most=0.8).ok is ok


def test_the_median_of_several_rounds_is_judged_and_the_spread_is_shown() -> None:
    row = ratios("cpu", [1.0, 2.0, 9.0], [2.0, 2.5, 10.0], at_most=0.8)

    assert row == Row("cpu", "0.80 (0.50..0.90)", "at most 0.8", ok=True)


def test_an_absolute_figure_is_never_judged() -> None:
    assert figure("decode", 28_000, "pods/s") == Row("decode", "28,000 pods/s")
    assert figure("import", 0.0612, "s") == Row("import", "0.0612 s")


def test_what_a_snippet_holds_is_steady_and_what_it_drops_is_only_peak() -> None:
    held = "kept = b'x' * 40_000_000"
    dropped = "len(b'x' * 40_000_000)"

    costs = side_by_side({"held": held, "dropped": dropped}, times=1)

    assert costs["held"].steady - costs["held"].before > 35 * MEGABYTE
    assert costs["dropped"].steady - costs["dropped"].before < 5 * MEGABYTE
    assert costs["dropped"].peak - costs["dropped"].before > 35 * MEGABYTE


def test_the_memory_of_the_bench_itself_is_not_counted() -> None:
    ballast = b"x" * (200 * MEGABYTE)

    cost = measured("pass", times=1)

    assert cost.peak < len(ballast) / 2


def test_contestants_take_turns(tmp_path: Path) -> None:
    log = tmp_path / "log"
    snippets = {name: f"open({str(log)!r}, 'a').write({name!r})" for name in "ab"}

    side_by_side(snippets, times=2)

    assert log.read_text() == "abab"


def test_a_snippet_that_fails_says_why() -> None:
    with pytest.raises(Failed, match="ZeroDivisionError"):
        measured("1 / 0", times=1)


def test_setup_and_snippet_share_their_names() -> None:
    assert measured("assert x == 1", setup="x = 1", times=1).wall >= 0
