"""Takes the place of pytest-kind: the cluster of a test run is the one in KUBECONFIG.

kr8s' tests create a cluster with kind; `peers` puts this folder into PYTHONPATH instead.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--keep-cluster", action="store_true", help="always: it is not ours")
