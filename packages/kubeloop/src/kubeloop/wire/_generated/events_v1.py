# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import MicroTime
from ..scalars import Time
from typing import ClassVar
from . import core_v1, meta_v1

__all__ = [
    "Event",
    "EventList",
    "EventSeries",
]


class Event(Resource, group="events.k8s.io", version="v1", plural="events"):
    __optional__: ClassVar[frozenset[str]] = frozenset(['deprecated_source', 'regarding'])
    action: str | None = None
    deprecated_count: int | None = None
    deprecated_first_timestamp: Time | None = None
    deprecated_last_timestamp: Time | None = None
    deprecated_source: core_v1.EventSource = UNSET
    event_time: MicroTime | None = None
    note: str | None = None
    reason: str | None = None
    regarding: core_v1.ObjectReference = UNSET
    related: core_v1.ObjectReference | None = None
    reporting_controller: str | None = None
    reporting_instance: str | None = None
    series: EventSeries | None = None
    type: str | None = None


class EventList(Kind, group="events.k8s.io", version="v1"):
    items: list[Event] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class EventSeries(Model):
    count: int = UNSET
    last_observed_time: MicroTime | None = None
