"""`tvmc sweep`: from a YAML file to a table."""

from pathlib import Path

import pytest

from tests.dse.small_models import write_models
from tvm_pulp.tvmc.main import main

pandas = pytest.importorskip("pandas", reason="studies need pandas: pip install 'tvm_pulp[dse]'")
pytest.importorskip("pyarrow", reason="tables are written with pyarrow: pip install 'tvm_pulp[dse]'")

STUDY = """
models:
  - {path: dense32.onnx, options: {input_types: {x: int8}}}
socs:
  - siracusa
  - {base: siracusa, cores: [4], l1: [128k, 1]}
targets: [c]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    write_models(tmp_path, (32,))
    path = tmp_path / "study.yaml"
    path.write_text(STUDY)
    return path


def test_a_table_is_written(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Paths are relative to the file; progress goes to stderr; a failure does not end it. The second run is known."""
    output, cache = tmp_path / "out.parquet", str(tmp_path / "cache")
    assert main(["sweep", str(study), "-o", str(output), "--cache", cache]) == 0
    told = capsys.readouterr()
    assert "3 configurations in" in told.out and "1 of them failed" in told.out
    assert "tvmc sweep: 3 configurations\n" in told.err and "3 of 3 after" in told.err
    frame = pandas.read_parquet(output)
    assert frame.soc.tolist() == ["siracusa", "siracusa cores=4 l1=128k", "siracusa cores=4 l1=1"]
    assert frame.cycles.notna().tolist() == [True, True, False] and "L1" in frame.error[2]
    table = tmp_path / "out.csv"
    assert main(["sweep", str(study), "-o", str(table), "--cache", cache]) == 0
    assert "3 of them known already" in capsys.readouterr().err
    assert pandas.read_csv(table).cycles.tolist()[:2] == frame.cycles.tolist()[:2]


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (STUDY, ["-o", "x.txt"], "tables are written as .parquet or .csv"),
        (STUDY, ["-o", "x.csv", "--workers", "2", "--scheduler", "tcp://x"], "--workers has no effect"),
        (STUDY.replace("targets", "target"), ["-o", "x.csv"], "target: no such key"),
        (STUDY.replace("models:", "modles:"), ["-o", "x.csv"], "modles: no such key; did you mean 'models'?"),
        (STUDY.replace("cores", "core"), ["-o", "x.csv"], "'core' is no setting"),
        (STUDY.replace("dense32", "other"), ["-o", "x.csv"], "other.onnx"),
        ("- 1", ["-o", "x.csv"], "must be a mapping"),
        ("models: [", ["-o", "x.csv"], "is not valid YAML"),
    ],
)
def test_mistakes(
    study: Path, text: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """One sentence, status 2, no table."""
    study.write_text(text)
    monkeypatch.chdir(study.parent)
    assert main(["sweep", str(study), *arguments]) == 2
    assert message in capsys.readouterr().err and not (study.parent / "x.csv").exists()
