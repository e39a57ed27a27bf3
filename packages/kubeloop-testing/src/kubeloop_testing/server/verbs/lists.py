"""Lists a collection: the latest state or an older one, complete or in pages.

Guarantees: all pages of a list show one state; when that state is compacted, the response is
410 with a token to continue inconsistently, as from etcd3 storage; tokens are validated.
See also: `storage.selection` (selectors), `representations.representation` (the items).
"""

from __future__ import annotations

import base64
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple, final

import msgspec

from ..request.options import ListOptions, version_number
from ..statuses import bad_request, expired, too_large_version
from ..storage.selection import Selection
from ..storage.store import Collection, Entry, Object, Storage, Store
from ..values.go_json import base64_error, struct_error, syntax_error

__all__ = ["Page", "list_page"]

_TOKEN_VERSION = "meta.k8s.io/v1"  # noqa: S105  # no password
_TOKEN_FIELDS = {"v": "string", "rv": "int64", "start": "string"}
_STANDARD_ALPHABET = str.maketrans("-_+/", "+/??")  # tokens have base64's alphabet for URLs
_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter, or use the continue token in this "
    "response to retrieve the remainder of the results. Continuing with the provided token "
    "results in an inconsistent list - objects that were created, modified, or deleted between "
    "the time the first chunk was returned and now may show up in the list."
)


class Page(NamedTuple):
    """The objects of one page, and the metadata of the list."""

    entries: list[Entry]
    metadata: Object


@final
class _Token(msgspec.Struct, frozen=True):
    """Where the next page starts; version -1 means the current state."""

    v: str
    rv: int
    start: str


def list_page(store: Store, storage: Storage, select: Selection, options: ListOptions) -> Page:
    """The page that the options request.

    Raises:
        StatusError: 400 for an invalid token or version, 410 for a compacted version, 504 for
            a version in the future.
    """
    collection = store.collection(storage)
    if options.next_page:
        return _next_page(store, collection, select, options)
    version = version_number(options.version, listed=True)
    if version > store.version:
        raise too_large_version(version, store.version)
    if _is_exact(options, version):
        entries = collection.at(version, select.namespace)
        if entries is None:
            raise expired("The resourceVersion for the provided list is too old.")
    else:
        version = store.version
        entries = collection.select(select.namespace)
    # kube-apiserver serves version "0" from its watch cache, which ignores the limit.
    limit = 0 if options.version == "0" else options.limit
    return _page(collection, select, entries, version=version, limit=limit)


def _is_exact(options: ListOptions, version: int) -> bool:
    # A version with a limit and without a match is legacy Exact; see "resourceVersion in list".
    if not version:
        return False
    return options.version_match == "Exact" or (options.limit > 0 and not options.version_match)


def _next_page(
    store: Store, collection: Collection, select: Selection, options: ListOptions
) -> Page:
    token = _read_token(options.next_page)
    if options.version and options.version != "0":
        raise bad_request("specifying resource version is not allowed when using continue")
    version = store.version if token.rv < 0 else token.rv
    entries = collection.at(version, select.namespace) if version <= store.version else None
    if entries is None:
        # handleCompactedErrorForPaging: the client may continue with the current state.
        raise expired(_TOO_OLD, next_page=_write_token(-1, token.start))
    keys = [entry.key for entry in entries]
    rest = entries[bisect_left(keys, _prefix(select) + token.start) :]
    return _page(collection, select, rest, version=version, limit=options.limit, whole=entries)


def _page(
    collection: Collection,
    select: Selection,
    entries: Sequence[Entry],
    *,
    version: int,
    limit: int,
    whole: Sequence[Entry] | None = None,
) -> Page:
    metadata: Object = {"resourceVersion": str(version)}
    if limit <= 0 or (select.everything and len(entries) <= limit):
        return Page(_selected(select, entries), metadata)
    page: list[Entry] = []
    for index, entry in enumerate(entries):
        if not (select.everything or select.matches(entry)):
            continue
        if len(page) == limit:
            # With a selector the number of remaining items is unknown: the API leaves it out.
            metadata["continue"] = _write_token(version, entry.key.removeprefix(_prefix(select)))
            if select.everything:
                metadata["remainingItemCount"] = len(entries) - index
            collection.keep_snapshot(
                version, select.namespace, whole if whole is not None else entries
            )
            break
        page.append(entry)
    return Page(page, metadata)


def _selected(select: Selection, entries: Sequence[Entry]) -> list[Entry]:
    if select.everything:
        return entries if isinstance(entries, list) else list(entries)
    return [entry for entry in entries if select.matches(entry)]


def _prefix(select: Selection) -> str:
    """What the keys of a list start with; a token has the rest, so that it cannot leave it."""
    return f"{select.namespace}/" if select.namespace else ""


def _write_token(version: int, start: str) -> str:
    # The format of storage.EncodeContinue.
    token = _Token(_TOKEN_VERSION, version, start)
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def _read_token(text: str) -> _Token:
    # The checks of storage.DecodeContinue, in their order.
    problem = base64_error(text.translate(_STANDARD_ALPHABET), padded=False)
    raw = b"" if problem else base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    problem = problem or syntax_error(raw)
    found = None if problem else msgspec.json.decode(raw)
    problem = problem or struct_error(found, "storage.continueToken", _TOKEN_FIELDS)
    token = found if isinstance(found, dict) else {}
    version, start = token.get("v") or "", token.get("start") or ""
    if problem:
        pass
    elif version != _TOKEN_VERSION:
        problem = f"server does not recognize this encoded version {version}"
    elif not token.get("rv"):
        problem = f"incorrect encoded start resourceVersion (version {version})"
    elif not start:
        problem = f"encoded start key empty (version {version})"
    elif ".." in start.split("/"):
        problem = start
    if problem:
        raise bad_request(f"invalid continue token: continue key is not valid: {problem}")
    return _Token(version, token["rv"], start)
