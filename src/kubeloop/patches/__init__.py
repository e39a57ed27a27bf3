"""Patches of the API's three computed kinds, as plain JSON in and plain JSON out.

Guarantees: every function is pure (its arguments are never changed, its result
shares nothing with them), a patch is applied whole or not at all, and the only
error is `PatchError`. A JSON value nested deeper than 128 levels is refused.
See also: which fields merge and by which key (`kubeloop.wire.facts`), who sends
a patch (`clients`), server-side apply (not computed from two documents).
"""

from .errors import PatchError, PatchFailure
from .json_diff import json_patch_between
from .json_patch import MAX_OPERATIONS, apply_json_patch
from .merge_patch import apply_merge_patch, merge_patch_between, three_way_merge_patch
from .pointer import format_pointer, parse_pointer
from .strategic import apply_strategic_patch
from .strategic_diff import strategic_patch_between, three_way_strategic_patch

__all__ = [
    "MAX_OPERATIONS",
    "PatchError",
    "PatchFailure",
    "apply_json_patch",
    "apply_merge_patch",
    "apply_strategic_patch",
    "format_pointer",
    "json_patch_between",
    "merge_patch_between",
    "parse_pointer",
    "strategic_patch_between",
    "three_way_merge_patch",
    "three_way_strategic_patch",
]
