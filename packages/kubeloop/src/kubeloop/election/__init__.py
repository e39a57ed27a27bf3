"""Leader election on a Lease, with leadership as a scope.

Guarantees: at most one candidate leads at a time, under the conditions on clocks and
identities that `elector` states; when leadership has ended, so has the work.
"""

from .candidate import Candidate
from .elector import ElectionHealth, LeaderElector, Leadership, LeadershipLost, LeaseNotRenewed
from .lock import LeaseLock
from .metrics import PrometheusElectionMetrics
from .record import LeaseRecord
from .times import ElectionTimes

# isort: split
# For other packages of kubeloop; not public.
from .candidate import RENEW_INTERVAL as RENEW_INTERVAL
from .elector import DEFAULT_TOLERANCE as DEFAULT_TOLERANCE
from .elector import ElectionRecorder as ElectionRecorder
from .elector import ElectorStats as ElectorStats
from .elector import Idle as Idle
from .elector import Leading as Leading
from .elector import Standby as Standby
from .lock import LockStats as LockStats
from .metrics import ELECTION_METRIC_NAMES as ELECTION_METRIC_NAMES
from .metrics import ElectionMetrics as ElectionMetrics
from .record import Available as Available
from .record import EndOfTerm as EndOfTerm
from .record import HeldByOther as HeldByOther
from .record import HeldBySelf as HeldBySelf
from .record import LeaseStatus as LeaseStatus
from .record import ObservedRecord as ObservedRecord
from .record import lease_status as lease_status
from .record import new_lease as new_lease
from .record import next_record as next_record
from .record import read_record as read_record
from .record import released_record as released_record
from .record import with_record as with_record
from .times import JITTER_FACTOR as JITTER_FACTOR
from .times import USER_AGENT_SUFFIX as USER_AGENT_SUFFIX
from .times import check_lock_type as check_lock_type

__all__ = [
    "Candidate",
    "ElectionHealth",
    "ElectionTimes",
    "LeaderElector",
    "Leadership",
    "LeadershipLost",
    "LeaseLock",
    "LeaseNotRenewed",
    "LeaseRecord",
    "PrometheusElectionMetrics",
]
