"""A manual clock, and a sink for each API of events."""

from __future__ import annotations

import pytest

from kubeloop.kit import ManualClock
from kubeloop.wire.core.v1 import Event
from kubeloop.wire.events.v1 import Event as NewEvent
from tests.events.sinks import Sink


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def sink() -> Sink[Event]:
    return Sink()


@pytest.fixture
def series_sink() -> Sink[NewEvent]:
    return Sink()
