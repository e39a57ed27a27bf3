"""Tests see nothing of the user's clusters, wherever they run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Uses the namespace and the cluster of the environment, unless a test sets them.
TEST = "packages/kubeloop-cli/tests/cli/test_describe.py::test_nothing_found_is_no_error"


@pytest.mark.timeout(60)  # starts an interpreter
def test_variables_of_clusters_and_proxies_do_not_reach_the_tests() -> None:
    variables = {
        "KUBECONFIG": "/no/such/file",
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "KUBERNETES_SERVICE_PORT": "443",
        "POD_NAMESPACE": "team",
        "http_proxy": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TEST],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
