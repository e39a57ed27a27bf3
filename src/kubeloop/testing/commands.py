"""The command lines of a control plane: etcd, kube-apiserver, kube-controller-manager.

Promises: pure text out of values; everything listens on loopback only, and flags that a user
adds stand last, so that they win.
Elsewhere: the keys and certificates that they name (`control_plane`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import final

import msgspec

__all__ = ["Commands", "Ports"]


class Ports(msgspec.Struct, frozen=True):
    """Where each part listens."""

    api_server: int
    etcd: int
    etcd_peer: int
    controller_manager: int


@final
class Commands(msgspec.Struct, frozen=True):
    """What is started in `folder`, as users ask for it.

    `controllers` are the values of kube-controller-manager's flag of that name; without any it
    does not run.
    """

    folder: Path
    ports: Ports
    etcd_flags: Sequence[str] = ()
    api_server_flags: Sequence[str] = ()
    controllers: Sequence[str] = ()

    def all(self) -> list[tuple[str, list[str]]]:
        """Program and flags of each part, in the order in which they are started."""
        found = [
            ("etcd", [*self._etcd(), *self.etcd_flags]),
            ("kube-apiserver", [*self._api_server(), *self.api_server_flags]),
        ]
        if self.controllers:
            found.append(("kube-controller-manager", self._controller_manager()))
        return found

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
            "--socket-reuse-port",  # shared with who holds it for us
            "--unsafe-no-fsync",  # nothing here needs to survive
        ]

    def _api_server(self) -> list[str]:
        folder = self.folder
        return [
            f"--etcd-servers=http://127.0.0.1:{self.ports.etcd}",
            f"--secure-port={self.ports.api_server}",
            "--bind-address=127.0.0.1",
            "--permit-port-sharing",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",  # it does not like loopback
            f"--cert-dir={folder}",
            f"--tls-cert-file={folder / 'server.crt'}",
            f"--tls-private-key-file={folder / 'server.key'}",
            f"--client-ca-file={folder / 'ca.crt'}",
            f"--service-account-key-file={folder / 'service-accounts.pub'}",
            f"--service-account-signing-key-file={folder / 'service-accounts.key'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.96.0.0/16",
            # Whoever registers as a node is a kubelet: found by address, both sides verified.
            "--kubelet-preferred-address-types=InternalIP",
            f"--kubelet-certificate-authority={folder / 'ca.crt'}",
            f"--kubelet-client-certificate={folder / 'kubelet-client.crt'}",
            f"--kubelet-client-key={folder / 'kubelet-client.key'}",
            "--authorization-mode=RBAC",
            "--allow-privileged=true",
            # Pods must not wait for a token that nobody makes.
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
