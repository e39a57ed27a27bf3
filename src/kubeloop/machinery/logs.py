"""Loggers whose records are one line each, whatever the text in them came from.

Guarantees: a record whose message holds hidden characters (line breaks, escape sequences, bidi
controls: `kubeloop.wire.visible`) is logged with escapes in their place; every other record
passes as it is, with its arguments. The traceback of a record is not changed: the text of our
own errors is one line already.
"""

from __future__ import annotations

import logging

from kubeloop.wire import visible

__all__ = ["get_logger"]


def get_logger(name: str) -> logging.Logger:
    """The logger of a module, for text that a server, a file or a plugin may have chosen."""
    logger = logging.getLogger(name)
    logger.addFilter(_show_hidden)  # adding it a second time changes nothing
    return logger


def _show_hidden(record: logging.LogRecord) -> bool:
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001 - arguments that do not fit; the handler reports that
        return True
    shown = visible(message)
    if shown != message:
        record.msg, record.args = shown, ()
    return True
