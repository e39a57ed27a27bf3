"""Settings for the whole suite: the plugins, and the profiles of hypothesis.

HYPOTHESIS_PROFILE selects the profile. `ci`, the default, uses the same examples in every run;
`dev` uses new ones and remembers failures; `soak` is `dev` with many more examples (`make soak`,
which also removes the time limit of 5 s per test).
"""

from __future__ import annotations

import gc
import os
import signal
import threading

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

pytest_plugins = (
    "tests.support.open_connections",
    "tests.support.random_order",
    "tests.support.slow_process",
)

# A cluster, a namespace or a proxy of the user would change what tests see and where they connect.
OF_THE_USER = ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "POD_NAMESPACE")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
for _name in (*OF_THE_USER, *PROXIES, *map(str.upper, PROXIES)):
    os.environ.pop(_name, None)

# The duration of an example depends on the load of the machine.
UNTIMED = [HealthCheck.too_slow]

# By name, because hypothesis selects another profile by default in CI.
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


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark of long tests, and let the programs that tests start receive signals.

    A background job of a shell ignores Ctrl-C, and its children inherit that.
    """
    config.addinivalue_line("markers", "campaign: many faults in a row (`make soak`: a thousand)")
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Under `nohup`, too: a handler is not inherited, and the run itself survives the signal.
    if is_main and hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A property test runs many examples, so it gets more time."""
    soak = PROFILE == "soak"
    for item in items:
        test = getattr(item, "obj", None)
        if is_hypothesis_test(test) and (soak or item.get_closest_marker("timeout") is None):
            # First, because the closest marker wins, also over the option of the command line.
            item.add_marker(pytest.mark.timeout(1800 if soak else 30), append=False)


def pytest_collection_finish() -> None:
    """Exclude long-lived objects from garbage collection, which many tests trigger."""
    gc.collect()
    gc.freeze()
