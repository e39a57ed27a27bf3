"""Simulated tests in a project that uses the pytest plugin."""

from __future__ import annotations

import pytest

import kubeloop.wire.core.v1  # noqa: F401
from kubeloop_testing.server.access.certs import Authority
from kubeloop_testing.server.access.signing import SigningKey

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.timeout(60)  # interpreters start

# pytester restores sys.modules after each test: cryptography cannot be imported twice, and other
# imports take time.
Authority("kubeloop").server("localhost")
SigningKey()

PLAIN = ["-p", "no:asyncio", "-W", "error"]
SAMPLE = """
    import asyncio
    import pytest
    from kubeloop import Client
    from kubeloop_testing import SimulationFailed, simulate
    from kubeloop.wire.core.v1 import ConfigMap
    from kubeloop.wire.meta.v1 import ObjectMeta

    def config_map(name):
        return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))

    async def make_worker(config):
        async with Client(config) as client:
            configs = client.resource(ConfigMap, namespace="default")
            if not (await configs.list()).items:
                await configs.create(config_map("first"))
                await configs.create(config_map("second"))
            await asyncio.Event().wait()
"""
BUGGY = """
    @simulate(runs=20, workers=1, faults=["crash"])
    async def test_both_exist(world):
        world.run(make_worker)
        await world.settle()
"""


def test_a_failed_run_is_reported_without_frames_of_the_plugin_and_written_as_a_page(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(test_shop=SAMPLE + BUGGY + BUGGY.replace("test_both", "test_also_both"))

    result = pytester.runpytest_inprocess(*PLAIN, "--kube-trace", "run.html")

    result.assert_outcomes(failed=2)
    text = result.stdout.str()
    assert "test_both_exist: a run failed after " in text
    assert "end state: missing at the end: configmaps default/second" in text
    assert "worker crashes after write 1 of worker (create configmaps default/first)" in text
    assert "(a process may end at any moment, for example when its node fails)" in text
    assert "python -m kubeloop_testing.simulation test_shop.py::test_both_exist --scenario" in text
    assert "plugin.py" not in text
    pages = sorted(path.name for path in pytester.path.glob("*.html"))
    assert pages == ["run-test_shop.py-test_also_both_exist.html", "run.html"]
    page = (pytester.path / "run.html").read_text(encoding="utf-8")
    assert "missing at the end: configmaps default/second" in page
    assert "--scenario &#x27;seed=0 crash-after@worker#1&#x27;" in page


def test_the_writes_around_which_crashes_were_tried_are_listed(pytester: pytest.Pytester) -> None:
    fixed = BUGGY.replace("runs=20", "runs=3")
    pytester.makepyfile(
        test_shop=SAMPLE.replace("if not (await configs.list()).items", "if True").replace(
            ".create(config_map", ".apply(config_map"
        )
        + fixed
    )

    result = pytester.runpytest_inprocess(*PLAIN, "-vv")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "test_shop.py::test_both_exist: 3 runs of *",
            "  write 1 of worker (apply configmaps default/first): crashed *",
        ]
    )


def test_a_folder_gets_a_page_for_each_test_that_fails(pytester: pytest.Pytester) -> None:
    passing = """
    @simulate(runs=1, workers=1)
    async def test_nothing(world):
        pass
    """
    pytester.makepyfile(test_shop=SAMPLE + BUGGY + passing)

    result = pytester.runpytest_inprocess(*PLAIN, "--kube-trace", "pages/")

    result.assert_outcomes(failed=1, passed=1)
    pages = [path.name for path in (pytester.path / "pages").iterdir()]
    assert pages == ["test_shop.py-test_both_exist.html"]


