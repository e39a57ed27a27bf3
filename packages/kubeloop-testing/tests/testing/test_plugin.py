"""The fixtures of the plugin in a project that uses them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubeloop.config import Cluster, Context, Kubeconfig, User, write_kubeconfig
from kubeloop_testing import APIServer, ControlPlaneFailed, assets_folder, running_in_thread
from kubeloop_testing.server.access.certs import Authority
from kubeloop_testing.server.access.signing import SigningKey

pytest_plugins = ["pytester"]

try:  # at import time, because the fixture `pytester` changes HOME
    ASSETS, WITHOUT = str(assets_folder()), ""
except ControlPlaneFailed as error:
    ASSETS, WITHOUT = "", str(error)

# pytester restores sys.modules after each test, and cryptography cannot be imported twice.
Authority("kubeloop").server("localhost")
SigningKey()

PLAIN = ["-p", "no:asyncio", "-W", "error"]  # no asyncio plugin, no warnings


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[APIServer]:
    """A running cluster: the context `there`, which is not the current one."""
    with running_in_thread(APIServer()) as server:
        config = Kubeconfig(
            clusters={
                "there": Cluster(server=server.url),
                "nowhere": Cluster(server="http://127.0.0.1:1"),
            },
            users={"me": User()},
            contexts={name: Context(cluster=name, user="me") for name in ("there", "nowhere")},
            current_context="nowhere",
        )
        path = tmp_path / "clusters"
        write_kubeconfig(config, path)
        monkeypatch.setenv("KUBECONFIG", str(path))
        yield server


def test_a_server_needs_no_asyncio_plugin(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        from urllib.request import urlopen

        def test_version(kube_server):
            assert b'"major"' in urlopen(kube_server.url + "/version").read()
    """)

    result = pytester.runpytest_inprocess(*PLAIN)

    result.assert_outcomes(passed=1)


def test_each_test_gets_a_new_server_that_contains_only_the_manifests(
    pytester: pytest.Pytester,
) -> None:
    pytester.makefile(".yaml", base="apiVersion: v1\nkind: Namespace\nmetadata: {name: base}")
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(scope="session")
        def kube_manifests():
            return ["base.yaml"]
    """)
    pytester.makepyfile("""
        import json
        from urllib.request import Request, urlopen
        import pytest

        @pytest.mark.parametrize("turn", [1, 2])
        def test_create(kube_server, turn):
            url = kube_server.url + "/api/v1/namespaces"
            body = json.dumps({"metadata": {"name": "mine"}}).encode()
            assert urlopen(url + "/base").status == 200
            assert urlopen(Request(url, body, {"Content-Type": "application/json"})).status == 201
    """)

    result = pytester.runpytest_inprocess(*PLAIN)

    result.assert_outcomes(passed=2)


def test_the_session_server_is_used_by_all_fixtures_of_its_tests(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile("""
        import json
        from urllib.request import urlopen
        import pytest

        seen = set()

        @pytest.mark.parametrize("turn", [1, 2])
        def test_shared(kube_session_server, kube_server, kube_config, kube_namespace, turn):
            assert kube_server is kube_session_server
            seen.add((kube_config.server, kube_namespace))

        def test_the_same_server_and_namespaces_that_are_gone(kube_session_server):
            assert len(seen) == 2
            assert {url for url, _ in seen} == {kube_session_server.url}
            listed = json.load(urlopen(kube_session_server.url + "/api/v1/namespaces"))
            left = {item["metadata"]["name"] for item in listed["items"]
                    if "deletionTimestamp" not in item["metadata"]}
            assert not left & {namespace for _, namespace in seen}
    """)

    result = pytester.runpytest_inprocess(*PLAIN)

    result.assert_outcomes(passed=3)


@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_the_client_works_in_asynchronous_tests(pytester: pytest.Pytester, mode: str) -> None:
    pytester.makepyfile("""
        import pytest
        from kubeloop.wire.core.v1 import ConfigMap
        from kubeloop.wire.meta.v1 import ObjectMeta

        @pytest.mark.asyncio
        async def test_create(kube_client, kube_namespace):
            maps = kube_client.core_v1.config_maps(kube_namespace)
            await maps.create(ConfigMap(metadata=ObjectMeta(name="web")))
            assert [item.metadata.name for item in (await maps.list()).items] == ["web"]
    """)

    result = pytester.runpytest_inprocess(
        "-W",
        "error",
        "-o",
        f"asyncio_mode={mode}",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
    )

    result.assert_outcomes(passed=1)


def test_a_running_server_is_changed_from_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest
        from kubeloop import NotFound

        @pytest.mark.asyncio
        async def test_restart(kube_server, kube_client, kube_namespace):
            await kube_server.restart(keep_data=False)
            with pytest.raises(NotFound):
                await kube_client.core_v1.namespaces().get(kube_namespace)
    """)

    result = pytester.runpytest_inprocess("-o", "asyncio_default_fixture_loop_scope=function")

    result.assert_outcomes(passed=1)


