"""The devices of `--device`: how an archive is built, loaded, run, read back and measured.

A runner is a class with an entry point of group `tvm_pulp.runners`; its name there is the device's name. A simulator or
a board that knows less than another says so in its capabilities: reports hold nulls where it measures nothing.

    class MyRunner(Runner):
        capabilities = Capabilities(cycles=True)

        def build(self, files, metadata, toolchain): ...   # archive to program
        def load(self, inputs, *, trace=False): ...        # program and inputs into the device, as after reset
        def run(self, inferences): ...                     # that many inferences of the same inputs
        def read_back(self): ...                           # outputs of the last one, in graph order
        def statistics(self): ...                          # what it took
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.sim.activity import Activity
from tvm_pulp.sim.instruments import Instruments

GROUP = "tvm_pulp.runners"


@dataclass(frozen=True)
class Capabilities:
    """Figures that a runner can tell beside the outputs."""

    cycles: bool = False
    """Cycles of the first and of the last inference."""
    layer_cycles: bool = False
    """Cycles of each layer of the last inference."""
    instructions: bool = False
    """Instructions of the last inference, in all and of each layer, where there are no cycles."""
    dma: bool = False
    """When the DMA works and when cores wait for it."""
    counters: bool = False
    """Instructions, accesses and accelerators' work: what energy is computed from."""
    trace: bool = False
    """A timeline of the run."""
    instruments: bool = False
    """Everything else of `tvm_pulp.sim.instruments`: debugger, call log, profile, checked reads."""
    cycle_limit: bool = False
    """Ends a run after a number of cycles."""
    toolchains: tuple[str, ...] = ()
    """Names that `--toolchain` takes; the first is the default."""


@dataclass(frozen=True)
class Statistics:
    """Costs of a run; None is not known."""

    build_seconds: float
    run_seconds: float
    cycles: int | None = None
    """Cluster cycles of the last inference."""
    cold_cycles: int | None = None
    """Cluster cycles of the first inference: nothing in the instruction caches."""
    inference_cycles: list[int] | None = None
    """Cluster cycles of every inference, as far as the program notes them."""
    layer_cycles: list[int] | None = None
    instructions: int | None = None
    layer_instructions: list[int] | None = None
    dma_times: Sequence[Any] | None = None
    """Of each layer: objects with `busy_cycles` and `stall_cycles`."""
    code_bytes: int | None = None
    counters: Any = None
    """As `tvm_pulp.sim.iss.RunResult`: counters of both inferences by core, DMA, L3 and accelerator, races."""
    trace: dict[str, Any] | None = None
    """In the Chrome trace format, if the run was asked for one."""
    activity: Activity | None = None
    """Everything that the actors did in the last inference."""
    latencies: Sequence[float] | None = None
    """Seconds of inferences on this machine, where it is the device."""


