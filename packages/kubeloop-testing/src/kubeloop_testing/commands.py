"""The command lines of a control plane: etcd, kube-apiserver, kube-controller-manager.

Guarantees: pure; every process listens on loopback only; flags that a user adds come last, so
that they override ours.
See also: the keys and certificates that the flags name (`control_plane`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import final

import msgspec

__all__ = ["Commands", "Ports"]


class Ports(msgspec.Struct, frozen=True):
    """The port of each listener."""

    api_server: int
    etcd: int
    etcd_peer: int
    controller_manager: int


@final
class Commands(msgspec.Struct, frozen=True):
    """The programs and flags of one control plane whose files are in `folder`.

    `controllers` are the values of kube-controller-manager's `--controllers`; if empty, it is
    not started.
    """

    folder: Path
    ports: Ports
    etcd_flags: Sequence[str] = ()
    api_server_flags: Sequence[str] = ()
    controllers: Sequence[str] = ()

    def all(self) -> list[tuple[str, list[str]]]:
        """Program and flags of each process, in the order in which they are started."""
        commands = [
            ("etcd", [*self._etcd(), *self.etcd_flags]),
            ("kube-apiserver", [*self._api_server(), *self.api_server_flags]),
        ]
        if self.controllers:
            commands.append(("kube-controller-manager", self._controller_manager()))
        return commands

    def _etcd(self) -> list[str]:
        client = f"http://127.0.0.1:{self.ports.etcd}"
        peer = f"http://127.0.0.1:{self.ports.etcd_peer}"
        return [
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--socket-reuse-port",  # `control_plane` holds the port with SO_REUSEPORT
            "--unsafe-no-fsync",  # the data need not survive a crash
        ]

    def _api_server(self) -> list[str]:
        folder = self.folder
        return [
            f"--etcd-servers=http://127.0.0.1:{self.ports.etcd}",
            f"--secure-port={self.ports.api_server}",
            "--bind-address=127.0.0.1",
            "--permit-port-sharing",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",  # it rejects loopback addresses
            f"--cert-dir={folder}",
            f"--tls-cert-file={folder / 'server.crt'}",
            f"--tls-private-key-file={folder / 'server.key'}",
            f"--client-ca-file={folder / 'ca.crt'}",
            f"--service-account-key-file={folder / 'service-accounts.pub'}",
            f"--service-account-signing-key-file={folder / 'service-accounts.key'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.96.0.0/16",
            # Tests register nodes of their own: kubelets are dialled by address, with mutual TLS.
            "--kubelet-preferred-address-types=InternalIP",
            f"--kubelet-certificate-authority={folder / 'ca.crt'}",
            f"--kubelet-client-certificate={folder / 'kubelet-client.crt'}",
            f"--kubelet-client-key={folder / 'kubelet-client.key'}",
            "--authorization-mode=RBAC",
            "--allow-privileged=true",
            # Without the service account controller, pods would wait for a token for ever.
            "--disable-admission-plugins=ServiceAccount",
        ]

    def _controller_manager(self) -> list[str]:
        folder = self.folder
        return [
            f"--kubeconfig={folder / 'kubeconfig'}",
            f"--controllers={','.join(self.controllers)}",
            f"--service-account-private-key-file={folder / 'service-accounts.key'}",
            f"--root-ca-file={folder / 'ca.crt'}",
            f"--secure-port={self.ports.controller_manager}",
            "--bind-address=127.0.0.1",
            "--permit-port-sharing",
            f"--cert-dir={folder}",
            "--leader-elect=false",
            "--use-service-account-credentials=false",
        ]
