"""A test that forgets to await a coroutine of kubeloop fails, and the failure names it."""

from __future__ import annotations

import pytest

from kubeloop_testing.server.access.certs import Authority
from kubeloop_testing.server.access.signing import SigningKey

pytest_plugins = ["pytester"]

# pytester restores sys.modules after each test, and cryptography cannot be imported twice.
Authority("kubeloop").server("localhost")
SigningKey()
SCOPE = ("-o", "asyncio_default_fixture_loop_scope=function")

TESTS = """
    import asyncio
    import pytest

    def test_forgets(kube_server):
        kube_server.restart()

    @pytest.mark.asyncio
    async def test_keeps_and_forgets(kube_server):
        later = kube_server.refuse_connections()

    @pytest.mark.asyncio
    async def test_forgets_the_client(kube_client):
        kube_client.core_v1.pods("default").list()

    @pytest.fixture
    async def broken_start(kube_server):
        kube_server.restart()

    @pytest.mark.asyncio
    async def test_setup(broken_start):
        pass

    @pytest.mark.asyncio
    async def test_awaits(kube_server):
        await kube_server.restart()
        await asyncio.create_task(kube_server.restart())

    async def theirs():
        pass

    def test_of_another_project(kube_server):
        theirs()
"""


@pytest.mark.timeout(60)
@pytest.mark.parametrize("filters", ["default", "ignore"])
def test_a_coroutine_that_is_not_awaited_fails_its_test(
    pytester: pytest.Pytester, filters: str
) -> None:
    pytester.makepyfile(TESTS)

    result = pytester.runpytest_inprocess(*SCOPE, "-o", "asyncio_mode=auto", "-W", filters)

    result.assert_outcomes(passed=2, failed=3, errors=1, warnings=1 if filters == "default" else 0)
    result.stdout.fnmatch_lines(
        [
            "*test_a_coroutine*.py:5: APIServer.restart() was never awaited (write `await` in front*",
            "*APIServer.refuse_connections() was never awaited*",
            "*list() was never awaited*",
        ]
    )


@pytest.mark.timeout(60)
def test_a_failure_is_not_replaced_and_no_other_test_is_blamed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        def test_fails(kube_server):
            later = kube_server.restart()
            assert 1 == 2

        def test_is_fine(kube_server):
            pass
    """)

    result = pytester.runpytest_subprocess(*SCOPE, "-W", "error::RuntimeWarning")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*", "*:2: APIServer.restart() was never awaited*"])
