"""Which names, keys, values and annotations the API accepts."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import InvalidArgument
from kubeloop.meta import (
    ANNOTATIONS_LIMIT,
    check_annotations,
    check_dns_1035_label,
    check_dns_label,
    check_dns_subdomain,
    check_label_key,
    check_label_value,
    check_path_segment,
    generate_name,
    problems_of_annotations,
    problems_of_dns_1035_label,
    problems_of_dns_label,
    problems_of_dns_subdomain,
    problems_of_label_key,
    problems_of_label_value,
    problems_of_path_segment,
)

Check = Callable[[str], None]


@pytest.mark.parametrize("name", ["a", "0", "web-1", "1-web", "a" * 63])
def test_a_dns_label_is_made_of_lower_case_letters_digits_and_dashes(name: str) -> None:
    """API-48: rules of names."""
    check_dns_label(name)

    assert problems_of_dns_label(name) == []


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a.b", "a_b", "ä", "a\n", "a" * 64])
def test_what_is_no_dns_label_is_refused(name: str) -> None:
    """API-48: rules of names."""
    with pytest.raises(InvalidArgument, match="name"):
        check_dns_label(name)


@pytest.mark.parametrize("name", ["a", "a.b", "1.2.3", "web-1.example.com", "a" * 253])
def test_a_dns_subdomain_is_labels_joined_by_dots(name: str) -> None:
    """API-48: the parts may be longer than a label, only the whole has a limit."""
    check_dns_subdomain(name)

    assert problems_of_dns_subdomain(name) == []


@pytest.mark.parametrize("name", ["", ".", "a..b", "a.", ".a", "a.-b", "a/b", "a" * 254])
def test_what_is_no_dns_subdomain_is_refused(name: str) -> None:
    """API-48: rules of names."""
    with pytest.raises(InvalidArgument):
        check_dns_subdomain(name)


def test_a_dns_1035_label_starts_with_a_letter() -> None:
    """API-48: rules of names."""
    check_dns_1035_label("web-1")

    with pytest.raises(InvalidArgument, match="start with an alphabetic character"):
        check_dns_1035_label("1-web")
    assert len(problems_of_dns_1035_label("1" * 64)) == 2


@pytest.mark.parametrize(
    "problems",
    [problems_of_dns_label, problems_of_dns_subdomain, problems_of_dns_1035_label],
)
def test_a_generate_name_may_end_in_a_dash(problems: Callable[..., list[str]]) -> None:
    """API-48: what follows the dash is the server's to add."""
    assert problems("web-") != []
    assert problems("web-", prefix=True) == []
    assert problems("Web-", prefix=True) != []
    assert problems("-", prefix=True) != []


def test_a_problem_states_the_limit_and_the_regex_that_clients_know() -> None:
    """API-48: rules of names."""
    problems = problems_of_dns_subdomain("A" * 254)

    assert problems[0] == "must be no more than 253 characters"
    assert (
        "regex used for validation is "
        r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'" in problems[1]
    )


@pytest.mark.parametrize(
    "key",
    ["a", "A.b_c-1", "0", "example.com/app", "a" * 63, f"{'a' * 253}/{'b' * 63}"],
)
def test_a_label_key_is_a_name_after_an_optional_domain(key: str) -> None:
    """API-8: label keys and values."""
    check_label_key(key)

    assert problems_of_label_key(key) == []


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("", "name part must be non-empty"),
        ("example.com/", "name part must be non-empty"),
        ("/a", "prefix part must be non-empty"),
        ("a/b/c", "with an optional DNS subdomain prefix and '/'"),
        ("Example.com/a", "prefix part a lowercase RFC 1123 subdomain"),
        (f"{'a' * 254}/a", "prefix part must be no more than 253"),
        ("a" * 64, "name part must be no more than 63"),
        ("-a", "name part must consist of alphanumeric characters"),
        ("a b", "name part must consist of alphanumeric characters"),
        ("a\n", "name part must consist of alphanumeric characters"),
    ],
)
def test_the_part_of_a_label_key_that_is_wrong_is_named(key: str, problem: str) -> None:
    """API-8: label keys and values."""
    with pytest.raises(InvalidArgument, match=problem):
        check_label_key(key)


@pytest.mark.parametrize("value", ["", "a", "A-b_c.1", "1" * 63])
def test_a_label_value_may_be_empty(value: str) -> None:
    """API-8: label keys and values."""
    check_label_value(value)

    assert problems_of_label_value(value) == []


@pytest.mark.parametrize("value", [".", "-a", "a-", "a b", "a/b", "1" * 64, "\n"])
def test_what_is_no_label_value_is_refused(value: str) -> None:
    """API-8: label keys and values."""
    with pytest.raises(InvalidArgument, match="label value"):
        check_label_value(value)


@pytest.mark.parametrize("segment", [".", "..", "test/segment", "test%2bsegment"])
def test_a_path_segment_cannot_lead_elsewhere(segment: str) -> None:
    """REST-C5: rejected path segments."""
    with pytest.raises(InvalidArgument, match="path segment"):
        check_path_segment(segment)


def test_a_path_segment_may_hold_what_no_dns_name_may() -> None:
    check_path_segment("system:controller:Job")

    assert problems_of_path_segment("a/b%c") == ["may not contain '/'", "may not contain '%'"]


def test_all_annotations_together_have_a_limit_in_bytes() -> None:
    """API-48: 256 KiB, keys included."""
    just_right = {"note": "x" * (ANNOTATIONS_LIMIT - 4)}

    check_annotations(just_right)

    with pytest.raises(InvalidArgument, match="at most 262144 bytes"):
        check_annotations({"note": "ä" * (ANNOTATIONS_LIMIT // 2)})


def test_annotation_keys_are_checked_and_may_have_an_upper_case_domain() -> None:
    assert problems_of_annotations({"Example.COM/Note": "\n anything at all"}) == []
    assert "key 'a b'" in problems_of_annotations({"a b": ""})[0]


def test_a_generated_name_is_the_prefix_and_five_characters() -> None:
    """API-48: rules of names."""
    name = generate_name("web-", source=random.Random(7))

    assert name.startswith("web-")
    assert len(name) == 9
    assert name == generate_name("web-", source=random.Random(7))


@given(st.from_regex("[a-z][-a-z0-9]{0,80}", fullmatch=True), st.randoms(use_true_random=False))
def test_a_generated_name_is_always_a_dns_label(base: str, source: random.Random) -> None:
    """API-48: a base that is too long is cut, and the result is a valid name."""
    name = generate_name(base, source=source)

    assert problems_of_dns_label(name) == []
    assert set(name[-5:]) <= set("bcdfghjklmnpqrstvwxz2456789")
