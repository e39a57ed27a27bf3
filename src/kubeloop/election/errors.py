"""What an election raises."""

from __future__ import annotations

from typing import final

from kubeloop.errors import KubeError

__all__ = ["LeadershipLost", "LeaseNotRenewed"]


@final
class LeadershipLost(KubeError):
    """The lease is no longer ours, or can no longer be proven to be; the work was cancelled."""


@final
class LeaseNotRenewed(KubeError):
    """A health check: the work goes on although the lease has run out."""
