"""Which of two resource versions is newer, and which API version comes first.

Guarantees: resource versions of any length compare without becoming numbers; text that is
no resource version is an error, never "older". Two of them mean something together only
when they come from one resource type of one server.
See also: the effect of a resource version on a list or a watch (`kubeloop.rest`).
"""

from __future__ import annotations

import re

from kubeloop.wire.errors import InvalidArgument

__all__ = ["api_version_rank", "compare_versions", "is_newer", "is_valid_version"]

_is_version = re.compile("[1-9][0-9]*").fullmatch
_api_version = re.compile("v([0-9]{1,18})(?:(alpha|beta)([0-9]{1,18}))?").fullmatch
_STABILITY = {None: 0, "beta": 1, "alpha": 2}


def is_valid_version(version: str) -> bool:
    """Whether it is a resource version that compares: decimal, no leading zero, not "0"."""
    return _is_version(version) is not None


def compare_versions(left: str, right: str) -> int:
    """-1 when `left` is older than `right`, 0 when they are the same, 1 when it is newer.

    Raises:
        InvalidArgument: one of them is no resource version.
    """
    a, b = _weight(left), _weight(right)
    return (a > b) - (a < b)


def is_newer(version: str, than: str) -> bool:
    """Whether `version` is newer than `than`. Raises as `compare_versions` does."""
    return _weight(version) > _weight(than)


def api_version_rank(version: str) -> tuple[int, int, int, str]:
    """The sort key that puts the API version to prefer first: v2, v1, v1beta1, v1alpha1, others."""
    match = _api_version(version)
    if match is None:
        return len(_STABILITY), 0, 0, version
    major, stage, minor = match.groups()
    return _STABILITY[stage], -int(major), -int(minor or 0), ""


def _weight(version: str) -> tuple[int, str]:
    if _is_version(version) is None:
        raise InvalidArgument(
            f"resource version {version!r}: expected a decimal number above 0 without leading zeros"
        )
    return len(version), version
