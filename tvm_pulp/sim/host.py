"""Device `host`: the emitted C, built by this machine's compiler and called in this process."""

from __future__ import annotations

import ctypes
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.toolchain import build_host_library

WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True)
class HostRun:
    """Outputs in graph order, and host times in seconds."""

    outputs: list[np.ndarray]
    build_seconds: float
    run_seconds: float


def unpack(files: dict[str, bytes], folder: Path) -> None:
    """Write the archive's files below a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def sources_of(folder: Path) -> tuple[list[Path], list[Path]]:
    """C sources and include folders of an unpacked archive."""
    sources = sorted([*folder.glob("codegen/host/src/*.c"), *folder.glob("runtime/**/*.c")])
    headers = [*folder.glob("codegen/host/include"), *folder.glob("runtime/include"), *folder.glob("runtime/math")]
    return sources, sorted(headers)


class HostDevice:
    """A built archive, ready to be called."""

    def __init__(self, files: dict[str, bytes], metadata: dict[str, Any], *, sanitize: bool = False) -> None:
        self._metadata = metadata
        self._folder = Path(tempfile.mkdtemp(prefix="tvm_pulp_"))
        started = time.perf_counter()
        try:
            unpack(files, self._folder)
            sources, headers = sources_of(self._folder)
            built = build_host_library(sources, headers, extra_flags=WARNINGS, sanitize=sanitize)
            # A copy of its own: two devices of one network must not share static data.
            library = self._folder / "network.so"
            shutil.copy(built, library)
            self._library = ctypes.CDLL(str(library))
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
        self.build_seconds = time.perf_counter() - started

    def run(self, inputs: list[np.ndarray]) -> HostRun:
        """One inference."""
        facts = self._metadata["tvm_pulp"]
        arrays = [np.ascontiguousarray(x) for x in inputs]
        results = [np.zeros(o["shape"], o["dtype"]) for o in facts["outputs"]]
        function = getattr(self._library, f"tvmgen_{self._metadata['model_name']}_run")
        started = time.perf_counter()
        status = function(_pointers(arrays), _pointers(results))
        elapsed = time.perf_counter() - started
        if status != 0:
            raise RuntimeError(f"the network returned {status}")
        return HostRun(results, self.build_seconds, elapsed)


def _pointers(arrays: list[np.ndarray]) -> Any:
    """A struct of pointers is an array of pointers."""
    return (ctypes.c_void_p * max(1, len(arrays)))(*(a.ctypes.data for a in arrays))
