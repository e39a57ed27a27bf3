"""`kubeloop demo`: a server, a controller and failures, shown live.

Guarantees: it needs no cluster and leaves nothing behind. In a terminal it draws a dashboard
until Ctrl-C, with exit code 0; in a pipe, or in a terminal smaller than 80 columns and 24
lines, it prints a transcript and exits (with code 130 if interrupted). If a result
does not appear, it fails.
See also: `scenes` (what happens), `environment` and `controller` (what runs), `dashboard` and
`log` (how it is shown).
"""

from __future__ import annotations

from .command import demo

__all__ = ["demo"]