def test_faults_are_cleared_after_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        from urllib.error import HTTPError
        from urllib.request import urlopen
        import pytest

        def test_broken(kube_session_server, kube_faults):
            kube_faults.fail(503, times=None)
            with pytest.raises(HTTPError) as raised:
                urlopen(kube_session_server.url + "/version")
            raised.value.close()

        def test_healed(kube_session_server):
            assert urlopen(kube_session_server.url + "/version").status == 200
    """)

    result = pytester.runpytest_inprocess(*PLAIN)

    result.assert_outcomes(passed=2)


def test_the_kubeconfig_file_is_readable_by_its_owner_only(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(scope="session")
        def kube_options():
            return {"tls": True, "rbac": True}
    """)
    pytester.makepyfile("""
        from kubeloop.config import ClusterConfig

        def test_read(kubeconfig_file, kube_config):
            assert kubeconfig_file.stat().st_mode & 0o777 == 0o600
            read = ClusterConfig.load(kubeconfig_file)
            assert read.server.startswith("https://")
            assert (read.server, read.token, read.ca) == (
                kube_config.server, kube_config.token, kube_config.ca)
    """)

    result = pytester.runpytest_inprocess(*PLAIN)

    result.assert_outcomes(passed=1)


SAME_TEST = """
    import json
    import os
    from urllib.request import urlopen
    import pytest
    from kubeloop.config import ClusterConfig

    @pytest.mark.asyncio
    async def test_namespace(kube_client, kube_namespace, kubeconfig_file):
        assert ClusterConfig.load(kubeconfig_file).server == kube_client.config.server
        found = await kube_client.core_v1.namespaces().get(kube_namespace)
        assert found.metadata.name == kube_namespace

    def test_faults(kube_faults):
        raise AssertionError("must be skipped")
"""


def test_one_option_runs_the_tests_on_a_cluster_of_the_kubeconfig(
    pytester: pytest.Pytester, cluster: APIServer
) -> None:
    pytester.makepyfile(SAME_TEST)

    result = pytester.runpytest_inprocess(
        "--kube", "context:there", "-o", "asyncio_default_fixture_loop_scope=function"
    )

    result.assert_outcomes(passed=1, skipped=1)
    assert [seen.verb for seen in cluster.requests] == ["create", "get", "delete"]


@pytest.mark.skipif(not ASSETS, reason=WITHOUT)
@pytest.mark.timeout(120)
def test_one_option_runs_the_tests_on_a_real_control_plane(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", ASSETS)
    pytester.makepyfile(SAME_TEST)
    pytester.makeini("[pytest]\nkube = envtest\nasyncio_default_fixture_loop_scope = function")

    result = pytester.runpytest_inprocess("--timeout=100")

    result.assert_outcomes(passed=1, skipped=1)


@pytest.mark.parametrize("choice", ["minikube", "context:", "embedded:x", ":x"])
def test_an_unknown_server_is_rejected_before_any_test_runs(
    pytester: pytest.Pytester, choice: str
) -> None:
    result = pytester.runpytest_inprocess(*PLAIN, "--kube", choice)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--kube {choice}: unknown server (use *"])


def test_the_blocking_client_works_in_tests_without_asyncio(pytester: pytest.Pytester) -> None:
    pytest.importorskip("kubeloop.blocking")
    pytester.makepyfile("""
        def test_it(kube_blocking_client, kube_namespace):
            found = kube_blocking_client.core_v1.namespaces().get(kube_namespace)
            assert found.metadata.name == kube_namespace
    """)

    result = pytester.runpytest_inprocess(*PLAIN)

    result.assert_outcomes(passed=1)


def test_a_missing_blocking_package_is_reported_in_one_line(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "kubeloop.blocking", None)
    pytester.makepyfile("def test_it(kube_blocking_client): ...")

    result = pytester.runpytest_inprocess(*PLAIN)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*this kubeloop has no kubeloop.blocking"])


@pytest.mark.timeout(60)  # starts a Python process
def test_our_modules_are_imported_without_assertion_rewriting(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import sys
        import kubeloop.wire.policy.v1

        def test_it():
            loader = sys.modules["kubeloop.wire.policy.v1"].__loader__
            assert type(loader).__name__ == "SourceFileLoader"
    """)

    result = pytester.runpytest_subprocess(*PLAIN)

    result.assert_outcomes(passed=1)


@pytest.mark.timeout(60)  # starts a Python process
def test_the_plugin_alone_imports_no_heavy_package() -> None:
    program = (
        "import sys, kubeloop_testing.plugin;"
        "print(*[name for name in ('aiohttp', 'msgspec', 'kubeloop.clients', 'kubeloop.wire')"
        " if name in sys.modules])"
    )

    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert result.stdout.strip() == ""
