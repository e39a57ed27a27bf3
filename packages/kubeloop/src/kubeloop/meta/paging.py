"""Whether a list in pages makes progress.

Guarantees: plain code; a list whose pages lead nowhere is an error after a few of them.
See also: fetching pages (`kubeloop.clients.Pager`, the reflector of `kubeloop.cache`).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import final

from kubeloop.wire.errors import DecodeError

__all__ = ["MAX_EMPTY_PAGES", "PageProgress"]

MAX_EMPTY_PAGES = 5
"""So many pages without a new item may follow one another; another one is an error."""


@final
class PageProgress:
    """Checks the pages of one list, one after the other. `action` names the list in errors."""

    def __init__(self, action: str) -> None:
        self._action = action
        self._tokens: set[str] = set()
        self._firsts: set[Hashable] = set()
        self._empty = 0  # pages in a row that brought nothing new

    def check(self, token: str, first: Hashable) -> None:
        """Note a page: its continue token, empty on the last one, and the key of its first item.

        The key is None if there is no item. A page that begins with an item that an earlier
        page began with is that page again: some servers ignore the token they are sent, and
        send another one each time.

        Raises:
            DecodeError: the server repeats a token, or sends pages without a new item without end.
        """
        is_new = first is not None and first not in self._firsts
        self._firsts.add(first)
        self._empty = 0 if is_new else self._empty + 1
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
                f"{self._action}: {self._empty} pages without a new item in a row, and the server"
                " says that more follow (ask without pages: limit 0)"
            )
        self._tokens.add(token)
