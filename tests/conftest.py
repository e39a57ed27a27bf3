"""Settings for the whole suite: how many examples a property test tries, and which.

HYPOTHESIS_PROFILE chooses. `ci`, the default, tries the same examples every time, so
that no run depends on luck; `dev` tries new ones and remembers what failed; `soak`
is `dev` for a long time (`make soak`, which also lifts the limit of 5 s per test).
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

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
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
