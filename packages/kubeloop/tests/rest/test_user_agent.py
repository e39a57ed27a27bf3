"""The `User-Agent` header."""

from __future__ import annotations

import pytest

from kubeloop.rest import default_user_agent, user_agent


@pytest.mark.parametrize(
    ("command", "version", "commit", "text"),
    [
        (
            "/usr/bin/manager",
            "v1.2.3-beta",
            "0a1b2c3d4e",
            "manager/v1.2.3 (linux/amd64) kubernetes/0a1b2c3",
        ),
        ("", "", "", "unknown/unknown (linux/amd64) kubernetes/unknown"),
    ],
)
def test_the_user_agent_is_the_one_that_server_logs_know(
    command: str, version: str, commit: str, text: str
) -> None:
    """REST-76: user agent: `<command>/<version> (<os>/<arch>) kubernetes/<commit>`."""
    assert user_agent(command, version, system="linux", machine="amd64", commit=commit) == text


def test_the_default_is_made_of_what_a_header_can_carry() -> None:
    """REST-76: user agent: `<command>/<version> (<os>/<arch>) kubernetes/<commit>`."""
    message = default_user_agent()

    assert message.isascii()
    assert message.isprintable()
    assert message.endswith("kubernetes/unknown")
