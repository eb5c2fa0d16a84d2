"""A process of `tvmc` that starts and ends without work for nobody: half of the time that importing TVM takes.

TVM loads what it knows of CUDA, Metal and others, and looks up types of its library of extras before it has loaded
that library: the error of the look-up, which nobody sees, reads all debug symbols of the process. At the end, Python
looks through a million objects for cycles although the memory is given back as a whole.
"""

import atexit
import ctypes
import gc
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

# Device backends of TVM: who wants them sets this to 1.
_BACKENDS = "TVM_DEVICE_BACKEND_AUTOLOAD"
# In the order in which they need each other, each as TVM would load it.
_LIBRARIES = {"libtvm_runtime.so": ctypes.RTLD_GLOBAL, "libtvm_runtime_extra.so": ctypes.RTLD_LOCAL}


def quick_process() -> None:
    """Prepare this process, which runs one verb and ends."""
    atexit.register(gc.freeze)
    if "tvm" not in sys.modules and os.environ.setdefault(_BACKENDS, "0") == "0":
        sys.meta_path.insert(0, _BeforeTvm())


class _BeforeTvm:
    """Loads the libraries when TVM is imported, wherever that is; most wrong uses are said before."""

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> None:
        if name == "tvm":
            sys.meta_path.remove(self)
            found = importlib.util.find_spec(name)
            folders = [Path(folder) / "lib" for folder in (found and found.submodule_search_locations) or ()]
            importlib.import_module("tvm_ffi")
            for library, mode in ((folder / file, mode) for folder in folders for file, mode in _LIBRARIES.items()):
                if library.exists():
                    ctypes.CDLL(str(library), mode)
