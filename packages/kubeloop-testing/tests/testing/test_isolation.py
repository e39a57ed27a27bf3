"""A test that uses a server of the plugin cannot reach another one by default."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kubeloop.config import (
    Cluster,
    ClusterConfig,
    ConfigError,
    Context,
    Kubeconfig,
    Overrides,
    User,
    write_kubeconfig,
)
from kubeloop_testing import APIServer, running_in_thread
from kubeloop_testing.server.access.certs import Authority
from kubeloop_testing.server.access.signing import SigningKey

pytest_plugins = ["pytester"]

# pytester restores sys.modules after each test, and cryptography cannot be imported twice.
Authority("kubeloop").server("localhost")
SigningKey()

VARIABLES = (
    "KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBELOOP_TEST_SERVER",
)  # fmt: skip


@pytest.fixture
def cluster() -> Iterator[APIServer]:
    """Started before `pytester`, which restores sys.modules."""
    with running_in_thread(APIServer()) as server:
        yield server


@pytest.fixture
def developers_cluster(
    cluster: APIServer, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The cluster of the kubeconfig in the home directory; the test must not send it a request."""
    home = pytester.mkdir("home")
    (home / ".kube").mkdir()
    (home / ".kube" / "config").write_text(cluster.kubeconfig(), encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("KUBECONFIG", "")  # recorded, so that a value set by a test is undone
    monkeypatch.delenv("KUBECONFIG")
    yield
    assert cluster.requests == []


def run(pytester: pytest.Pytester, source: str, *options: str, **outcomes: int) -> None:
    """Run tests as in a project that uses the plugin; without `outcomes` they all pass."""
    pytester.makepyfile(source)
    scope = "asyncio_default_fixture_loop_scope=function"
    result = pytester.runpytest_inprocess("-o", scope, *options)
    result.assert_outcomes(**(outcomes or {"passed": source.count("def test_")}))


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("developers_cluster")
def test_the_environment_points_at_the_server_of_the_test(
    pytester: pytest.Pytester,
) -> None:
    run(
        pytester,
        """
        import os
        import subprocess
        import sys

        import pytest

        import kubeloop
        from kubeloop.blocking import Client
        from kubeloop.config import ClusterConfig

        SHOW = "from kubeloop.config import ClusterConfig; print(ClusterConfig.load().server)"

        def test_by_default(kube_server):
            assert ClusterConfig.load().server == kube_server.url

        def test_blocking(kube_server, kube_namespace):
            with Client() as client:
                assert client.core_v1.namespaces().exists(kube_namespace)

        @pytest.mark.asyncio
        async def test_asyncio(kube_server, kube_namespace):
            async with kubeloop.Client() as client:
                assert await client.core_v1.namespaces().exists(kube_namespace)

        def test_only_by_the_config(kube_config):
            assert ClusterConfig.load().server == kube_config.server

        def test_subprocess(kube_server):
            shown = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True)
            assert shown.stdout.strip() == kube_server.url

        def test_variables_of_a_pod(kube_server):
            host = os.environ["KUBERNETES_SERVICE_HOST"]
            assert kube_server.url.endswith(f"{host}:{os.environ['KUBERNETES_SERVICE_PORT']}")

        def test_by_name_in_the_middle(request):
            server = request.getfixturevalue("kube_server")
            assert ClusterConfig.load().server == server.url

        def test_faults(kube_faults):
            with Client() as client:
                kube_faults.fail(404)
                assert client.core_v1.pods("default").get_or_none("web") is None
        """,
    )


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("developers_cluster")
def test_the_environment_points_at_a_server_with_tls_and_rbac(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        import pytest
        from kubeloop.blocking import Client

        @pytest.fixture(scope="session")
        def kube_options():
            return {"rbac": True}

        def test_administrator(kube_namespace):
            with Client() as client:
                assert client.core_v1.namespaces().exists(kube_namespace)
        """,
    )


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("developers_cluster")
def test_the_environment_points_at_the_session_server_in_tests_that_use_it(
    pytester: pytest.Pytester,
) -> None:
    run(
        pytester,
        """
        import os
        import pytest
        from kubeloop.blocking import Client
        from kubeloop.config import ClusterConfig

        BEFORE = dict(os.environ)

        @pytest.fixture(scope="session")
        def loaded(kube_session_server):
            with Client() as client:
                client.apply("apiVersion: v1\\nkind: Namespace\\nmetadata: {name: shop}")
            return kube_session_server

        def test_first(loaded):
            assert ClusterConfig.load().server == loaded.url

        def test_without():
            assert ClusterConfig.load().server != "" and "KUBECONFIG" not in os.environ
            assert "KUBELOOP_TEST_SERVER" not in os.environ

        def test_own(kube_server):
            assert ClusterConfig.load().server == kube_server.url

        def test_second(loaded, kube_config):
            assert ClusterConfig.load().server == loaded.url == kube_config.server
        """,
    )


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("developers_cluster")
def test_a_default_configuration_of_another_server_is_rejected(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        import os
        import subprocess
        import sys
        from unittest import mock

        import pytest

        from kubeloop import ConfigError
        from kubeloop.blocking import Client
        from kubeloop.config import ClusterConfig

        @pytest.fixture
        def early():
            "Runs before the server."
            with pytest.raises(ConfigError):
                ClusterConfig.load()
            with pytest.MonkeyPatch.context() as patch:
                patch.delenv("KUBECONFIG")
                with pytest.raises(ConfigError, match="whose server has not started yet"):
                    ClusterConfig.load()
            yield
            with pytest.raises(ConfigError):  # and after its end
                with pytest.MonkeyPatch.context() as patch:
                    patch.delenv("KUBECONFIG", raising=False)
                    ClusterConfig.load()

        def test_home(early, kube_server, monkeypatch):
            monkeypatch.delenv("KUBECONFIG")
            with pytest.raises(ConfigError, match="leads to http://127.0.0.1:.* kube_config"):
                with Client() as client:
                    client.core_v1.pods("default").list()

        def test_another_file(kube_server, monkeypatch, tmp_path):
            other = tmp_path / "prod"
            other.write_text(kube_server.kubeconfig().replace("127.0.0.1", "127.0.0.2"))
            monkeypatch.setenv("KUBECONFIG", str(other))
            with pytest.raises(ConfigError, match="leads to http://127.0.0.2"):
                ClusterConfig.load()
            assert "127.0.0.2" in ClusterConfig.load(other).server  # named: their choice
            assert "127.0.0.2" in ClusterConfig.load(context="kubeloop").server

        def test_cleared_environment(early, kube_server):
            with mock.patch.dict(os.environ, {"HOME": os.environ["HOME"]}, clear=True):
                with pytest.raises(ConfigError, match="leads to http://127.0.0.1:.* kube_config"):
                    with Client() as client:
                        client.core_v1.pods("default").list()

        def test_without_a_server_the_default_is_the_developers_own():
            assert ClusterConfig.load().server

        def test_command_line(kube_server, monkeypatch):
            monkeypatch.delenv("KUBECONFIG")
            command = [sys.executable, "-m", "kubeloop_cli", "get", "pods"]
            result = subprocess.run(command, capture_output=True, text=True)
            assert result.returncode == 4
            assert "leads to" in result.stderr
        """,
    )


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("developers_cluster")
@pytest.mark.parametrize("order", ["monkeypatch, kube_server", "kube_server, monkeypatch"])
def test_the_environment_is_restored_after_the_test_in_any_order(
    pytester: pytest.Pytester, order: str
) -> None:
    run(
        pytester,
        f"""
        import os
        import pytest

        VARIABLES = {VARIABLES}
        BEFORE = {{name: os.environ.get(name) for name in VARIABLES}}

        @pytest.fixture(scope="session")
        def own():
            os.environ["MINE"] = "1"

        def test_changes({order}):
            monkeypatch.setenv("KUBECONFIG", "/nowhere")
            monkeypatch.delenv("KUBERNETES_SERVICE_HOST")

        def test_is_back(own):
            assert {{name: os.environ.get(name) for name in VARIABLES}} == BEFORE

        def test_fails(kube_server):
            os.environ["KUBECONFIG"] = "/kept"
            assert False

        def test_keeps_what_others_have_set():
            assert os.environ["KUBECONFIG"] == "/kept"
            assert "KUBELOOP_TEST_SERVER" not in os.environ
        """,
        passed=3,
        failed=1,
    )


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("developers_cluster")
def test_the_environment_points_at_a_fixture_of_the_project_with_our_name(
    pytester: pytest.Pytester,
) -> None:
    run(
        pytester,
        """
        import pytest
        from kubeloop.config import ClusterConfig
        from kubeloop_testing import APIServer, running_in_thread

        @pytest.fixture(scope="module")
        def kube_server():
            with running_in_thread(APIServer()) as server:
                yield server

        def test_first(kube_server):
            assert ClusterConfig.load().server == kube_server.url

        def test_second(kube_client, kube_server):
            assert ClusterConfig.load().server == kube_server.url
        """,
        "-o",
        "asyncio_mode=auto",
    )


@pytest.mark.timeout(60)
@pytest.mark.usefixtures("developers_cluster")
def test_a_fixture_with_our_name_that_is_no_server_is_ignored(pytester: pytest.Pytester) -> None:
    run(
        pytester,
        """
        import os
        import pytest

        @pytest.fixture
        def kube_server():
            return "https://example.com"

        def test_it(kube_server):
            assert "KUBECONFIG" not in os.environ
        """,
    )


@pytest.mark.timeout(60)
def test_the_environment_points_at_the_selected_cluster(
    cluster: APIServer, pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Kubeconfig(
        clusters={
            "there": Cluster(server=cluster.url),
            "nowhere": Cluster(server="http://127.0.0.1:1"),
        },
        users={"me": User()},
        contexts={name: Context(cluster=name, user="me") for name in ("there", "nowhere")},
        current_context="nowhere",
    )
    write_kubeconfig(config, tmp_path / "clusters")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "clusters"))

    run(
        pytester,
        """
        from kubeloop.blocking import Client

        def test_first(kube_namespace):
            with Client() as client:
                assert client.core_v1.namespaces().exists(kube_namespace)

        def test_second(kube_namespace):
            with Client() as client:
                assert client.core_v1.namespaces().exists(kube_namespace)
        """,
        "--kube",
        "context:there",
    )


