"""Makes untrusted text safe to print: hidden characters become visible escapes.

A server, a kubeconfig or a plugin controls text in errors, log lines and tables. A line break
in it can forge a log line, an escape sequence can control the terminal, and a bidi control or
a zero-width character makes a name look like another one.
Guarantees: text without hidden characters is unchanged, so umlauts, CJK, emoji and
right-to-left letters stay readable; the function is idempotent, so that a message may quote
another one; the result is one line and can always be encoded.
See also: `errors` (all messages are escaped), `yaml_writing` (the same characters, escaped so
that the value can be read back).
"""

from __future__ import annotations

import logging
import re
from typing import Final

__all__ = ["HIDDEN", "escape_json", "get_logger", "visible"]

# Code points that are invisible or affect their neighbours: controls (C0, C1), line and
# paragraph separators, bidi and other format controls, fillers, tags, and those that Unicode
# reserves for more of them. A list, because categories differ between versions of Python.
# Variation selectors are not in it: they select the form of a visible character.
_ALWAYS: Final = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
# Emoji and several scripts need joiners between two of their characters. Elsewhere a joiner
# only makes two names different that look equal.
_JOINERS: Final = r"\u200c\u200d"
_JOINED: Final = rf"[^\x00-\x7f{_ALWAYS}{_JOINERS}]"

# A pattern of `re`, which compiles it when it is first used: most programs never do.
HIDDEN: Final = rf"[{_ALWAYS}]|[{_JOINERS}](?!{_JOINED})|(?<!{_JOINED})[{_JOINERS}]"


def visible(text: str) -> str:
    r"""`text` with each hidden character written as an escape: `\n`, `\x1b`, `\u202e`.

    A backslash is not escaped: the result is for people and cannot be parsed back.
    """
    return text if text.isprintable() and text.isascii() else re.sub(HIDDEN, _escape, text)


def escape_json(text: str) -> str:
    """JSON text with the hidden characters in its strings escaped; its values stay the same."""
    return re.sub(
        HIDDEN, lambda found: found[0] if found[0] in "\n\t\r" else _utf16(found[0]), text
    )


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _utf16(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def get_logger(name: str) -> logging.Logger:
    """The logger of a module whose records are one line each, with hidden characters escaped.

    A record without hidden characters keeps its message and its arguments. Tracebacks are not
    changed: the text of kubeloop's own errors is one line already.
    """
    logger = logging.getLogger(name)
    logger.addFilter(_escape_record)  # adding it a second time changes nothing
    return logger


def _escape_record(record: logging.LogRecord) -> bool:
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001 - arguments that do not fit; the handler reports that
        return True
    escaped = visible(message)
    if escaped != message:
        record.msg, record.args = escaped, ()
    return True
