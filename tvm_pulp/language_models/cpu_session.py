"""Generation on a CPU by itself: emulated with instructions counted, or this machine with microseconds."""

import ctypes
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from tvm_pulp import soc as socs
from tvm_pulp.errors import WrongAnswer
from tvm_pulp.language_models.session import Generated, GenerationRequest, Generator, decoder_facts
from tvm_pulp.sim.cpu_runner import CpuRunner, Stopped
from tvm_pulp.sim.host import host_flags, host_library
from tvm_pulp.sim.open_library import OpenLibrary
from tvm_pulp.sim.runner import runner_class
from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.toolchain import build_of_archive

_LOGITS = "tvmgen_logits"


class _Emulated:
    """A program in an emulator; symbols are addresses of its memory."""

    def __init__(self, files: dict[str, bytes], metadata: dict[str, Any], device: str, tokens: int) -> None:
        runner = runner_class(device)()
        assert isinstance(runner, CpuRunner)
        runner.build(files, metadata)
        cpu, path = socs.recorded(metadata["tvm_pulp"]).cpu, runner.program()
        assert cpu is not None and path is not None
        self._program = runner.read_program(path, cpu)
        # The prompt and every token count as a layer.
        self._machine = runner.machine(self._program, cpu, tokens + 1)
        self._machine.write(self._program.symbols["tvm_pulp_inferences"], (1).to_bytes(4, "little"))
        self.write, self.read = self._machine.write, self._machine.read

    def symbol(self, name: str) -> int:
        return self._program.symbols[name]

    def run(self) -> list[int]:
        try:
            return self._machine.run()[1:]
        except Stopped as reason:
            raise WrongAnswer(f"the program stopped: {reason}: please report it with the archive") from None

    def close(self) -> None:
        self._machine.close()


class _Here:
    """A library in this process."""

    def __init__(self, files: dict[str, bytes], metadata: dict[str, Any]) -> None:
        flags = ("-DTVM_PULP_HOSTED", *host_flags(metadata["tvm_pulp"]))
        with TemporaryFolder() as folder:
            self._library = OpenLibrary(host_library(files, folder, flags))

    def symbol(self, name: str) -> int:
        return self._library.address(name)

    def write(self, address: int, data: bytes) -> None:
        ctypes.memmove(address, data, len(data))

    def read(self, address: int, count: int) -> bytes:
        return ctypes.string_at(address, count)

    def run(self) -> list[int]:
        self._library.function("tvm_pulp_network")()
        return []

    def close(self) -> None:
        self._library.close()


class CpuGenerator(Generator):
    """A built archive of a decoder for a CPU by itself; `device` runs it."""

    def __init__(self, files: dict[str, bytes], metadata: dict[str, Any], device: str) -> None:
        self.facts, self._metadata, self._device_name = decoder_facts(metadata), metadata, device
        self._files = files
        self.unit = "microseconds" if device == "host" else "instructions"

    def kept_logits(self, machine: Any, size: int) -> bytes:
        return bytes(machine.read(machine.symbol(_LOGITS), size))

    def stream(self, request: GenerationRequest) -> Iterator[int | Generated]:
        self.check(request)
        files = dict(self._files)
        if request.keep_logits:
            path = f"codegen/host/src/{self._metadata['model_name']}_generation.c"
            files[path] = b"#define TVM_PULP_KEEP_LOGITS\n" + files[path]
        with build_of_archive():
            if self._device_name == "host":
                machine: Any = _Here(files, self._metadata)
            else:
                machine = _Emulated(files, self._metadata, self._device_name, request.tokens)
        with closing(machine):
            self.write(machine, request)
            counts = machine.run()
            made = self.read(machine, request, None)
        if counts:
            made = replace(made, prefill_cycles=counts[0], step_cycles=counts[1:], encode_cycles=None)
        yield from made.tokens
        yield made
