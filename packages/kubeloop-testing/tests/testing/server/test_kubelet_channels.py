"""Channels in WebSocket messages: which subprotocol is chosen, and what a message says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.server.kubelet.channels import (
    BadMessage,
    ChannelMessage,
    Subprotocol,
    choose_forward,
    choose_remote_command,
)

V5 = choose_remote_command(["v5.channel.k8s.io"])
V4 = choose_remote_command(["v4.channel.k8s.io"])
BASE64 = choose_remote_command(["base64.channel.k8s.io"])


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        ([], ""),
        (["v4.channel.k8s.io", "v5.channel.k8s.io"], "v5.channel.k8s.io"),
        (["channel.k8s.io", "v4.channel.k8s.io"], "channel.k8s.io"),
        (["v9.channel.k8s.io", "v4.base64.channel.k8s.io"], "v4.base64.channel.k8s.io"),
        (["v9.channel.k8s.io"], None),
    ],
)
def test_the_subprotocol_of_exec_is_chosen_as_by_kube_apiserver(
    offered: list[str], chosen: str | None
) -> None:
    found = choose_remote_command(offered)
    assert (found and found.name) == chosen


def test_port_forward_has_no_subprotocol_that_can_end_a_channel() -> None:
    assert choose_forward(["v5.channel.k8s.io"]) is None
    assert choose_forward(["v5.channel.k8s.io", "v4.channel.k8s.io"]) is not None


@pytest.mark.parametrize("protocol", [V5, V4, BASE64])
@given(channel=st.integers(0, 4), data=st.binary(max_size=100))
def test_a_message_is_decoded_as_it_was_encoded(
    protocol: Subprotocol, channel: int, data: bytes
) -> None:
    assert protocol.decode(protocol.encode(channel, data)) == ChannelMessage(channel, data)


@pytest.mark.parametrize("protocol", [V5, V4, BASE64])
@given(st.binary(max_size=20))
def test_any_message_is_read_ignored_or_bad(protocol: Subprotocol, message: bytes) -> None:
    try:
        protocol.decode(message)
    except BadMessage:
        assert protocol is V5


def test_only_v5_can_end_a_channel() -> None:
    assert V5 is not None
    assert V4 is not None

    assert V5.decode(b"\xff\x00") == ChannelMessage(0, b"", is_end=True)
    assert V4.decode(b"\xff\x00") == ChannelMessage(255, b"\x00")
    with pytest.raises(BadMessage):
        V5.decode(b"\xff")
