"""Arrays for a run that do not fit the network: exit status 2, one sentence, no output file."""

from pathlib import Path

import numpy as np
import pytest

from tests.frontend.test_bad_models import _model, _save
from tvm_pulp.tvmc.main import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    path = folder / "model.tar"
    assert main(["compile", str(_save(folder, _model())), "-q", "-o", str(path)]) == 0
    return path


GOOD = np.zeros((2, 3), np.int8)
WRONG: dict[str, tuple[dict[str, np.ndarray], str]] = {
    "shape": ({"x": np.zeros((2, 4), np.int8)}, "input 'x' has shape [2, 4], the network expects [2, 3]"),
    "order of axes": ({"x": np.zeros((3, 2), np.int8)}, "input 'x' has shape [3, 2], the network expects [2, 3]"),
    "flat": ({"x": np.zeros(6, np.int8)}, "input 'x' has shape [6], the network expects [2, 3]"),
    "range": ({"x": np.full((2, 3), 300)}, "input 'x' holds values outside int8"),
    "fractions": ({"x": np.full((2, 3), 0.5)}, "input 'x' holds values outside int8"),
    "text": ({"x": np.full((2, 3), "a")}, "input 'x' holds <U1 values, not numbers"),
    "none": ({}, "--inputs holds no array for input 'x'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_arrays_that_do_not_fit(case: str, archive: Path, tmp_path: Path, capfd: Capture) -> None:
    arrays, expected = WRONG[case]
    np.savez(tmp_path / "in.npz", **arrays)  # type: ignore[arg-type]
    output = tmp_path / "out.npz"
    assert main(["run", str(archive), "-i", str(tmp_path / "in.npz"), "-o", str(output)]) == 2
    assert expected in capfd.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not a zip"])
def test_not_an_array_file(content: bytes, archive: Path, tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "in.npz").write_bytes(content)
    assert main(["run", str(archive), "-i", str(tmp_path / "in.npz")]) == 2
    assert "cannot be read as .npz" in capfd.readouterr().err


def test_missing_array_file(archive: Path, tmp_path: Path, capfd: Capture) -> None:
    assert main(["run", str(archive), "-i", str(tmp_path / "absent.npz")]) == 2
    assert "--inputs: file" in capfd.readouterr().err


def test_good_arrays_run(archive: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=GOOD)
    assert main(["run", str(archive), "-i", str(tmp_path / "in.npz"), "-o", str(tmp_path / "out.npz")]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["y"], np.maximum(GOOD, 4))
