"""String formats, and patterns in Go's syntax."""

from __future__ import annotations

import pytest

from kubeloop_testing.server.schema.patterns import matcher
from kubeloop_testing.server.schema.schema_formats import has_format


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("ipv4", "10.0.0.1", "10.0.0"),
        ("ipv6", "fe80::1", "10.0.0.1"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("mac", "01:23:45:67:89:ab", "01:23"),
        ("uuid", "8c3f6a64-7c5e-4f3e-9d52-9ad4d0d3f3a1", "nope"),
        ("uuid4", "8c3f6a64-7c5e-4f3e-9d52-9ad4d0d3f3a1", "8c3f6a64-7c5e-1f3e-9d52-9ad4d0d3f3a1"),
        ("datetime", "2024-01-02T03:04:05Z", "yesterday"),
        ("date", "2024-02-29", "2023-02-29"),
        ("duration", "1h30m", "soon"),
        ("duration", "2 days", "2 moons"),
        ("byte", "aGk=", "a"),
        ("uri", "https://example.com/x", "no uri"),
        ("hostname", "example.com", "-x"),
        ("email", "me@example.com", "me"),
        ("isbn", "0321751043", "0321751042"),
        ("isbn13", "978-0321751041", "978-0321751042"),
        ("hexcolor", "#fff", "#ff"),
        ("rgbcolor", "rgb(1,2,255)", "rgb(1,2,256)"),
        ("ssn", "111-11-1111", "11"),
        ("creditcard", "4111 1111 1111 1111", "1"),
        ("bsonobjectid", "507f1f77bcf86cd799439011", "5"),
        ("k8sshortname", "web-1", "Web"),
        ("k8slongname", "web.example", "web_"),
    ],
)
def test_a_format_accepts_valid_and_rejects_invalid_text(name: str, good: str, bad: str) -> None:
    assert has_format(name, good)
    assert not has_format(name, bad)


def test_an_unknown_format_accepts_everything() -> None:
    assert has_format("haiku", "anything")


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("^a$", "a", "a\n"),
        (r"^a\z", "a", "ab"),
        ("^[[:alpha:]]+$", "ab", "a1"),
        (r"^\$[$]$", "$$", "$"),
        ("b", "abc", "ac"),
    ],
)
def test_a_pattern_matches_as_in_go(pattern: str, good: str, bad: str) -> None:
    assert matcher(pattern)(good)
    assert not matcher(pattern)(bad)
