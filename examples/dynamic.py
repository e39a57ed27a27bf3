"""Use kinds without classes: every object is a dict, and discovery finds its resource.

    python examples/dynamic.py

The example creates the CRD so that it runs on any cluster.
"""

from __future__ import annotations

from typing import Any

from kubeloop import Client, run

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Backup, plural: backups, singular: backup}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""


async def main() -> None:
    async with Client() as client:
        await client.apply(CRD)
        backups = client.resource("example.com/v1", "Backup")
        await backups.create(backup("nightly", schedule="0 3 * * *"))

        async with backups.edit("nightly") as found:
            found["spec"]["keep"] = 7
        for found in await backups.list():
            spec = found["spec"]
            print(found["metadata"]["name"], spec["schedule"], "keep", spec["keep"])
        await backups.delete("nightly")


def backup(name: str, *, schedule: str) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Backup",
        "metadata": {"name": name},
        "spec": {"schedule": schedule},
    }


if __name__ == "__main__":
    run(main())
