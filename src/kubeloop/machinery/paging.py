"""Whether a list in pages makes progress.

Guarantees: plain code; a list whose pages lead nowhere is an error after a few of them.
See also: fetching pages (`kubeloop.clients.Pager`, the reflector of `kubeloop.cache`).
"""

from __future__ import annotations

from typing import final

from .errors import DecodeError

__all__ = ["MAX_EMPTY_PAGES", "PageProgress"]

MAX_EMPTY_PAGES = 5
"""So many pages without an item may follow one another; another one is an error."""


@final
class PageProgress:
    """Checks the pages of one list, one after the other. `action` names the list in errors."""

    def __init__(self, action: str) -> None:
        self._action = action
        self._tokens: set[str] = set()
        self._empty = 0  # pages in a row

    def check(self, token: str, items: int) -> None:
        """Note a page: its continue token, empty on the last one, and how many items it had.

        Raises:
            DecodeError: the server repeats a token, or sends empty pages without end.
        """
        self._empty = 0 if items else self._empty + 1
        if not token:
            return
        if token in self._tokens:
            raise DecodeError(
                f"{self._action}: the server sent the same continue token twice, after"
                f" {len(self._tokens) + 1} pages (does something between us and the server"
                " drop the continue parameter?)"
            )
        if self._empty > MAX_EMPTY_PAGES:
            raise DecodeError(
                f"{self._action}: {self._empty} pages without an item in a row, and the server"
                " says that more follow (ask without pages: limit 0)"
            )
        self._tokens.add(token)
