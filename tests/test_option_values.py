"""Files of arrays are data: a pickle in one is refused, not run."""

import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.option_values import read_arrays, write_arrays


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> Any:
        return Path.touch, (self.canary,)


def test_objects_are_refused(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    np.savez(tmp_path / "objects.npz", x=np.array([Touch(canary)], object))
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(Touch(canary)))
    with zipfile.ZipFile(tmp_path / "inside.npz", "w") as file:
        file.writestr("x.npy", pickle.dumps(Touch(canary)))
    np.save(tmp_path / "single.npy", np.zeros(3))
    for name in ("objects.npz", "pickle.npz", "inside.npz", "single.npy"):
        with pytest.raises(UserError, match=r"--inputs: .* cannot be read as \.npz: write it with numpy\.savez"):
            read_arrays(str(tmp_path / name), "--inputs")
    assert not canary.exists()


def test_truths_are_read(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.npz", {"x": np.array([True, False])})
    ((name, array),) = read_arrays(str(tmp_path / "a.npz"), "--inputs")
    assert name == "x" and array.dtype == bool
