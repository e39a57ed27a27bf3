"""`kubeloop demo`: a server, a controller and a broken watch, live.

Promises: it needs no cluster and leaves nothing behind. At a terminal it shows a live picture
until Ctrl-C, which is its proper end (exit code 0); elsewhere, or in less than 80 columns and
24 lines, it prints a transcript and ends by itself (130 when it is broken off before). When
something promised is not seen, it ends with an error.
Elsewhere: what happens (`story`), with what (`stage`, `controller`), and how it is shown
(`dashboard`, `transcript`).
"""

from __future__ import annotations

from .command import demo

__all__ = ["demo"]
