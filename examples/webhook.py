"""A webhook: every Deployment gets a label, and none may have more than ten replicas.

    python examples/webhook.py /path/to/certificates

The folder holds `tls.crt` and `tls.key`, as a mounted secret does; a new pair is taken up
without a restart. `webhooks.configurations(…)` are the objects that tell the API server.
"""

from __future__ import annotations

import sys

from kubeloop import run
from kubeloop.runtime import AdmissionRequest, Denied, WebhookServer
from kubeloop.wire.apps.v1 import Deployment

MOST = 10


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
        if replicas > MOST:
            raise Denied(f"spec.replicas: {replicas} is more than {MOST}")
        if replicas == 1:
            request.warn("one replica is none while its node restarts")

    return webhooks


if __name__ == "__main__":
    run(webhooks_with(sys.argv[1]).run())
