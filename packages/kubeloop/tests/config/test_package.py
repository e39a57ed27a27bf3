"""Guarantees of the whole package."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.timeout(60)
def test_configuration_knows_no_http() -> None:
    program = (
        "import sys, kubeloop.config;"
        "print([name for name in sys.modules if name in ('aiohttp', 'http.client', 'requests')])"
    )

    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert answer.stdout.strip() == b"[]"
