"""Leader election on a Lease, and leadership as a scope.

Promises: at most one candidate leads at a time, within what clocks and identities must
fulfil (see `elector`); when leadership ends, so has the work.
"""

from .candidate import (
    RENEW_EVERY,
    Candidacy,
    CandidateChange,
    CandidateStats,
    CandidateStore,
)
from .elector import (
    ElectionEvents,
    ElectorState,
    ElectorStats,
    Idle,
    LeaderElector,
    Leadership,
    Leading,
    Waiting,
)
from .errors import LeadershipLost, LeaseNotRenewed
from .health import DEFAULT_TOLERANCE, Checked, ElectionHealth
from .lock import Held, LeaseLock, LeaseStore, LockStats
from .metrics import ELECTION_METRIC_NAMES, ElectionMetrics, PrometheusElectionMetrics
from .record import (
    Claim,
    EndOfTerm,
    Free,
    LeaseRecord,
    Ours,
    Seen,
    Taken,
    claim_on,
    new_lease,
    next_record,
    read_record,
    released_record,
    with_record,
)
from .times import (
    JITTER_FACTOR,
    LOCK_TYPE,
    USER_AGENT_SUFFIX,
    ElectionTimes,
    check_lock_type,
)

__all__ = [
    "DEFAULT_TOLERANCE",
    "ELECTION_METRIC_NAMES",
    "JITTER_FACTOR",
    "LOCK_TYPE",
    "RENEW_EVERY",
    "USER_AGENT_SUFFIX",
    "Candidacy",
    "CandidateChange",
    "CandidateStats",
    "CandidateStore",
    "Checked",
    "Claim",
    "ElectionEvents",
    "ElectionHealth",
    "ElectionMetrics",
    "ElectionTimes",
    "ElectorState",
    "ElectorStats",
    "EndOfTerm",
    "Free",
    "Held",
    "Idle",
    "LeaderElector",
    "Leadership",
    "LeadershipLost",
    "Leading",
    "LeaseLock",
    "LeaseNotRenewed",
    "LeaseRecord",
    "LeaseStore",
    "LockStats",
    "Ours",
    "PrometheusElectionMetrics",
    "Seen",
    "Taken",
    "Waiting",
    "check_lock_type",
    "claim_on",
    "new_lease",
    "next_record",
    "read_record",
    "released_record",
    "with_record",
]
