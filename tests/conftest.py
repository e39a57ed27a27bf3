"""Settings for the whole suite: how many examples a property test tries, and which.

HYPOTHESIS_PROFILE chooses. `ci`, the default, tries the same examples every time, so
that no run depends on luck; `dev` tries new ones and remembers what failed; `soak`
is `dev` for a long time (`make soak`, which also lifts the limit of 5 s per test).
"""

from __future__ import annotations

import gc
import os
import signal
import threading

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

pytest_plugins = ("tests.support.open_connections", "tests.support.slow_process")

# How long an example takes says how busy the machine is, not whether the rule holds.
UNTIMED = [HealthCheck.too_slow]

# Named, because hypothesis itself starts from another profile where it sees a CI.
PLAIN = settings.get_profile("default")

settings.register_profile(
    "ci",
    PLAIN,
    derandomize=True,
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=UNTIMED,
)
settings.register_profile(
    "dev", PLAIN, max_examples=60, deadline=None, suppress_health_check=UNTIMED
)
settings.register_profile(
    "soak", PLAIN, max_examples=20_000, deadline=None, suppress_health_check=UNTIMED
)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(PROFILE)


def pytest_configure() -> None:
    """Let Ctrl-C reach tests of it, and the programs they start.

    A shell's background job ignores it, and every child would.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A property test is many tests in one: it has more time than a single one."""
    soak = PROFILE == "soak"
    for item in items:
        test = getattr(item, "obj", None)
        if is_hypothesis_test(test) and (soak or item.get_closest_marker("timeout") is None):
            # In front, since the nearest mark wins, also over the limit on the command line.
            item.add_marker(pytest.mark.timeout(1800 if soak else 30), append=False)


def pytest_collection_finish() -> None:
    """Have the collector pass over what lasts: tests that call it would wait for that each time."""
    gc.collect()
    gc.freeze()
