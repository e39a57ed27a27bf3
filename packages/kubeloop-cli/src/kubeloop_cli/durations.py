"""Durations in flags: `90`, `30s`, `1m30s`, `1h`."""

from __future__ import annotations

from typing import Any, final

import click

__all__ = ["DurationType"]


@final
class DurationType(click.ParamType[float]):
    """Converts to seconds; a number without a unit is in seconds."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        from kubeloop.kit import whole_number
        from kubeloop.wire import Duration, InvalidArgument

        if isinstance(value, float):
            return value
        text = str(value)
        try:
            number = whole_number(text)
            seconds = Duration.parse(text).total_seconds() if number is None else float(number)
        except InvalidArgument:
            seconds = -1.0
        if seconds < 0:
            self.fail(f"{text!r} is not a duration (use 90, 30s or 1m30s)", param, ctx)
        return seconds
