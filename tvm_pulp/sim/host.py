"""Device `host`: the emitted C, built by this machine's compiler and called in this process; its runner."""

import ctypes
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tvm_pulp.codegen.layer_captures import CapturedLayers, from_files
from tvm_pulp.codegen.run_function import kept_layers_symbol
from tvm_pulp.errors import UserError
from tvm_pulp.sim.runner import Capabilities, Runner, Statistics
from tvm_pulp.toolchain import build_host_library
from tvm_pulp.toolchain.project.unpack import unpack

WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True)
class HostRun:
    """Outputs in graph order, and host times in seconds."""

    outputs: list[np.ndarray]
    build_seconds: float
    run_seconds: float


def sources_of(folder: Path) -> tuple[list[Path], list[Path]]:
    """C sources and include folders of an unpacked archive."""
    sources = sorted([*folder.glob("codegen/host/src/*.c"), *folder.glob("runtime/**/*.c")])
    headers = [*folder.glob("codegen/host/include"), *folder.glob("runtime/include"), *folder.glob("runtime/math")]
    return sources, sorted(headers)


class HostDevice:
    """A built archive, ready to be called."""

    def __init__(self, files: dict[str, bytes], metadata: dict[str, Any], *, sanitize: bool = False) -> None:
        self._metadata = metadata
        self._captures = from_files(files)
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

    def kept_layers(self) -> dict[str, np.ndarray]:
        """Results of every layer in the last inference."""
        assert self._captures is not None, "the archive keeps its layers"
        function = getattr(self._library, kept_layers_symbol(self._metadata["model_name"]))
        function.restype = ctypes.c_void_p
        base, seen = function(), CapturedLayers()
        for capture in self._captures:
            seen.add(capture, ctypes.string_at(base + capture.offset, capture.bytes))
        return seen.complete()


def _pointers(arrays: list[np.ndarray]) -> Any:
    """A struct of pointers is an array of pointers."""
    return (ctypes.c_void_p * max(1, len(arrays)))(*(a.ctypes.data for a in arrays))


class HostRunner(Runner):
    """This machine, for archives of --soc host: knows outputs only."""

    capabilities: ClassVar[Capabilities] = Capabilities()
    _done: HostRun

    def build(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None = None) -> None:
        if metadata["tvm_pulp"]["soc"] != "host":
            raise UserError("--device host runs archives compiled for --soc host: recompile with --soc=host")
        assert toolchain is None, "it has none to choose from"
        self._device = HostDevice(files, metadata)

    def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None:
        self._inputs = list(inputs)

    def run(self, inferences: int) -> None:
        for _ in range(inferences):
            self._done = self._device.run(self._inputs)

    def read_back(self) -> list[np.ndarray]:
        return self._done.outputs

    def layers(self, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        self._device.run(list(inputs))
        return self._device.kept_layers()

    def statistics(self) -> Statistics:
        return Statistics(self._done.build_seconds, self._done.run_seconds)
