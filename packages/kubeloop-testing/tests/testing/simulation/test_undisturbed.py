"""The undisturbed run is judged by itself: a controller that never works is not the truth."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from kubeloop import Client
from kubeloop.config import ClusterConfig
from kubeloop.errors import Invalid, InvalidArgument, KubeError
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Context, Manager, TerminalError
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import SimulationFailed, World, simulate
from kubeloop_testing.simulation.explorer import Workers
from kubeloop_testing.simulation.oracles import explain_random, judge_undisturbed
from kubeloop_testing.simulation.scenarios import Failure, RunResult, Scenario

pytestmark = pytest.mark.timeout(120)  # worker processes start

_tries: list[int] = []  # of this copy of the module


class NotYet(Exception):
    """An error of a user's own class."""


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


def manager_of(config: ClusterConfig, reconcile: Any) -> Manager:
    manager = Manager(config, signals=False, logs=False)
    manager.cache(ConfigMap, namespace="default")
    manager.controller(ConfigMap, name="shops")(reconcile)
    return manager


def make_mistaken(config: ClusterConfig) -> Manager:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        getattr(ctx, "missing")  # noqa: B009 - the mistake

    return manager_of(config, reconcile)


def make_invalid(config: ClusterConfig) -> Manager:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        await ctx.client.apply(Secret(metadata=ObjectMeta(name="Not_a_name", namespace="default")))

    return manager_of(config, reconcile)


def make_terminal(config: ClusterConfig) -> Manager:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        raise TerminalError("spec.image: no such registry")

    return manager_of(config, reconcile)


def make_own_error(config: ClusterConfig) -> Manager:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        raise NotYet(key.name)

    return manager_of(config, reconcile)


def make_transient(config: ClusterConfig) -> Manager:
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        _tries.append(1)
        if len(_tries) < 6:
            raise NotYet(key.name)

    return manager_of(config, reconcile)


def make_waiting(config: ClusterConfig) -> Manager:
    """Fails until an object exists that it does not watch: only its next retry sees it."""

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        await ctx.client.core_v1.secrets("default").get("late")

    return manager_of(config, reconcile)


async def make_daemon(config: ClusterConfig) -> None:
    async def work() -> None:
        raise ConnectionError("the daemon has ended")

    async with Client(config):
        task = asyncio.create_task(work())
        await asyncio.Event().wait()
        await task


async def make_ending(config: ClusterConfig) -> None:
    async with Client(config) as client:
        await client.apply(Secret(metadata=ObjectMeta(name="Not_a_name", namespace="default")))


async def make_handler(config: ClusterConfig) -> None:
    def fail(_: ConfigMap) -> None:
        raise ValueError("a handler has failed")

    async with Client(config) as client:
        informer = client.informer(ConfigMap, namespace="default")
        informer.add_handler(on_add=fail)
        await informer.run()


PROGRAMS = [
    *(make_mistaken, make_invalid, make_terminal, make_own_error, make_transient),
    *(make_waiting, make_daemon, make_ending, make_handler),
]


@simulate(runs=1)
async def runs_a_program(world: World) -> None:
    """The number of the program is the seed."""
    world.run(PROGRAMS[world.scenario.seed], name="program")
    await world.client.resource(ConfigMap).create(config_map("shop"))
    await asyncio.sleep(100)
    await world.client.apply(Secret(metadata=ObjectMeta(name="late", namespace="default")))
    await world.settle()


@pytest.fixture(scope="module")
def undisturbed() -> Iterator[Workers]:
    simulation: Any = vars(runs_a_program)["simulation"]
    with Workers(simulation.job({}), 1) as workers:
        yield workers


def run(workers: Workers, program: Any) -> Failure | None:
    return judge_undisturbed(workers.run(Scenario(PROGRAMS.index(program))))


@pytest.mark.parametrize(
    ("program", "error", "line"),
    [
        (make_mistaken, "AttributeError", "the mistake"),
        (make_invalid, "Invalid", "await ctx.client.apply"),
        (make_terminal, "TerminalError", "no such registry"),
        (make_own_error, "NotYet", "raise NotYet(key.name)"),
    ],
)
def test_a_key_that_still_fails_at_the_end_is_reported_with_how_to_expect_it(
    undisturbed: Workers, program: Any, error: str, line: str
) -> None:
    failure = run(undisturbed, program)

    assert failure is not None
    assert failure.oracle == "failing key"
    assert "program: shops still fails for default/shop at the end, " in failure.message
    assert f"{error}: " in failure.message
    assert f"{__file__}:" in failure.message
    assert line in failure.message
    assert f"@simulate(expect_failing={{'default/shop': {error}}})" in failure.message