# --- the configuration itself


ENVIRON = {"KUBELOOP_TEST_SERVER": "http://127.0.0.1:7"}


@pytest.fixture
def production(tmp_path: Path) -> Mapping[str, str]:
    path = tmp_path / "config"
    config = Kubeconfig(
        clusters={"prod": Cluster(server="https://prod.example.com")},
        users={"me": User(token="hunter2")},
        contexts={"prod": Context(cluster="prod", user="me")},
        current_context="prod",
    )
    write_kubeconfig(config, path)
    return {**ENVIRON, "KUBECONFIG": str(path)}


def test_an_error_names_both_servers_and_no_secret(production: Mapping[str, str]) -> None:
    with pytest.raises(ConfigError) as refused:
        ClusterConfig.load(environ=production)

    assert "https://prod.example.com" in str(refused.value)
    assert "http://127.0.0.1:7" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_an_explicit_configuration_is_used(production: Mapping[str, str]) -> None:
    chosen = Overrides(cluster_info=Cluster(server="https://staging.example.com"))

    assert ClusterConfig.load(production["KUBECONFIG"], environ=production).token == "hunter2"
    assert ClusterConfig.load(context="prod", environ=production).token == "hunter2"
    assert ClusterConfig.load(overrides=Overrides(context="prod"), environ=production).token
    assert ClusterConfig.load(overrides=chosen, environ=production).token


