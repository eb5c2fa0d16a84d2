"""Device `host`: the emitted C, built by this machine's compiler and called in this process; its runner."""

import ctypes
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tvm_pulp import soc as socs
from tvm_pulp.codegen.formats import is_flat
from tvm_pulp.codegen.layer_captures import captured_layers, from_files
from tvm_pulp.codegen.run_function import kept_layers_symbol
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.sim.debug_report import SYMBOL, debug_text
from tvm_pulp.sim.open_library import OpenLibrary
from tvm_pulp.sim.runner import Capabilities, Runner, Statistics
from tvm_pulp.soc.this_machine import missing_instructions
from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.toolchain import build_host_library, build_of_archive
from tvm_pulp.toolchain.project.unpack import unpack

# Inferences that are timed, and the seconds that they may take together.
_TIMED, _SECONDS = 20, 0.25
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror")


def sources_of(folder: Path) -> tuple[list[Path], list[Path]]:
    """C sources and include folders of an unpacked archive."""
    found = [*folder.glob("codegen/host/src/*.c"), *folder.glob("runtime/**/*.c")]
    # A program for an emulator brings what an operating system does else.
    aside = ("hal", "libc")
    sources = sorted(p for p in found if p.parent.name not in aside and not p.name.endswith("_program.c"))
    places = (
        "codegen/host/include",
        "runtime/include",
        "runtime/math",
        "runtime/debug",
        "runtime/kernels/*",
        "runtime/generation/include",
    )
    headers = [found for place in places for found in folder.glob(place)]
    return sources, sorted(headers)


def host_library(files: Mapping[str, bytes], folder: Path, flags: Sequence[str] = ()) -> Path:
    """The library of an archive, which is unpacked into the folder; it lies in the build cache."""
    unpack(files, folder)
    sources, headers = sources_of(folder)
    return build_host_library(sources, headers, extra_flags=(*WARNINGS, *flags))


def host_flags(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Flags for this machine of an archive with these facts; a user error where it is for another."""
    if facts["soc"] == "host":
        return ()
    cpu = socs.recorded(facts).cpu if is_flat(facts) else None
    if cpu is None or "host" not in cpu.devices:
        raise UserError("--device host runs archives compiled for --soc host: recompile with --soc=host")
    missing = missing_instructions(cpu)
    refuse_if(
        missing,
        f"this machine has no {', '.join(missing)}, which archives for SoC {facts['soc']} need: recompile with "
        "--soc=host",
    )
    return cpu.flags


class HostRunner(Runner):
    """This machine, for archives of --soc host: knows outputs and milliseconds."""

    capabilities: ClassVar[Capabilities] = Capabilities()
    _outputs: list[np.ndarray]
    _run_seconds: float
    # What the checks of a debug build found.
    debug_text: str | None = None

    def build(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None = None) -> None:
        flags = host_flags(metadata["tvm_pulp"])
        assert toolchain is None, "it has none to choose from"
        self._metadata, self._captures = metadata, from_files(files)
        started = time.perf_counter()
        with TemporaryFolder() as folder:
            # A copy of its own: two devices of one network must not share static data.
            library = folder / "network.so"
            with build_of_archive():
                shutil.copy(host_library(files, folder, flags), library)
            self._library = OpenLibrary(library)
        self._build_seconds = time.perf_counter() - started

    def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None:
        self._inputs = [np.ascontiguousarray(array) for array in inputs]

    def run(self, inferences: int) -> None:
        for _ in range(inferences):
            self._outputs, self._run_seconds = self._infer()
        self.debug_text = self._look_into_checks()

    def _look_into_checks(self) -> str | None:
        if "debug" not in self._metadata["tvm_pulp"]:
            return None
        report = self._library.address(SYMBOL)
        return debug_text(ctypes.string_at, report, pointer_bytes=ctypes.sizeof(ctypes.c_void_p))

    def _infer(self) -> tuple[list[np.ndarray], float]:
        """Outputs of one inference, and its seconds."""
        function = self._library.function(f"tvmgen_{self._metadata['model_name']}_run")
        outputs = [np.zeros(o["shape"], o["dtype"]) for o in self._metadata["tvm_pulp"]["outputs"]]
        pointers = _pointers(self._inputs), _pointers(outputs)
        started = time.perf_counter()
        status = function(*pointers)
        seconds = time.perf_counter() - started
        if status != 0:
            self._look_into_checks()
            raise RuntimeError(f"the network returned {status}")
        return outputs, seconds

    def read_back(self) -> list[np.ndarray]:
        return self._outputs

    def layers(self, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        self.load(inputs)
        self.run(1)
        function = self._library.function(kept_layers_symbol(self._metadata["model_name"]))
        function.restype = ctypes.c_void_p
        base = function()
        return captured_layers(self._captures, lambda made: ctypes.string_at(base + made.offset, made.bytes))

    def close(self) -> None:
        self._library.close()

    def statistics(self) -> Statistics:
        latencies = [self._run_seconds]
        while len(latencies) < _TIMED and sum(latencies) < _SECONDS:
            latencies.append(self._infer()[1])
        return Statistics(self._build_seconds, self._run_seconds, latencies=latencies)


def _pointers(arrays: Sequence[np.ndarray]) -> Any:
    """A struct of pointers is an array of pointers."""
    return (ctypes.c_void_p * max(1, len(arrays)))(*(a.ctypes.data for a in arrays))
