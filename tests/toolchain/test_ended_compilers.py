"""A compiler that a signal ends: the sentence says that the disk is full where it is, and what may be why elsewhere."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.toolchain import compiler

_Usage = namedtuple("_Usage", "total used free")


@pytest.mark.parametrize(
    ("free", "words"), [(4096, "No space left on device"), (1 << 40, "ended by signal 6: free memory and room")]
)
def test_ended_by_a_signal(free: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: _Usage(1 << 41, 0, free))
    with pytest.raises(UserError, match=words):
        compiler._output(["/bin/sh", "-c", "kill -ABRT $$"], {"TMPDIR": str(tmp_path), "PATH": "/bin"})
