"""Kubeconfigs of the servers of this package."""

from __future__ import annotations

import base64
from typing import Any

from kubeloop.wire.yaml import dump_document

from .server.access.certs import KeyPair

__all__ = ["kubeconfig_text"]


def kubeconfig_text(
    url: str, *, ca: bytes | None = None, pair: KeyPair | None = None, token: str = ""
) -> str:
    """A self-contained kubeconfig with one context."""
    cluster: dict[str, Any] = {"server": url}
    user: dict[str, Any] = {}
    if ca is not None:
        cluster["certificate-authority-data"] = _base64(ca)
    if pair is not None:
        user["client-certificate-data"] = _base64(pair.certificate)
        user["client-key-data"] = _base64(pair.key)
    if token:
        user["token"] = token
    return dump_document(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "kubeloop", "cluster": cluster}],
            "users": [{"name": "admin", "user": user}],
            "contexts": [{"name": "kubeloop", "context": {"cluster": "kubeloop", "user": "admin"}}],
            "current-context": "kubeloop",
        }
    )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