@pytest.mark.parametrize("program", [make_transient, make_waiting])
def test_errors_that_end_before_the_run_does_are_fine(undisturbed: Workers, program: Any) -> None:
    assert run(undisturbed, program) is None


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (make_daemon, "a task of program ended: ConnectionError: the daemon has ended"),
        (make_ending, "program ended 11 times: Invalid: "),
        (make_handler, "failed: ValueError: a handler has failed"),
    ],
)
def test_an_error_that_nothing_handles_is_reported(
    undisturbed: Workers, program: Any, message: str
) -> None:
    failure = run(undisturbed, program)

    assert failure is not None
    assert failure.oracle == "unhandled error"
    assert message in failure.message
    assert f"{__file__}:" in failure.message


# --- what a test expects


def job_expecting(expectation: Any, program: Any) -> Any:
    simulated: Any = simulate(runs=1, seed=PROGRAMS.index(program), expect_failing=expectation)(
        vars(runs_a_program)["simulation"].test
    )
    return simulated.simulation


@pytest.mark.parametrize(
    ("expectation", "is_covered"),
    [
        (NotYet, True),
        ("default/sh*", True),
        ("shops default/shop", True),
        ({"default/shop": NotYet}, True),
        ([Invalid, NotYet], True),
        ({"default/shop": (Invalid, NotYet)}, True),
        (KubeError, False),
        ("default/other", False),
        ({"default/shop": Invalid}, False),
    ],
)
def test_what_a_test_expects_is_a_key_an_error_or_both(expectation: Any, is_covered: bool) -> None:
    job = job_expecting(expectation, make_own_error).job({})

    covers = any(
        each.covers(["default/shop", "shops default/shop"], NotYet()) for each in job.expected
    )

    assert covers == is_covered


def test_a_failure_that_the_test_expects_passes() -> None:
    simulation = job_expecting({"default/*": NotYet}, make_own_error)

    assert simulation.explore().failure is None


def test_an_expectation_of_something_else_is_rejected() -> None:
    with pytest.raises(InvalidArgument, match="neither a pattern of keys nor a class of errors"):
        job_expecting(7, make_own_error)


# --- random values


def state(**fields: Any) -> RunResult:
    text = msgspec.json.encode(fields).decode()
    return RunResult(end_state=(f"secrets:default/key {text}",))


def test_a_value_that_differs_between_undisturbed_runs_is_named_with_the_ignore_to_write() -> None:
    found, expected, other = (state(data={"token": each}) for each in ("aa", "bb", "cc"))

    (hint,) = explain_random(found, expected, [other])

    assert hint == (
        'data.token is "aa", and "bb" in the undisturbed run: it differs between undisturbed runs'
        ' as well. If it may differ, write @simulate(ignore=["data.token"])'
    )


def test_a_value_that_looks_random_is_named_and_one_that_does_not_is_not() -> None:
    one = state(data={"id": "3f9a1c04e7b2", "page": "welcome", "count": 12})
    other = state(data={"id": "b7e01d55a9c8", "page": "hello", "count": 13})

    (hint,) = explain_random(one, other, [])

    assert "data.id" in hint
    assert "it looks random" in hint


def test_an_object_with_a_random_name_is_named_with_a_pattern() -> None:
    one, two, three = (
        RunResult(end_state=(f"secrets:default/key-{each} {{}}",)) for each in ("a1", "b2", "c3")
    )

    (hint,) = explain_random(one, two, [three])

    assert '@simulate(ignore=["secrets default/key-*"])' in hint


async def make_token(config: ClusterConfig) -> None:
    async with Client(config) as client:
        made = config_map("shop")
        made.data = {"token": secrets.token_hex(8)}
        await client.apply(made)
        await asyncio.Event().wait()


@simulate(runs=8, workers=1)
async def writes_a_token(world: World) -> None:
    world.run(make_token)
    await world.settle()


def test_the_report_of_a_random_value_says_which_ignore_to_write_and_that_helps() -> None:
    with pytest.raises(SimulationFailed) as caught:
        writes_a_token()

    assert "it differs between undisturbed runs as well" in str(caught.value)
    assert '@simulate(ignore=["data.token"])' in str(caught.value)
    ignoring: Any = simulate(runs=8, workers=1, ignore=["data.token"])(
        vars(writes_a_token)["simulation"].test
    )
    assert ignoring.simulation.explore().failure is None
