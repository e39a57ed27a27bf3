"""Decoding from many threads, in a subprocess because a failure crashes the interpreter."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import threading

from kubeloop.wire import decode
from kubeloop.wire.apps.v1 import DaemonSet, Deployment, StatefulSet
from kubeloop.wire.batch.v1 import Job

TEXT = '{"spec": {"template": {"spec": {"containers": [{"name": "main"}]}}}}'
KINDS = (DaemonSet, Deployment, StatefulSet, Job)
together = threading.Barrier(len(KINDS))


def read(kind):
    together.wait()
    for _ in range(100):
        assert decode(kind, TEXT).spec.template.spec.containers[0].name == "main"


sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=read, args=(kind,)) for kind in KINDS]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
"""


@pytest.mark.timeout(60)
def test_many_threads_may_be_the_first_to_read_classes_that_share_a_part() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")
