"""The command lines of a control plane: the processes, and which flags take precedence."""

from __future__ import annotations

from pathlib import Path

from kubeloop_testing.commands import Commands, Ports

PORTS = Ports(api_server=6443, etcd=2379, etcd_peer=2380, controller_manager=10257)


def test_without_controllers_there_is_no_controller_manager() -> None:
    commands = Commands(Path("/t"), PORTS)

    assert [name for name, _ in commands.all()] == ["etcd", "kube-apiserver"]


def test_only_the_controllers_that_are_named_run() -> None:
    commands = Commands(Path("/t"), PORTS, controllers=("garbage-collector", "namespace"))

    name, flags = commands.all()[-1]

    assert name == "kube-controller-manager"
    assert "--controllers=garbage-collector,namespace" in flags


def test_flags_of_the_user_come_last() -> None:
    commands = Commands(Path("/t"), PORTS, etcd_flags=["--x=1"], api_server_flags=["--y=2"])

    assert [flags[-1] for _, flags in commands.all()] == ["--x=1", "--y=2"]


def test_everything_listens_on_loopback_only() -> None:
    commands = Commands(Path("/t"), PORTS, controllers=("*",))

    flags = [flag for _, flags in commands.all() for flag in flags]

    listening = [flag for flag in flags if "listen" in flag or "bind-address" in flag]
    assert len(listening) == 4
    assert all("127.0.0.1" in flag for flag in listening)
