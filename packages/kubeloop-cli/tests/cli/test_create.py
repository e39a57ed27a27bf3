"""`kubeloop create` creates the objects of manifests, and objects of common kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.batch.v1 import CronJob, CronJobSpec, JobSpec, JobTemplateSpec
from kubeloop.wire.core.v1 import Container, PodSpec, PodTemplateSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.yaml import load_documents
from kubeloop_testing import APIServer

from .conftest import Call

JOB = "{apiVersion: batch/v1, kind: Job, metadata: {generateName: once-}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}"


def printed(kubeloop: Call, *arguments: str) -> Any:
    """The object that a dry run prints."""
    result = kubeloop("create", *arguments, "--dry-run=client", "-o", "yaml")
    assert result.exit_code == 0, result.stderr
    (obj,) = load_documents(result.stdout)
    return obj


def test_an_object_that_exists_is_an_error(kubeloop: Call) -> None:
    first, second = kubeloop("create", "ns", "dev"), kubeloop("create", "namespace", "dev")

    assert (first.exit_code, first.stdout) == (0, "namespace/dev created\n")
    assert (second.exit_code, second.stdout) == (1, "")
    assert 'namespaces "dev" already exists' in second.stderr


def test_manifests_may_generate_names(kubeloop: Call, kube_blocking_client: Client) -> None:
    result = kubeloop("create", "-f", "-", "-n", "shop", stdin=JOB)

    (job,) = kube_blocking_client.batch_v1.jobs("shop").list_all()
    assert str(job.metadata.name).startswith("once-")
    assert result.stdout == f"job.batch/{job.metadata.name} created\n"


def test_a_client_side_dry_run_sends_nothing(kubeloop: Call, kube_server: APIServer) -> None:
    before = len(kube_server.requests)

    obj = printed(kubeloop, "cm", "settings", "--from-literal=colour=blue", "-n", "shop")

    assert obj == {
        "apiVersion": "v1",
        "data": {"colour": "blue"},
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "shop"},
    }
    assert len(kube_server.requests) == before


def test_a_server_side_dry_run_stores_nothing(kubeloop: Call) -> None:
    result = kubeloop("create", "sa", "robot", "--dry-run=server")

    assert result.stdout == "serviceaccount/robot created (server dry run)\n"
    assert kubeloop("get", "sa", "robot").exit_code == 1


def test_files_and_folders_become_keys(kubeloop: Call, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<p>")
    (tmp_path / "site" / "below").mkdir()
    (tmp_path / "picture").write_bytes(b"\xff\xfe")

    obj = printed(kubeloop, "configmap", "site", "--from-file=site", "--from-file=logo=picture")

    assert obj["data"] == {"index.html": "<p>"}
    assert obj["binaryData"] == {"logo": "//4="}


def test_an_env_file_has_comments_and_values_of_the_environment(
    kubeloop: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROM_HERE", "yes")
    (tmp_path / ".env").write_text("# colours\nCOLOUR=blue = sky\n\nFROM_HERE\nNOT_SET\n")

    obj = printed(kubeloop, "cm", "settings", "--from-env-file=.env")

    assert obj["data"] == {"COLOUR": "blue = sky", "FROM_HERE": "yes"}


def test_the_values_of_a_secret_are_encoded(kubeloop: Call) -> None:
    obj = printed(kubeloop, "secret", "generic", "db", "--from-literal=password=a=b", "--type=my/t")

    assert (obj["data"], obj["type"]) == ({"password": "YT1i"}, "my/t")


def test_a_deployment_names_its_containers_after_the_images(kubeloop: Call) -> None:
    images = ("--image=registry.example:5000/team/App_one:1.2", "--image=side@sha256:abc")

    obj = printed(kubeloop, "deploy", "web", *images, "--replicas=3", "--port=80")

    first, second = obj["spec"]["template"]["spec"]["containers"]
    assert (first["name"], second["name"]) == ("app-one", "side")
    assert (first["ports"], second.get("ports")) == ([{"containerPort": 80}], None)
    assert obj["spec"]["replicas"] == 3


def test_a_job_of_a_cron_job_belongs_to_it(kubeloop: Call, kube_blocking_client: Client) -> None:
    pod = PodSpec(restart_policy="Never", containers=[Container(name="a", image="b")])
    template = JobTemplateSpec(spec=JobSpec(template=PodTemplateSpec(spec=pod)))
    cron_job = kube_blocking_client.batch_v1.cron_jobs("shop").create(
        CronJob(
            metadata=ObjectMeta(name="nightly"),
            spec=CronJobSpec(schedule="0 3 * * *", job_template=template),
        )
    )

    result = kubeloop("create", "job", "now", "--from=cronjob/nightly", "-n", "shop")

    assert result.stdout == "job.batch/now created\n"
    job = kube_blocking_client.batch_v1.jobs("shop").get("now")
    (owner,) = job.metadata.owner_references
    assert (owner.uid, owner.controller) == (cron_job.metadata.uid, True)
    assert job.metadata.annotations["cronjob.kubernetes.io/instantiate"] == "manual"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "must specify one of -f and -k"),
        (["cm"], "Missing argument 'NAME'"),
        (["cm", "a", "--from-literal=b"], "invalid literal source b, expected key=value"),
        (["cm", "a", "--from-literal=b=1", "--from-literal=b=2"], "cannot add key 'b'"),
        (["cm", "a", "--from-file=none"], "--from-file none: cannot read it: No such file"),
        (["cm", "a", "--from-env-file=none"], "--from-env-file none: cannot read it"),
        (["cm", "a", "--from-env-file=x", "--from-literal=b=1"], "cannot be combined"),
        (["deployment", "a"], "Missing option '--image'"),
        (["job", "a"], "either --image or --from must be specified"),
        (["job", "a", "--from=deploy/web"], "expected cronjob/NAME"),
        (["-f", "x.yaml", "ns", "dev"], "manifests cannot be combined with a kind"),
        (["frob"], "No such command 'frob'"),
    ],
)
def test_what_cannot_be_created_is_one_line(
    kubeloop: Call, arguments: list[str], text: str
) -> None:
    result = kubeloop("create", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert text in line
