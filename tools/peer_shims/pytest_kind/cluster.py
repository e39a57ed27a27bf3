"""A cluster that exists already, with the attributes that kr8s' tests use."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


class KindCluster:
    """The cluster in KUBECONFIG."""

    def __init__(self, **_: object) -> None:
        self.kubeconfig_path = Path(os.environ["KUBECONFIG"])
        self.kubectl_path = Path(shutil.which("kubectl") or "kubectl")

    def create(self) -> None:
        """It runs already."""

    def delete(self) -> None:
        """It is stopped by the process that started it."""

    def kubectl(self, *arguments: str) -> str:
        command = [str(self.kubectl_path), f"--kubeconfig={self.kubeconfig_path}", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
