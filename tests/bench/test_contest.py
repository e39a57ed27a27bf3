"""Contestants: that their costs are their own, that they take turns, and how they fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.contest import (
    Command,
    Program,
    Snippet,
    attempted,
    in_rounds,
    in_turns,
    measured,
    side_by_side,
)
from bench.line_process import line_process
from bench.measure import Cost, Failed

MEGABYTE = 1_000_000

pytestmark = pytest.mark.timeout(60)  # every one of them starts interpreters


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


def test_a_program_says_itself_what_it_cost() -> None:
    output = '{"wall": 1.5, "cpu": 0.5, "before": 1, "peak": 3, "steady": 2}'
    command = (sys.executable, "-c", f"print({output!r}, flush=True)")

    costs = in_rounds({"program": Program(command)}, times=2)

    assert costs == {"program": [Cost(1.5, 0.5, 1, 3, 2)] * 2}


def test_who_fails_leaves_the_contest_and_the_others_go_on() -> None:
    contestants = {"bad": Snippet("1 / 0"), "good": Snippet("pass")}

    costs, failures = attempted(contestants, times=2)

    assert [(name, len(found)) for name, found in costs.items()] == [("good", 2)]
    assert "ZeroDivisionError" in str(failures["bad"])


def test_a_program_that_takes_too_long_is_killed_and_the_error_says_so() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]

    with (
        pytest.raises(Failed, match="was killed after 0 s"),
        line_process(command, timeout=0.1) as talker,
    ):
        talker.line()


def test_a_program_that_ends_too_early_is_a_failure_with_its_code() -> None:
    command = [sys.executable, "-c", "raise SystemExit(7)"]

    with pytest.raises(Failed, match="ended with 7"), line_process(command) as talker:
        talker.line()


def test_in_turns_each_contestant_keeps_its_process_and_they_alternate(tmp_path: Path) -> None:
    log = tmp_path / "log"
    turn = f"number += 1\nopen({str(log)!r}, 'a').write(name + str(number))"
    contestants = {name: Snippet(turn, f"name, number = {name!r}, 0") for name in "ab"}

    costs = in_turns(contestants, times=2, warm_up=1)

    assert log.read_text() == "a1b1a2b2a3b3"
    assert {name: len(found) for name, found in costs.items()} == {"a": 2, "b": 2}


def test_a_turn_costs_what_its_snippet_uses_and_not_what_its_setup_uses() -> None:
    loop = "end = time.process_time() + {}\nwhile time.process_time() < end: pass\n"
    snippet = Snippet(loop.format(0.05), "import time\n" + loop.format(1.0))

    (cost,) = in_turns({"busy": snippet}, times=1, warm_up=0)["busy"]

    assert 0.05 <= cost.cpu < 0.5


def test_a_program_takes_a_turn_for_each_line_of_its_input() -> None:
    output = '{"wall": 1.5, "cpu": 0.5, "before": 1, "peak": 3, "steady": 2}'
    code = f"import sys\nassert sys.argv[1] == '--turns'\nfor _ in sys.stdin: print({output!r}, flush=True)"

    costs = in_turns({"program": Program((sys.executable, "-c", code))}, times=3)

    assert costs == {"program": [Cost(1.5, 0.5, 1, 3, 2)] * 3}


def test_a_contestant_that_fails_in_a_turn_ends_the_contest() -> None:
    with pytest.raises(Failed, match=r"bench\.child ended with 1"):
        in_turns({"bad": Snippet("1 / 0")}, times=1)


def test_a_line_for_a_program_that_has_ended_is_a_failure_with_its_code() -> None:
    command = [sys.executable, "-c", "raise SystemExit(7)"]

    with line_process(command) as talker:
        with pytest.raises(Failed, match="ended with 7"):
            talker.line()
        with pytest.raises(Failed, match="ended with 7"):
            talker.send(b"again")


def test_a_command_costs_what_its_whole_process_uses() -> None:
    code = "import time\nwhile time.process_time() < 0.2: pass"

    (cost,) = in_rounds({"busy": Command((sys.executable, "-c", code))}, times=1)["busy"]

    assert cost.cpu >= 0.2
    assert cost.wall > 0.0
    assert cost.peak > MEGABYTE


def test_a_command_that_fails_says_why() -> None:
    with pytest.raises(Failed, match="get pods ended with 1: no such thing"):
        in_rounds({"get pods": Command((sys.executable, "-c", "exit('no such thing')"))}, times=1)
