"""`tvmc build` of an archive that somebody edited: one sentence, and no file."""

from pathlib import Path

import pytest

import tvm_pulp
from tests.dse.small_models import dense_model
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.codegen import mlf


def test_c_that_does_not_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = tvm_pulp.compile(dense_model(32), target="c", soc="siracusa", input_types={"x": "int8"})
    source = next(name for name in sorted(app.files) if name.endswith("_run.c"))
    mlf.write(tmp_path / "edited.tar", {**app.files, source: b"#error edited by hand\n" + app.files[source]})
    finished = tvmc(capsys, "build", tmp_path / "edited.tar", "-o", tmp_path / "program.elf")
    check_refused(finished, ["the archive's C does not build", "edited by hand", "compile the model again"], "build")
    assert not (tmp_path / "program.elf").exists()
