"""Inputs and outputs that lie beside a model."""

from pathlib import Path

import numpy as np
import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.mlonmcu.golden import find_golden


def test_nothing_is_stated(tmp_path: Path) -> None:
    np.savez(tmp_path / "outputs.npz", y=np.zeros(1))  # without inputs it belongs to something else
    found = find_golden(tmp_path, 0)
    assert found.inputs is None and found.outputs is None


def test_one_case_in_two_files(tmp_path: Path) -> None:
    np.savez(tmp_path / "inputs.npz", b=np.ones(2), a=np.zeros(3))
    np.savez(tmp_path / "outputs.npz", y=np.full(4, 7))
    found = find_golden(tmp_path, 0)
    assert found.inputs is not None and list(found.inputs) == ["b", "a"]
    assert found.outputs is not None and found.outputs["y"].tolist() == [7] * 4
    with pytest.raises(UserError, match="case=1"):
        find_golden(tmp_path, 1)


def test_several_cases_in_one_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "golden.npz", inputs=np.arange(6).reshape(3, 2), outputs_reference=np.arange(3))
    found = find_golden(tmp_path, 2)
    assert found.inputs is not None and found.inputs["input"].tolist() == [4, 5]
    assert found.outputs is not None and found.outputs["output"] == 2
    with pytest.raises(UserError, match="has cases 0 to 2"):
        find_golden(tmp_path, 3)


def test_named_files_win(tmp_path: Path) -> None:
    np.savez(tmp_path / "inputs.npz", x=np.zeros(1))
    np.savez(tmp_path / "others.npz", x=np.ones(1))
    found = find_golden(tmp_path, 0, tmp_path / "others.npz")
    assert found.inputs is not None and found.inputs["x"] == 1
    (tmp_path / "broken.npz").write_bytes(b"no archive")
    with pytest.raises(UserError, match="cannot be read as"):
        find_golden(tmp_path, 0, tmp_path / "broken.npz")
    with pytest.raises(UserError, match="no use without the inputs"):
        find_golden(tmp_path / "elsewhere", 0, None, tmp_path / "others.npz")
