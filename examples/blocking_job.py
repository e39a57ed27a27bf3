"""Run a command as a Job, wait until it ends and print its log, without asyncio.

`python examples/blocking_job.py echo hello` runs `echo hello`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kubeloop.blocking import Client, ResourceClient
from kubeloop.meta import is_condition_true
from kubeloop.wire.batch.v1 import Job, JobSpec
from kubeloop.wire.core.v1 import Container, PodSpec, PodTemplateSpec
from kubeloop.wire.meta.v1 import ObjectMeta

IMAGE = "busybox:1.37"


def main() -> None:
    command = sys.argv[1:] or ["echo", "hello from the cluster"]
    with Client() as client:
        jobs = client.batch_v1.jobs()
        job = jobs.create(job_for(command))  # the server generates its name
        name = job.metadata.name
        try:
            succeeded = wait_until_finished(jobs, name)
            print(f"job {name}: {'done' if succeeded else 'failed'}")
            print_logs(client, name)
        finally:
            jobs.delete(name, propagation="Background")
    if not succeeded:
        sys.exit(1)


def job_for(command: Sequence[str]) -> Job:
    container = Container(name="main", image=IMAGE, command=list(command))
    return Job(
        metadata=ObjectMeta(generate_name="example-job-"),
        spec=JobSpec(
            backoff_limit=0,  # do not retry a command that fails
            template=PodTemplateSpec(
                spec=PodSpec(containers=[container], restart_policy="Never"),
            ),
        ),
    )


def wait_until_finished(jobs: ResourceClient[Job], name: str) -> bool:
    """Wait until the job has ended, and return whether it succeeded."""
    job = jobs.wait_for(name, function=is_finished, timeout=300)
    return is_condition_true(job.status.conditions, "Complete")


def is_finished(job: Job) -> bool:
    return any(is_condition_true(job.status.conditions, end) for end in ("Complete", "Failed"))


def print_logs(client: Client, name: str) -> None:
    pods = client.core_v1.pods()
    for pod in pods.list(selector={"batch.kubernetes.io/job-name": name}):
        for line in pods.logs(pod.metadata.name):
            print(f"{pod.metadata.name}: {line}")


if __name__ == "__main__":
    main()
