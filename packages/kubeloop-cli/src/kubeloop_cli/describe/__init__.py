"""`kubeloop describe`: the details of objects, for people.

Guarantees: the layout of kubectl; values of secrets are never printed.
See also: `command` (the command), `pods`, `workloads`, `network`, `cluster` and `generic` (the
layouts of kinds).
"""

from __future__ import annotations

from .command import describe

__all__ = ["describe"]