def test_overrides_without_a_cluster_are_rejected(production: Mapping[str, str]) -> None:
    with pytest.raises(ConfigError, match="leads to"):
        ClusterConfig.load(overrides=Overrides(namespace="shop"), environ=production)


def test_an_in_cluster_configuration_is_rejected_too(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hunter2")
    pod = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    own = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "7"}

    with pytest.raises(ConfigError, match=r"leads to https://10\.0\.0\.1:443"):
        ClusterConfig.in_cluster(environ={**ENVIRON, **pod}, directory=str(tmp_path))
    with pytest.raises(ConfigError, match=r"leads to https://10\.0\.0\.1:443"):
        ClusterConfig.load(environ={**ENVIRON, **pod}, service_account=str(tmp_path))
    assert ClusterConfig.in_cluster(environ={**ENVIRON, **own}, directory=str(tmp_path)).token


def test_a_default_port_equals_the_same_explicit_port(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hunter2")
    pod = {"KUBERNETES_SERVICE_HOST": "kube.example.com", "KUBERNETES_SERVICE_PORT": "443"}
    environ = {**pod, "KUBELOOP_TEST_SERVER": "https://kube.example.com"}

    assert ClusterConfig.in_cluster(environ=environ, directory=str(tmp_path)).token


def test_outside_of_tests_nothing_is_rejected(production: Mapping[str, str]) -> None:
    plain = {key: value for key, value in production.items() if key != "KUBELOOP_TEST_SERVER"}

    assert ClusterConfig.load(environ=plain).server == "https://prod.example.com"


def test_tests_without_a_server_do_not_change_the_environment() -> None:
    assert "KUBELOOP_TEST_SERVER" not in os.environ
