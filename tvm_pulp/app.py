"""A compiled network: the archive's files, its metadata, and how to run it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from tvm_pulp import soc as socs
from tvm_pulp.codegen import mlf
from tvm_pulp.codegen.formats import is_flat
from tvm_pulp.codegen.layer_captures import FILE as LAYERS_FILE
from tvm_pulp.errors import refuse_if
from tvm_pulp.language_models.tokenizer import Tokenizer, read_tokenizer
from tvm_pulp.live_progress import sample_progress
from tvm_pulp.output_files import write_output
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.report.footprint import ProgramFootprint, footprint
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.result import Result
from tvm_pulp.sim import runner as devices
from tvm_pulp.sim.instruments import Instruments
from tvm_pulp.sim.runner import Runner
from tvm_pulp.soc.this_machine import missing_instructions
from tvm_pulp.toolchain import build_of_archive
from tvm_pulp.toolchain.cpu_compilers import build_cpu_elf
from tvm_pulp.toolchain.project.build_archive import build_archive

if TYPE_CHECKING:
    from tvm_pulp.compilation import Compilation
    from tvm_pulp.language_models.session import Generator, Sampling
    from tvm_pulp.report.evaluate import Evaluation
    from tvm_pulp.report.rich_display import ShownCpuPlan, ShownPlan


class App:
    """A compiled network: the archive's files, its metadata, and how to run it.

    Devices stay built from one run to the next; `close`, or the end of a `with`, gives them back.
    """

    def __init__(
        self,
        files: dict[str, bytes],
        compile_seconds: float | None = None,
        compilation: "Compilation | None" = None,
    ) -> None:
        self.files = files
        # The stages that made it, where it was compiled in this process.
        self.compilation = compilation
        self.metadata = mlf.metadata(files)
        self._compile_seconds = compile_seconds
        self._runners: dict[tuple[str, str | None, tuple[tuple[str, str], ...]], Runner] = {}
        self._generator: Generator | None = None

    def close(self) -> None:
        """Give back devices with their memories, libraries and files. The next run builds them again."""
        runners, self._runners, self._generator = self._runners, {}, None
        for runner in runners.values():
            runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    @staticmethod
    def load(path: str | Path) -> "App":
        """Read an archive."""
        return App(mlf.read(Path(path)))

    def save(self, path: str | Path) -> None:
        """Write the archive."""
        mlf.write(Path(path), self.files)

    @property
    def plan(self) -> "ShownPlan | ShownCpuPlan":
        """The deployment plan; notebooks show it as pictures."""
        from tvm_pulp.report.rich_display import shown_plan

        return shown_plan(self.files, self.metadata)

    @cached_property
    def footprint(self) -> ProgramFootprint:
        """Flash, RAM of every memory, work, and the time and energy that are expected; the program is built for it."""
        return footprint(self.metadata, self.files, self._built() if self._has_program() else None)

    def _has_program(self) -> bool:
        """Tell if the archive is built into a program, not into a library of this machine."""
        return any(path.endswith(".ld") for path in self.files)

    def _built(self) -> Path:
        """The program as runs take it, so that one finds it built."""
        cpu = socs.recorded(self.metadata["tvm_pulp"]).cpu
        with build_of_archive():
            if cpu is not None:
                return build_cpu_elf(self.files, cpu)
            return build_archive(self.files, self.metadata, profile=True)

    def run(
        self,
        inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray] | None = None,
        *,
        device: str | None = None,
        repeat: int = 1,
        trace: str | Path | None = None,
        toolchain: str | None = None,
        max_cycles: int | None = None,
        instruments: Instruments | None = None,
        layers: bool = False,
        device_options: Mapping[str, str] | None = None,
    ) -> Result:
        """Build, run, and report. Without inputs, seeded random ones. `trace` is short for instruments with a trace.

        `layers`: also what every layer made, of a network compiled with `keep_layers`.
        """
        from tvm_pulp.report.html import RunDetails
        from tvm_pulp.report.report import run_report
        from tvm_pulp.sim.run_twice import check_same, run_twice

        facts = self.metadata["tvm_pulp"]
        refuse_if(
            layers and LAYERS_FILE not in self.files,
            "run(layers=True) has nothing to show: compile the model with keep_layers=True",
        )
        wanted = instruments or Instruments(trace=Path(trace) if trace is not None else None)
        chosen, runner, arrays = self.prepared(inputs, device, toolchain, max_cycles, wanted, device_options)
        run = run_twice(runner, self.metadata, arrays, trace=bool(wanted.wanted()))
        if wanted.trace is not None and run.statistics.trace is not None:
            write_output(wanted.trace, json.dumps(run.statistics.trace) + "\n")
        for _ in range(repeat - 1):
            again = run_twice(runner, self.metadata, arrays)
            check_same(self.metadata, run.outputs, again.outputs, "in two runs of the same input")
        outputs = {o["name"]: value for o, value in zip(facts["outputs"], run.outputs, strict=True)}
        shown = runner.layers(arrays) if layers else None
        debug = getattr(runner, "debug_text", None)
        plan = mlf.read_plan(self.files)
        details = RunDetails(self.metadata, plan, run.statistics.activity, mlf.read_cpu_plan(self.files))
        report = run_report(self.metadata, run.statistics, plan, self._compile_seconds, self._solver_seconds())
        program = runner.program() if self._has_program() else None
        report |= {"device": chosen, "device_revision": runner.revision()}
        report["footprint"] = footprint(self.metadata, self.files, program).record()
        return Result(outputs, report, debug, shown, self.compilation, arrays, details)

    def prepared(
        self,
        inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray] | None,
        device: str | None,
        toolchain: str | None,
        max_cycles: int | None,
        instruments: Instruments,
        device_options: Mapping[str, str] | None,
    ) -> tuple[str, Runner, list[np.ndarray]]:
        """The name of the device for a run, the device with the program, and the inputs as it takes them."""
        facts, name = self.metadata["tvm_pulp"], device or self.default_device()
        refuse_if("decoder" in facts, "the archive holds a language model, which takes tokens: use `tvmc generate`")
        # Options that the device would ignore are user errors.
        known = devices.runner_class(name).capabilities
        devices.check_options(name, known, instruments=instruments, toolchain=toolchain, max_cycles=max_cycles)
        arrays = prepare_inputs(facts["inputs"], inputs)
        runner = self.runner(name, toolchain, device_options)
        runner.max_cycles, runner.instruments = max_cycles, instruments
        return name, runner, arrays

    def evaluate(
        self,
        samples: Mapping[str, np.ndarray] | Sequence[np.ndarray],
        labels: np.ndarray | None = None,
        *,
        device: str | None = None,
        toolchain: str | None = None,
        max_cycles: int | None = None,
        device_options: Mapping[str, str] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> "Evaluation":
        """Run many samples, along the first axis of every array; `labels` are their classes.

        `progress` receives how many are done, and of how many; without one, terminals and notebooks show a bar.
        """
        from tvm_pulp.report.evaluate import evaluate

        _, runner, _ = self.prepared(None, device, toolchain, max_cycles, Instruments(), device_options)
        with sample_progress() if progress is None else nullcontext(progress) as told:
            return evaluate(runner, self.metadata, samples, labels, told)

    def default_device(self) -> str:
        """The device that runs the archive where none is named."""
        facts = self.metadata["tvm_pulp"]
        if facts["soc"] == "host":
            return "host"
        cpu = socs.recorded(facts).cpu if is_flat(facts) else None
        if cpu is None:
            return "iss"
        here = "host" in cpu.devices and not missing_instructions(cpu)
        return "host" if here else next(iter(cpu.devices))

    def _solver_seconds(self) -> float | None:
        """The time that planning took, where a network was planned in this process."""
        plan = self.compilation.plan if self.compilation is not None else None
        return plan.solver_seconds if isinstance(plan, Plan) and plan.planner is not None else None

    def generate(
        self,
        prompt: str | Sequence[int],
        tokens: int,
        *,
        sampling: "Sampling | None" = None,
        forced: Sequence[int] = (),
        inputs: Mapping[str, np.ndarray] | None = None,
    ) -> Iterator[int]:
        """Tokens that follow a prompt, as the simulated device produces them; `inputs`: what all tokens share."""
        from tvm_pulp.language_models.session import GenerationRequest
        from tvm_pulp.language_models.session import Sampling as Choice

        ids = self.tokenizer().encode(prompt) if isinstance(prompt, str) else list(prompt)
        request = GenerationRequest(ids, tokens, sampling or Choice(), tuple(forced), inputs=dict(inputs or {}))
        for made in self.generator().stream(request):
            if isinstance(made, int):
                yield made

    def generator(self) -> "Generator":
        """The program of a language model on the simulator, built once."""
        from tvm_pulp.language_models.cpu_session import CpuGenerator
        from tvm_pulp.language_models.session import Generator

        if self._generator is None:
            device = self.default_device()
            given = (self.files, self.metadata)
            with build_of_archive():
                self._generator = Generator(*given) if device == "iss" else CpuGenerator(*given, device)
        return self._generator

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that travels in the archive."""
        refuse_if(
            "tokenizer.json" not in self.files, "the archive holds no tokenizer: give token numbers with --prompt-ids"
        )
        return read_tokenizer(self.files["tokenizer.json"])

    def runner(self, name: str, toolchain: str | None = None, settings: Mapping[str, str] | None = None) -> Runner:
        """The device with the archive's program, built once."""
        key = (name, toolchain, tuple(sorted((settings or {}).items())))
        if key not in self._runners:
            made = devices.runner_class(name)()
            made.settings = devices.checked_settings(name, settings or {})
            made.build(self.files, self.metadata, toolchain)
            self._runners[key] = made
        return self._runners[key]
