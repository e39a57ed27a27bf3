"""Log records: one line each, whatever the text in them came from."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

import kubeloop
from kubeloop.meta import ObjectKey
from kubeloop.wire import get_logger

FORGED = "web\nERROR root: all is lost\x1b[2J\u202e"


def test_no_text_forges_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    get_logger("kubeloop.sample").warning("%s: %d left", ObjectKey("shop", FORGED), 3)

    (record,) = caplog.records
    assert record.getMessage() == r"shop/web\nERROR root: all is lost\x1b[2J\u202e: 3 left"


def test_a_record_without_hidden_characters_keeps_its_arguments(
    caplog: pytest.LogCaptureFixture,
) -> None:
    get_logger("kubeloop.sample").warning("%s: größer als %d %%", "wéb", 3)

    (record,) = caplog.records
    assert (record.msg, record.args) == ("%s: größer als %d %%", ("wéb", 3))


def test_asking_for_a_logger_again_gives_the_same_one() -> None:
    logger = get_logger("kubeloop.sample")

    assert get_logger("kubeloop.sample") is logger is logging.getLogger("kubeloop.sample")
    assert len(logger.filters) == 1


def test_every_module_that_logs_text_from_outside_uses_such_a_logger() -> None:
    """The embedded server and `kit`, which knows no API, log nothing that a peer wrote."""
    root = Path(kubeloop.__file__).parent
    plain = {
        str(path.relative_to(root).parts[0])
        for path in root.rglob("*.py")
        if re.search(r"logging\.getLogger\(__name__\)", path.read_text("utf-8"))
    }

    assert plain <= {"kit", "testing"}
