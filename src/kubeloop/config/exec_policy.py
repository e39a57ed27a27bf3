"""Which exec plugins may be run at all.

Promises: a policy that contradicts itself is a fault, never read as "everything";
an entry matches a program by its path, so a namesake elsewhere is not let in.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

__all__ = ["ExecPolicy", "allows", "policy_faults"]


class ExecPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Run every plugin, none, or those on the list; an empty mode runs every plugin."""

    mode: str = ""  # AllowAll, DenyAll or Allowlist
    allowlist: tuple[str, ...] | None = None


def policy_faults(policy: ExecPolicy) -> list[str]:
    """What is wrong with `policy`, in words; empty when nothing is."""
    match policy.mode:
        case "" | "AllowAll" | "DenyAll":
            unwanted = policy.allowlist is not None
            return [f"plugin policy {policy.mode or 'AllowAll'} takes no allowlist"] * unwanted
        case "Allowlist":
            return _list_faults(policy.allowlist or ())
        case unknown:
            return [f"unknown plugin policy {unknown!r}, known are AllowAll, DenyAll, Allowlist"]


def allows(
    policy: ExecPolicy, command: str, resolved: str, *, find: Callable[[str], str | None]
) -> bool:
    """Whether `policy` lets `command` run, which was found at `resolved`.

    `find` looks a bare name up in PATH.
    """
    if policy.mode != "Allowlist":
        return policy.mode in ("", "AllowAll")
    entries = policy.allowlist or ()
    namesakes = [e for e in entries if Path(e).name == Path(resolved).name]
    return command in entries or resolved in entries or any(find(e) == resolved for e in namesakes)


def _list_faults(entries: tuple[str, ...]) -> list[str]:
    if not entries:
        return ["plugin policy Allowlist needs a list of programs"]
    return [
        f"allowlist entry {entry!r} is {'empty' if not entry else 'not in normal form'}"
        for entry in entries
        if not entry or os.path.normpath(entry) != entry
    ]