class Runner(ABC):
    """One device. Methods are called in the order in which they stand here, from `load` on as often as wanted."""

    capabilities: ClassVar[Capabilities] = Capabilities()
    # Cycles after which a run is ended, where the runner has such a limit; None leaves it to the runner.
    max_cycles: int | None = None
    # What a run that is loaded with `trace` shows of itself.
    instruments: Instruments = Instruments()
    # What `--device-option NAME=VALUE` takes, and what each is for.
    options: ClassVar[Mapping[str, str]] = {}
    # Those that were given, all of them in `options`; set before `build`.
    settings: Mapping[str, str] = {}

    @abstractmethod
    def build(self, files: dict[str, bytes], metadata: dict[str, Any], toolchain: str | None = None) -> None:
        """Make the archive's program; a user error where the device cannot run it."""

    @abstractmethod
    def load(self, inputs: Sequence[np.ndarray], *, trace: bool = False) -> None:
        """Bring program and inputs into the device, as after reset; with `trace`, `instruments` watch the run.

        A runner either writes the file that `instruments.trace` names or gives the trace in its statistics.
        """

    @abstractmethod
    def run(self, inferences: int) -> None:
        """Run so many inferences of the same inputs."""

    @abstractmethod
    def read_back(self) -> list[np.ndarray]:
        """Outputs of the last inference in graph order."""

    def layers(self, inputs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """Results of every layer for the inputs, by its name; of an archive that keeps them."""
        raise UserError(f"{type(self).__name__} does not show what layers make: use device iss or host")

    @abstractmethod
    def statistics(self) -> Statistics:
        """Costs of the last `run`."""

    def close(self) -> None:  # noqa: B027 (devices that hold nothing need none)
        """Give back what the device holds of this machine: memory, libraries, files; the runner is at its end.

        A runner must also do so when nobody refers to it any more.
        """

    def program(self) -> Path | None:
        """The program's file before inputs are filled in, where there is one."""
        return None

    def soc_settings(self) -> dict[str, Any]:
        """Settings of the archive's SoC, where they differ, by which it is the machine that this device is.

        The embedded simulator takes them over when both are compared.
        """
        return {}

    def revision(self) -> str | None:
        """The simulator's or board's revision, where that decides about cycles and can be told."""
        return None


# Capability -> what it puts into the statistics.
_FIGURES = {
    "cycles": ("cycles", "cold_cycles"),
    "layer_cycles": ("layer_cycles",),
    "instructions": ("instructions", "layer_instructions"),
    "dma": ("dma_times",),
    "counters": ("counters",),
}


def declared_statistics(runner: Runner) -> Statistics:
    """Costs of the last run, as far as the runner vouches for it; a figure that it declares must be there."""
    given = runner.statistics()
    unknown: dict[str, Any] = {}
    for capability, figures in _FIGURES.items():
        for figure in figures:
            if not getattr(runner.capabilities, capability):
                unknown[figure] = None
            elif getattr(given, figure) is None:
                raise RuntimeError(f"{type(runner).__name__} declares '{capability}' and does not give '{figure}'")
    return replace(given, **unknown)


def names() -> list[str]:
    """Devices that are installed."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


@cache
def runner_class(name: str) -> type[Runner]:
    """The runner of a device; a user error when there is none or it is broken."""
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            try:
                found = entry.load()
            except ImportError as error:
                raise UserError(f"--device {name}: its package cannot be loaded ({error}); reinstall it") from None
            if not (isinstance(found, type) and issubclass(found, Runner)):
                raise UserError(f"--device {name}: its entry point is not a Runner; reinstall its package")
            return found
    raise UserError(
        f"--device {name}: no runner of that name is installed: use {' or '.join(names())}, or install a package with "
        f"an entry point '{name}' in group {GROUP}"
    )


def checked_settings(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """The values that `--device-option` gave; one that the device does not know is a user error."""
    known = runner_class(name).options
    for option in given:
        if option not in known:
            way_out = f"it takes {', '.join(known)}" if known else "it takes none"
            raise UserError(f"--device-option {option}: --device {name} knows no such option: {way_out}")
    return dict(given)


def check_options(
    name: str,
    capabilities: Capabilities,
    *,
    instruments: Instruments,
    toolchain: str | None,
    max_cycles: int | None = None,
) -> None:
    """Options that a device would ignore are user errors."""
    others = [option for option in instruments.wanted() if option != "--trace" and not capabilities.instruments]
    offered = ", ".join(capabilities.toolchains)
    way_out = f"choose from {offered}" if offered else "drop it; $CC chooses the compiler of this machine"
    # Option -> whether it is ignored, and the rest of the sentence.
    ignored = {
        "--max-cycles": (max_cycles is not None and not capabilities.cycle_limit, ", which knows no limit: drop it"),
        "--trace": (instruments.trace is not None and not capabilities.trace, ", which has no trace: drop it"),
        **dict.fromkeys(others, (True, ": drop it, or use --device iss")),
        f"--toolchain {toolchain}": (toolchain not in (None, *capabilities.toolchains), f": {way_out}"),
    }
    for option, (is_ignored, rest) in ignored.items():
        if is_ignored:
            raise UserError(f"{option} has no effect on --device {name}{rest}")
