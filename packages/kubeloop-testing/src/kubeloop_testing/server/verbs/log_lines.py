"""The lines of a container's log: those that a test has set, or those of a simulated container.

No container runs. If the status of a pod says that one does, or did, its log has a few lines
about that: its start, its ports, its end.

Guarantees: pure; a log is refused where a kubelet refuses it, and never for a container that has
a log of its own; each line has a time, which never changes.
See also: `logs` (requests for logs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, final

import msgspec

from ..request.options import Query
from ..statuses import Cause, StatusError, bad_request, invalid
from ..storage.store import Object
from ..values import causes
from ..values.go_json import time_error

__all__ = [
    "LogLine",
    "LogOptions",
    "append_text",
    "container_lines",
    "container_status",
    "has_ended",
    "log_options",
    "run_of",
    "select_lines",
]


class LogLine(NamedTuple):
    """A line with its newline, which the last line of a log may lack."""

    time: datetime
    text: str


@final
class LogOptions(msgspec.Struct, frozen=True):
    """PodLogOptions of a request."""

    container: str = ""
    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    since: datetime | None = None
    tail: int | None = None
    limit: int | None = None  # bytes


def log_options(query: Query, pod: str, *, now: datetime) -> LogOptions:
    """The options of a request for the log of `pod`.

    Raises:
        StatusError: 400 for a value that cannot be read, 422 for one that is not allowed.
    """
    seconds, time = query.number("sinceSeconds"), query.text("sinceTime")
    since = _time(time) if time else None
    tail, limit = query.number("tailLines"), query.number("limitBytes")
    wrong = list(_problems(query, tail=tail, limit=limit, seconds=seconds, since=since))
    if wrong:
        raise invalid("", "PodLogOptions", pod, wrong)
    return LogOptions(
        container=query.text("container"),
        follow=bool(query.flag("follow")),
        previous=bool(query.flag("previous")),
        timestamps=bool(query.flag("timestamps")),
        since=since if seconds is None else now - timedelta(seconds=min(seconds, 10**9)),
        tail=tail,
        limit=limit,
    )


def _problems(
    query: Query,
    *,
    tail: int | None,
    limit: int | None,
    seconds: int | None,
    since: datetime | None,
) -> Iterator[Cause]:
    # `ValidatePodLogOptions`; the feature PodLogsQuerySplitStreams is disabled by default.
    if tail is not None and tail < 0:
        yield causes.invalid("tailLines", tail, "must be greater than or equal to 0")
    if limit is not None and limit < 1:
        yield causes.invalid("limitBytes", limit, "must be greater than 0")
    if seconds is not None and since is not None:
        yield causes.forbidden(
            "[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"
        )
    elif seconds is not None and seconds < 1:
        yield causes.invalid("sinceSeconds", seconds, "must be greater than 0")
    if "stream" in query:
        yield causes.forbidden("stream", "may not be specified")


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise bad_request(time_error(text)) from error
    if found.tzinfo is None:
        raise bad_request(time_error(text))
    return found


# --- lines


def append_text(lines: list[LogLine], text: str, now: datetime) -> list[LogLine]:
    """`lines` with the text that follows them; a last line without a newline continues."""
    # Not splitlines(): only a newline ends a line of a log.
    parts = re.findall(r"[^\n]*\n|[^\n]+", text)
    if lines and parts and not lines[-1].text.endswith("\n"):
        last = lines[-1]
        lines, parts = [*lines[:-1], LogLine(last.time, last.text + parts[0])], parts[1:]
    return [*lines, *[LogLine(now, part) for part in parts]]


def select_lines(lines: list[LogLine], options: LogOptions) -> list[LogLine]:
    """The lines that the options request; as a kubelet, the last ones first, then by time."""
    if options.tail is not None:
        lines = lines[len(lines) - min(options.tail, len(lines)) :]
    since = options.since
    return lines if since is None else [line for line in lines if line.time >= since]


# --- simulated containers


def container_lines(pod: Object, container: str, *, previous: bool = False) -> list[LogLine] | None:
    """The log of a container according to its status; None if the pod has none.

    Raises:
        StatusError: 400 where a kubelet has no log (`validateContainerLogStatus`).
    """
    status = container_status(pod, container)
    if status is None:
        return None
    state, last = status.get("state") or {}, (status.get("lastState") or {}).get("terminated")
    if previous and not last:
        raise _refused(pod, container, "previous terminated container {} not found")
    current = state.get("running") or state.get("terminated")
    run = last if previous else current or last
    if run is not None:
        # While a container waits to be restarted, the last run is that of its count.
        count = int(status.get("restartCount") or 0) - bool(previous and current)
        return list(_run(pod, container, run, count))
    reason = (state.get("waiting") or {}).get("reason") or ""
    raise _refused(
        pod, container, _WAITING.get(reason, "container {} is waiting to start: " + reason)
    )


_WAITING = {
    "": "container {} is waiting to start - no logs yet",
    "ErrImagePull": "container {} is waiting to start: image can't be pulled",
    "ImagePullBackOff": "container {} is waiting to start: trying and failing to pull image",
}


def has_ended(pod: Object, container: str) -> bool:
    """Whether nothing more is written to the log of a container."""
    phase = (pod.get("status") or {}).get("phase") or ""
    status = container_status(pod, container)
    is_running = status is None or "running" in run_of(status)
    return phase != "Running" or not is_running


def _refused(pod: Object, container: str, why: str) -> StatusError:
    return bad_request(why.format(f'"{container}" in pod "{pod["metadata"]["name"]}"'))


def run_of(status: Object | None) -> Object:
    """The state in a container status; empty without one."""
    found: Object = (status or {}).get("state") or {}
    return found


def container_status(pod: Object, container: str) -> Object | None:
    """The status of a container; None if the pod has none for it."""
    status = pod.get("status") or {}
    for field in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for each in status.get(field) or ():
            if each.get("name") == container:
                found: Object = each
                return found
    return None


def _run(pod: Object, container: str, run: Object, restarts: int) -> Iterator[LogLine]:
    """The lines of one run of a container, from its start to its end."""
    meta, spec = pod["metadata"], _spec_of(pod, container)
    # A status has whole seconds. As with real containers, no two runs have the same times.
    began, ended = (_moment(run.get(name), restarts) for name in ("startedAt", "finishedAt"))
    if began is None:
        return  # it ended before it had started
    yield LogLine(began, f"{container} started, image {spec.get('image')} (simulated)\n")
    node = (pod.get("spec") or {}).get("nodeName") or ""
    yield LogLine(began, f"pod {meta.get('namespace')}/{meta['name']} runs on node {node}\n")
    for port in spec.get("ports") or ():
        where = f"{port.get('containerPort')}/{port.get('protocol', 'TCP')}"
        yield LogLine(began, f"listening on {where}\n")
    if ended is not None:
        if meta.get("deletionTimestamp"):
            yield LogLine(ended, "received SIGTERM, shutting down\n")
        yield LogLine(ended, f"exited with code {run.get('exitCode', 0)}\n")


def _spec_of(pod: Object, container: str) -> Object:
    spec = pod.get("spec") or {}
    fields = ("containers", "initContainers", "ephemeralContainers")
    named: Iterable[Object] = (each for field in fields for each in spec.get(field) or ())
    return next((each for each in named if each.get("name") == container), {})


def _moment(text: object, microseconds: int) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return None
    return found + timedelta(microseconds=microseconds)
