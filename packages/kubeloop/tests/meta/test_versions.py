"""Which resource version is newer, and which API version comes first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import InvalidArgument
from kubeloop.meta import api_version_rank, compare_versions, is_newer, is_valid_version

numbers = st.one_of(
    st.integers(min_value=1, max_value=200),
    st.integers(min_value=1, max_value=10**60),
)


@given(numbers, numbers)
def test_resource_versions_compare_as_their_numbers_do(left: int, right: int) -> None:
    """API-41: resource versions are compared as numbers."""
    assert compare_versions(str(left), str(right)) == (left > right) - (left < right)
    assert is_newer(str(left), str(right)) == (left > right)


def test_a_longer_version_is_newer() -> None:
    """API-C13: 99 < 100, and numbers of any size work."""
    assert compare_versions("99", "100") == -1
    assert compare_versions("1" * 50, "1" * 49 + "2") == -1
    assert is_newer("9" * 5000, "8" * 5000)


@pytest.mark.parametrize("text", ["", "0", "0100", "1a", "-1", "+1", " 1", "1\n", "1_0", "١"])
def test_what_is_no_resource_version_is_refused_on_either_side(text: str) -> None:
    """API-41, API-C13: an error, never older."""
    assert not is_valid_version(text)
    with pytest.raises(InvalidArgument, match="resource version"):
        compare_versions(text, "1")
    with pytest.raises(InvalidArgument, match="resource version"):
        is_newer("1", text)


def test_stable_api_versions_come_before_beta_and_alpha() -> None:
    """MAP-3 needs an order where the server gives none."""
    newest_first = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2"]
    newest_first += ["foo1", "foo10", "v1gamma1"]

    assert sorted(sorted(newest_first), key=api_version_rank) == newest_first