def test_the_number_of_runs_is_an_option_and_the_summary_says_what_was_tried(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        test_shop=SAMPLE
        + """
    @pytest.mark.parametrize("count", [1, 2])
    @simulate(runs=500, workers=1)
    async def test_many(world, count):
        for number in range(count):
            await world.client.resource(ConfigMap).create(config_map(f"c-{number}"))
    """
    )

    result = pytester.runpytest_inprocess(*PLAIN, "-v", "--kube-runs", "3")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "*= simulated tests =*",
            "test_shop.py::test_many[[]1]: 3 runs of * virtual minutes in * s of CPU; *",
            "test_shop.py::test_many[[]2]: 3 runs of *",
        ]
    )


@pytest.mark.parametrize(
    ("scenario", "outcome", "line"),
    [
        ("seed=4", "passed", "seed=4: did not fail"),
        (
            "seed=0 crash-after@worker#1",
            "failed",
            "seed=0 crash-after@worker#1: failed",
        ),
    ],
)
def test_only_the_given_scenario_runs(
    pytester: pytest.Pytester, scenario: str, outcome: str, line: str
) -> None:
    pytester.makepyfile(test_shop=SAMPLE + BUGGY)

    result = pytester.runpytest_inprocess(*PLAIN, "--kube-scenario", scenario)

    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines([f"test_shop.py::test_both_exist: {line}"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kube-runs", "0"], "--kube-runs 0: it must be at least 1"),
        (["--kube-scenario", "seed"], "--kube-scenario: scenario 'seed': it starts with seed="),
        (["--kube-scenario", "seed=1 burn@x"], "fault 'burn@x': unknown kind"),
    ],
)
def test_an_invalid_option_is_rejected_before_any_test_runs(
    pytester: pytest.Pytester, options: list[str], message: str
) -> None:
    pytester.makepyfile("def test_nothing(): pass")

    result = pytester.runpytest_inprocess(*PLAIN, *options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}*"])


def test_parameters_are_a_part_of_the_replay_command(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_shop=SAMPLE
        + """
    @pytest.mark.parametrize("name", ["web's"])
    @pytest.mark.xfail(raises=SimulationFailed, strict=True)
    @simulate(runs=1, workers=1)
    async def test_expected(world, name):
        assert name == "cart"

    class Unusual:
        pass

    @pytest.mark.parametrize("value", [Unusual()], ids=["odd"])
    @simulate(runs=1, workers=1)
    async def test_other(world, value):
        assert value is None

    @pytest.mark.parametrize("name", ["web's"])
    @simulate(runs=1, workers=1)
    async def test_name(world, name):
        assert name == "cart"
    """
    )

    result = pytester.runpytest_inprocess(*PLAIN)

    result.assert_outcomes(failed=2, xfailed=1)
    text = result.stdout.str()
    assert """test_shop.py::test_name --scenario seed=0 --arguments '{'"'"'name'"'"':""" in text
    assert "pytest 'test_shop.py::test_other[odd]' --kube-scenario seed=0" in text
    assert "test: AssertionError" in text


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("def test_shop(world): pass", "simulate test_shop: it is not an async function"),
        ("async def test_shop(): pass", "simulate test_shop: its first parameter is not world"),
        ("async def test_shop(name): pass", "its first parameter is not world"),
    ],
)
def test_a_function_that_is_no_simulated_test_is_rejected(
    pytester: pytest.Pytester, test: str, message: str
) -> None:
    pytester.makepyfile(f"from kubeloop_testing import simulate\n@simulate()\n{test}")

    result = pytester.runpytest_inprocess(*PLAIN)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*InvalidArgument: *{message}*"])


def test_an_argument_that_cannot_be_sent_to_a_worker_is_named(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest
        from kubeloop_testing import simulate

        @pytest.fixture
        async def connection():
            yield 1

        @pytest.fixture
        def callback():
            return lambda: 1

        @simulate(runs=1)
        async def test_callback(world, callback):
            pass

        @simulate(runs=1)
        async def test_async(world, connection):
            pass
    """)

    result = pytester.runpytest_inprocess("-p", "no:asyncio")

    text = result.stdout.str()
    assert "the argument callback (function) cannot be sent to the process of a run" in text
    assert "'test_async' requested an async fixture 'connection'" in text
    result.assert_outcomes(failed=1, errors=1)
