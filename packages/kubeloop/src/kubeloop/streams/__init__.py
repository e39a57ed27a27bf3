"""Streams of pods: logs, commands, files and ports.

The methods of a client of pods (`client.core_v1.pods("shop")`) open them: `logs`, `exec`,
`attach`, `copy_to`, `copy_from`, `port_forward`, `open_connection` and `debug`.

Guarantees: leaving a block or cancelling a call closes the remote side; memory stays bounded, a
slow reader slows the sender down; a stream that ends too early is an error, never a short result.
See also: `kubeloop.clients` (the methods), `kubeloop.rest` (WebSockets).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

if TYPE_CHECKING:
    from .archives import UnsafeArchive
    from .commands import DebugFailed
    from .copy import CopyFailed, CopyProgress
    from .logs import LogEntry, LogGap, LogLine, LogStart
    from .pods import NoReadyPod
    from .port_forward import ForwardedPort, PortForward
    from .process import (
        ExecResult,
        NonZeroExitCode,
        Process,
        ProcessInput,
        ProcessOutput,
        RemoteCommand,
        UnsupportedByServer,
    )
    from .tunnel import PortConnection, PortForwardFailed

    # isort: split
    # For other packages of kubeloop; not public.
    from .commands import attach_command as attach_command
    from .commands import debug_command as debug_command
    from .commands import exec_command as exec_command
    from .copy import copy_from as copy_from
    from .copy import copy_to as copy_to
    from .logs import LogQuery as LogQuery
    from .logs import read_entries as read_entries
    from .logs import read_lines as read_lines
    from .pods import PodAccess as PodAccess
    from .pods import default_container as default_container
    from .pods import is_ready as is_ready
    from .port_forward import forward_ports as forward_ports
    from .port_forward import open_port as open_port
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".archives": "UnsafeArchive",
            ".commands": "DebugFailed attach_command debug_command exec_command",
            ".copy": "CopyFailed CopyProgress copy_from copy_to",
            ".logs": "LogEntry LogGap LogLine LogQuery LogStart read_entries read_lines",
            ".pods": "NoReadyPod PodAccess default_container is_ready",
            ".port_forward": "ForwardedPort PortForward forward_ports open_port",
            ".process": (
                "ExecResult NonZeroExitCode Process ProcessInput ProcessOutput "
                "RemoteCommand UnsupportedByServer"
            ),
            ".tunnel": "PortConnection PortForwardFailed",
        },
    )

__all__ = [
    "CopyFailed",
    "CopyProgress",
    "DebugFailed",
    "ExecResult",
    "ForwardedPort",
    "LogEntry",
    "LogGap",
    "LogLine",
    "LogStart",
    "NoReadyPod",
    "NonZeroExitCode",
    "PortConnection",
    "PortForward",
    "PortForwardFailed",
    "Process",
    "ProcessInput",
    "ProcessOutput",
    "RemoteCommand",
    "UnsafeArchive",
    "UnsupportedByServer",
]
