"""Structs in the reference; skipped unless the extra `docs` is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SOURCE = '''
from typing import ClassVar
import msgspec

class Lease(msgspec.Struct, frozen=True):
    """A lease."""

    known: ClassVar[int] = 1
    holder: str
    seconds: float = 15.0  # how long it lasts
    renewed: bool = False
    """Its docstring."""

    @property
    def is_free(self) -> bool:
        return not self.holder
'''


@pytest.fixture
def lease(tmp_path: Path) -> Any:
    griffe = pytest.importorskip("griffe", reason="the extra `docs` is not installed")
    from docs_structs import Structs

    (tmp_path / "leases.py").write_text(SOURCE)
    extensions = griffe.load_extensions(Structs())
    return griffe.load("leases", search_paths=[tmp_path], extensions=extensions)["Lease"]


def test_a_struct_has_the_signature_that_it_has_at_run_time(lease: Any) -> None:
    defaults = {each.name: str(each.default) for each in lease.parameters if each.name != "self"}

    assert defaults == {"holder": "None", "seconds": "15.0", "renewed": "False"}


def test_a_comment_after_a_field_is_its_description(lease: Any) -> None:
    assert lease["seconds"].docstring.value == "How long it lasts."
    assert lease["renewed"].docstring.value == "Its docstring."
    assert lease["holder"].docstring is None
