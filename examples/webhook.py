"""A webhook that labels every Deployment and denies more than ten replicas.

    python examples/webhook.py /path/to/certificates

The folder contains `tls.crt` and `tls.key`, like a mounted Secret; a rotated pair is used
without a restart. `webhooks.configurations(…)` returns the webhook configurations.
"""

from __future__ import annotations

import sys

from kubeloop import run
from kubeloop.runtime import AdmissionRequest, Denied, WebhookServer
from kubeloop.wire.apps.v1 import Deployment

MAX_REPLICAS = 10


def webhooks_with(certificates: str, listen: str = ":9443") -> WebhookServer:
    webhooks = WebhookServer(listen, certificates=certificates)

    @webhooks.mutate(Deployment)
    def label(deployment: Deployment, request: AdmissionRequest[Deployment]) -> Deployment:
        deployment.metadata.labels.setdefault(
            "example.com/owner", request.user.username or "unknown"
        )
        return deployment

    @webhooks.validate(Deployment)
    async def check(deployment: Deployment, request: AdmissionRequest[Deployment]) -> None:
        replicas = deployment.spec.replicas or 1
        if replicas > MAX_REPLICAS:
            raise Denied(f"spec.replicas: {replicas} is more than {MAX_REPLICAS}")
        if replicas == 1:
            request.warn("one replica is unavailable while its node restarts")

    return webhooks


if __name__ == "__main__":
    run(webhooks_with(sys.argv[1]).run())
