"""Tests of `quick_process`: what TVM need not load is not loaded, and what it looks up is there."""

import os
import subprocess
import sys
from pathlib import Path

_LOOK = """
import gc, sys
from tvm_pulp.tvmc.quick_process import quick_process
quick_process()
assert "tvm" not in sys.modules and "tvm_ffi" not in sys.modules, "loaded before it is needed"
import tvm_ffi
found, look_up = {}, tvm_ffi.core._object_type_key_to_index
def watched(name):
    found[name] = look_up(name)
    return found[name]
tvm_ffi.core._object_type_key_to_index = watched
import tvm.backend.loader
print(sorted(name for name, index in found.items() if index is None), tvm.backend.loader.is_loaded("cuda"))
print(gc.get_freeze_count())
"""


def test_quick_process() -> None:
    # No look-up of TVM's import fails, since a failing one reads all debug symbols; devices that nobody asked for stay
    # away; and nothing is frozen before the end.
    done = subprocess.run([sys.executable, "-c", _LOOK], capture_output=True, text=True, check=False)
    assert (done.stdout.split("\n"), done.stderr) == (["[] False", "0", ""], "")


_WITH_TORCH = """
from tvm_pulp.tvmc.quick_process import quick_process
quick_process()
import tvm_pulp.api, tvm
from tvm_ffi import registry
print(registry.list_global_func_names.__qualname__, tvm.__spec__.loader.get_filename("tvm") == tvm.__file__)
import torch
"""


def test_torch(tmp_path: Path) -> None:
    # PyTorch takes longer to import than all else: TVM does not find it, whoever wants it later does.
    (tmp_path / "torch.py").write_text("print('imported')")
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", _WITH_TORCH], capture_output=True, text=True, check=False, env=environment
    )
    assert (done.stdout.split("\n"), done.stderr) == (["list_global_func_names True", "imported", ""], "")
