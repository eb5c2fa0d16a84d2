"""`UMABackend`: an accelerator, described with upstream UMA's vocabulary on Relax.

    class MyBackend(UMABackend):
        def __init__(self):
            super().__init__()
            self._register_target_attr("lanes", default=4, choices=(2, 4, 8))
            self._register_pattern("dense", is_op("tvm_pulp.qnn.dense")(...), check)
            self._register_operator_strategy("dense", dense_strategy)
            self._register_codegen(driver_sources=[...], job_type=..., job=...)

        @property
        def target_name(self):
            return "my"

`register()` makes the target known to TVM; `partition(module)` wraps what the patterns match into composite functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Layer
from tvm_pulp.uma.strategy import Form, Refusal

PHASES = ("pre_partition", "post_partition")
TIR_PHASES = ("pre_barriers", "post_barriers")


@dataclass(frozen=True)
class TargetAttribute:
    """An option of the engine: `--target-uma-<engine>-<name> VALUE`."""

    name: str
    default: Any
    choices: tuple[Any, ...] | None = None
    help: str = ""

    def parse(self, engine: str, text: Any) -> Any:
        """The value of an option text; a user error when it is none."""
        option = f"--target-uma-{engine}-{self.name}"
        kind = type(self.default)
        try:
            value = kind(text) if kind is not bool else str(text).lower() in ("1", "true", "yes", "on")
        except ValueError:
            raise UserError(f"{option} '{text}' is not of type {kind.__name__}") from None
        if self.choices is not None and value not in self.choices:
            raise UserError(f"{option} '{text}' is not one of {', '.join(map(str, self.choices))}")
        return value


@dataclass(frozen=True)
class Codegen:
    """How jobs of the engine become C.

    `job(description, slot, address)` returns the words of one `job_type` structure as C expressions; `address(operand)`
    is the expression of an operand's address and `slot` that of the structure itself. `submit(const job_type *)`,
    `wait(void)` and `init(void)` are functions of the driver, declared in `header`. `files` are all its C files. Where
    `wait_job(ticket)` waits for one job only, by what `submit` returned, the planner keeps the engine's queue filled.
    Jobs end in order; `submit` returns when all but as many as the engine holds (`Job.queue`) are over.
    """

    files: tuple[Path, ...]
    header: str
    job_type: str
    job: Callable[[Any, str, Callable[[Any], str]], list[str]]
    submit: str
    wait: str
    init: str
    defines: tuple[str, ...] = ()
    wait_job: str | None = None


class UMABackend:
    """Base class of all accelerators."""

    def __init__(self) -> None:
        self._attributes: dict[str, TargetAttribute] = {}
        self._patterns: list[tuple[str, Any, Callable[[Any], bool] | None]] = []
        self._strategies: dict[str, Callable[[Layer, Any], list[Form] | Refusal]] = {}
        self._relax_passes: list[tuple[str, Any]] = []
        self._tir_passes: list[tuple[str, Any]] = []
        self._codegen: Codegen | None = None
        self._model_sources: tuple[Path, ...] = ()

    # --- what an accelerator states ---------------------------------------------------------------------------

    @property
    def target_name(self) -> str:
        """Name of the engine: `--target=uma-<name>`."""
        raise NotImplementedError

    @property
    def default_soc(self) -> str:
        """The SoC that carries it: the name of a preset, or the path of a description."""
        raise NotImplementedError

    def context(self, options: dict[str, Any], soc: Any, cores: int) -> Any:
        """What strategies are told about the compilation."""
        return options

    def _register_target_attr(
        self, name: str, default: Any, choices: Sequence[Any] | None = None, help: str = ""
    ) -> None:
        self._attributes[name] = TargetAttribute(name, default, tuple(choices) if choices else None, help)

    def _register_pattern(self, name: str, pattern: Any, check: Callable[[Any], bool] | None = None) -> None:
        self._patterns.append((name, pattern, check))

    def _register_operator_strategy(self, name: str, strategy: Callable[[Layer, Any], list[Form] | Refusal]) -> None:
        self._strategies[name] = strategy

    def _register_relax_pass(self, phase: str, transform: Any) -> None:
        if phase not in PHASES:
            raise ValueError(f"phase '{phase}' is not one of {', '.join(PHASES)}")
        self._relax_passes.append((phase, transform))

    def _register_tir_pass(self, phase: str, transform: Any) -> None:
        if phase not in TIR_PHASES:
            raise ValueError(f"phase '{phase}' is not one of {', '.join(TIR_PHASES)}")
        self._tir_passes.append((phase, transform))

    def _register_codegen(self, codegen: Codegen) -> None:
        self._codegen = codegen

    def _register_model(self, sources: Sequence[Path]) -> None:
        """C sources of the simulation model behind `tvm_pulp/peripheral.h`, built on first use."""
        self._model_sources = tuple(sources)

    # --- what the compiler asks -------------------------------------------------------------------------------

    @property
    def attributes(self) -> dict[str, TargetAttribute]:
        return dict(self._attributes)

    @property
    def codegen(self) -> Codegen | None:
        return self._codegen

    @property
    def model_sources(self) -> tuple[Path, ...]:
        return self._model_sources

    def run_relax_passes(self, module: Any) -> Any:
        """The canonical module after this engine's `pre_partition` passes."""
        for phase, transform in self._relax_passes:
            module = transform(module) if phase == "pre_partition" else module
        return module

    def run_tir_passes(self, phase: str, function: Any) -> Any:
        """The network's main function after this engine's passes of one phase."""
        for registered, transform in self._tir_passes:
            function = transform(function) if registered == phase else function
        return function

    def options(self, given: dict[str, Any]) -> dict[str, Any]:
        """All options with their values; unknown ones are user errors."""
        for name in given:
            if name not in self._attributes:
                known = ", ".join(self._attributes) or "none"
                raise UserError(f"--target-uma-{self.target_name}-{name} is unknown: its options are {known}")
        return {
            name: a.parse(self.target_name, given[name]) if name in given else a.default
            for name, a in self._attributes.items()
        }

    def offer(self, layer: Layer, context: Any) -> list[Form] | Refusal:
        """Ways to run a layer, or why there is none."""
        strategy = self._strategies.get(layer.operator)
        if strategy is None:
            return Refusal(self.target_name, f"it has no {layer.operator}")
        return strategy(layer, context)

    def register(self) -> None:
        """Make `uma-<name>` a target tag that TVM's own tools accept."""
        import tvm

        tvm.target.register_tag(
            f"uma-{self.target_name}", {"kind": "ext_dev", "device": self.target_name}, override=True
        )

    def partition(self, module: Any) -> Any:
        """Wrap every match of the patterns into a function with attribute `Composite`."""
        from tvm import relax

        after = [t for phase, t in self._relax_passes if phase == "post_partition"]
        patterns = [
            (f"{self.target_name}.{name}", pattern, {"root": pattern}, check or (lambda _: True))
            for name, pattern, check in self._patterns
        ]
        module = relax.transform.FuseOpsByPattern(patterns)(self.run_relax_passes(module))
        for transform in after:
            module = transform(module)
        return module
