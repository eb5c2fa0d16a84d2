"""What a machine lacks is said at the start, and leaves out its part of the tables alone."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.scripts.load_script import load_script


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    return load_script("bench_cpus", monkeypatch)


def test_what_is_missing_is_named(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setattr(script, "DATA", tmp_path)
    left_out = script.lacking()
    assert {"cortex-m55", "aarch64", "rv64gcv", "MLPerf Tiny"} <= set(left_out)
    assert "install QEMU" in left_out["aarch64"] and str(tmp_path) in left_out["MLPerf Tiny"]


def test_the_rest_goes_on(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without anything that the tables need, the script ends well and says why they are empty."""
    monkeypatch.setattr(script, "lacking", lambda: dict.fromkeys((*script.COUNTED, "LiteRT", "onnxruntime"), "no way"))
    monkeypatch.setattr(script, "_tiny", lambda _name: "zoo:dscnn")
    monkeypatch.setattr(script, "SHOWN", {"kws": "KWS"})
    monkeypatch.setattr("sys.argv", ["bench_cpus", "--rounds", "1"])
    assert script.main() == 0
    assert "aarch64 is left out: no way" in capsys.readouterr().err
