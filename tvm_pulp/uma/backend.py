"""`UMABackend`: an accelerator, described with upstream UMA's vocabulary on Relax."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Layer
from tvm_pulp.soc.description import Engine
from tvm_pulp.uma.pattern import Check, Pattern
from tvm_pulp.uma.recipe import Changes
from tvm_pulp.uma.region import Region
from tvm_pulp.uma.strategy import Form, Refusal, Refused

PHASES = ("pre_partition", "post_partition")
# Of a compute block that a strategy has lowered for a part of a layer; of the network's main function.
TIR_PHASES = ("compute", "pre_barriers", "post_barriers")


@dataclass(frozen=True)
class TargetAttribute:
    """An option of the engine: `--target-uma-<engine>-<name> VALUE`."""

    name: str
    default: Any
    choices: tuple[Any, ...] | None = None
    help: str = ""
    # A value that is faster, and whose results are not those of the framework to the last bit.
    inexact: Any = None

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

    `job(description, slot, address)` returns the words of one job's structure as C expressions, or its members by name
    where `job_structure` names the structure; `address(operand)` is the expression of an operand's address and `slot`
    that of the structure itself. `submit(const void *)`, `wait(void)`
    and `init(void)` are functions of the driver, declared in `header`. `files` are all its C files. Where
    `wait_job(ticket)` waits for one job only, by what `submit` returned, the planner keeps the engine's queue filled.
    An engine whose registers keep their values (`Job.contexts`) also says what a job's structure holds where only
    `Changes` are told: `changed_job(description, changes, address)`, for `submit_changed`.
    `word_fields(description)` tells what configuration words hold, by the name of the word (of its member or register,
    or its number in a list): it stands beside the word as a comment.
    Jobs end in order; `submit` returns when all but as many as the engine holds (`Job.queue`) are over. Waiting for
    what is over returns at once: debug builds wait before every step.
    """

    files: tuple[Path, ...]
    header: str
    job: Callable[[Any, str, Callable[[Any], str]], list[str] | dict[str, str]]
    submit: str
    wait: str
    init: str
    defines: tuple[str, ...] = ()
    wait_job: str | None = None
    job_structure: str = ""
    changed_job: Callable[[Any, Changes, Callable[[Any], str]], dict[str, str]] | None = None
    changed_structure: str = ""
    submit_changed: str = ""
    word_fields: Callable[[Any], dict[str, str]] | None = None

    @staticmethod
    def of_driver(name: str, files: Sequence[Path], job: Any, **more: Any) -> "Codegen":
        """Of a driver that waits for single jobs, whose header and functions begin with its name."""
        functions = {"submit": f"{name}_submit", "wait": f"{name}_wait_all", "wait_job": f"{name}_wait"}
        return Codegen(tuple(files), f"{name}.h", job, **{**functions, "init": f"{name}_init", **more})


class UMABackend:
    """Base class of all accelerators.

        from tvm_pulp import soc
        from tvm_pulp.uma.backend import UMABackend
        from tvm_pulp.uma.strategy import Refusal

        class MyBackend(UMABackend):
            def __init__(self):
                super().__init__()
                self._register_target_attr("lanes", default=4, choices=(2, 4, 8))
                self._register_relax_pass("pre_partition", lambda module: module)
                self._register_pattern("dense", dense_pattern, large_enough)
                self._register_operator_strategy("dense", dense_strategy)

            @property
            def target_name(self):
                return "my"

            @property
            def default_soc(self):
                return soc.DEFAULT  # the one that carries the engine

        def dense_pattern():
            from tvm.relax.dpl import is_op

            return is_op("tvm_pulp.qnn.dense")(varg_default_wildcard=True)

        def large_enough(match):
            return match.layer.macs >= 5000 or "it has less than 5,000 MAC"

        def dense_strategy(layer, context):
            return Refusal("my", "the forms are still to be written")  # or a list of them, see `strategy.Form`

    Compilation annotates (patterns and checks give regions, several operators deep where patterns are), chooses
    (strategies offer forms; the cheapest cover of the network wins), partitions (chosen regions become Relax functions
    with `Composite` and `Codegen`), then lowers. `post_partition` passes see the partitioned module. `register()` makes
    the target known to TVM; `partition(module)` shows what this engine alone could take, whatever it costs.
    """

    def __init__(self) -> None:
        self._attributes: dict[str, TargetAttribute] = {}
        self._patterns: dict[str, Pattern] = {}
        self._strategies: dict[str, Callable[[Layer, Any], list[Form] | Refusal]] = {}
        self._relax_passes: list[tuple[str, Any, bool]] = []
        self._tir_passes: list[tuple[str, Any]] = []
        self.codegen: Codegen | None = None
        self.model_sources: tuple[Path, ...] = ()

    # --- what an accelerator states ---------------------------------------------------------------------------

    @property
    def target_name(self) -> str:
        """Name of the engine: `--target=uma-<name>`."""
        raise NotImplementedError

    @property
    def default_soc(self) -> str:
        """The SoC that carries it: the name of a preset, or the path of a description."""
        raise NotImplementedError

    def why_not_carried(self, engine: Engine) -> str | None:
        """The reason why the engine is not the one that a SoC describes, and the way out; None: it is."""
        return None

    @property
    def variants(self) -> "tuple[UMABackend, ...]":
        """Backends of other engines that chips carry by the same name."""
        return ()

    def variant(self, engine: Engine) -> "UMABackend":
        """The backend of the engine as a SoC describes it: this one, or one of its variants."""
        return self

    def with_shared_weights(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options with which products of one row and of several read the same packed weights."""
        return options

    def context(self, options: dict[str, Any], soc: Any, cores: int) -> Any:
        """The compilation as strategies see it."""
        return options

    def _register_target_attr(
        self, name: str, default: Any, choices: Sequence[Any] | None = None, help: str = "", inexact: Any = None
    ) -> None:
        self._attributes[name] = TargetAttribute(name, default, tuple(choices) if choices else None, help, inexact)

    def _register_pattern(self, name: str, pattern: Any, check: Check | None = None) -> None:
        """Operators that the engine could run as one, and what tells whether it takes a match of them.

        Without a check it takes what the strategy of that name offers forms for.
        """
        self._patterns[name] = Pattern(name, pattern, check or partial(self._is_offered, name))

    def _is_offered(self, name: str, match: Any) -> bool | Refusal:
        found = self.offer(name, match.layer, match.context)
        return found if isinstance(found, Refusal) else True

    def limits(self, pattern: str) -> str:
        """The layers that are taken of a pattern, in the words of its check, or of its strategy where it has none."""
        check = self._patterns[pattern].check
        told = inspect.getdoc(self._strategies[pattern] if isinstance(check, partial) else check)
        return " ".join((told or "any layer").split("\n\n")[0].split())

    def _register_operator_strategy(self, name: str, strategy: Callable[[Layer, Any], list[Form] | Refusal]) -> None:
        """The function that offers forms for regions of the pattern of that name."""
        self._strategies[name] = strategy

    def _register_relax_pass(self, phase: str, transform: Any, for_soc: bool = False) -> None:
        """A pass over modules; with `for_soc` it is also told SoC and options, on which it may depend."""
        if phase not in PHASES:
            raise ValueError(f"phase '{phase}' is not one of {', '.join(PHASES)}")
        if for_soc and phase != "pre_partition":
            raise ValueError(f"only passes of pre_partition are told the SoC, not those of {phase}")
        self._relax_passes.append((phase, transform, for_soc))

    def _register_tir_pass(self, phase: str, transform: Any) -> None:
        if phase not in TIR_PHASES:
            raise ValueError(f"phase '{phase}' is not one of {', '.join(TIR_PHASES)}")
        self._tir_passes.append((phase, transform))

    def _register_codegen(self, codegen: Codegen) -> None:
        self.codegen = codegen

    def _register_model(self, sources: Sequence[Path]) -> None:
        """C sources of the simulation model behind `tvm_pulp/peripheral.h`, built on first use."""
        self.model_sources = tuple(sources)

    # --- what the compiler asks -------------------------------------------------------------------------------

    @property
    def attributes(self) -> dict[str, TargetAttribute]:
        return dict(self._attributes)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Patterns in the order of their registration; each has a strategy, and each strategy a pattern."""
        for name in self._patterns.keys() ^ self._strategies.keys():
            has, lacks = ("pattern", "strategy") if name in self._patterns else ("strategy", "pattern")
            raise ValueError(f"{type(self).__name__}: '{name}' has a {has} and no {lacks}: register both")
        return tuple(self._patterns.values())

    def has_relax_passes(self, phase: str) -> bool:
        """Tell if anything is registered for a phase."""
        return any(registered == phase for registered, _, _ in self._relax_passes)

    def run_relax_passes(self, phase: str, module: Any, soc: Any = None, options: dict[str, Any] | None = None) -> Any:
        """The canonical module after this engine's `pre_partition` passes, a partitioned one after the others.

        Without a SoC or options the passes are told the engine's default ones.
        """
        for registered, transform, for_soc in self._relax_passes:
            if registered == phase:
                told = (soc or self._carrier(), self.options({}) if options is None else options) if for_soc else ()
                module = transform(module, *told)
        return module

    def _carrier(self) -> Any:
        from tvm_pulp import soc

        return soc.load(self.default_soc)

    def run_tir_passes(self, phase: str, function: Any) -> Any:
        """The network's main function, or a compute block, after this engine's passes of one phase."""
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

    def offer(self, pattern: str, layer: Layer, context: Any) -> list[Form] | Refusal:
        """Ways to run a region of a pattern, or why there is none."""
        try:
            return self._strategies[pattern](layer, context)
        except Refused as refused:
            return Refusal(self.target_name, str(refused), refused.remedy)

    def register(self) -> None:
        """Make `uma-<name>` a target tag that TVM's own tools accept."""
        import tvm

        tvm.target.register_tag(
            f"uma-{self.target_name}", {"kind": "ext_dev", "device": self.target_name}, override=True
        )

    def partition(self, module: Any) -> Any:
        """A canonical module with everything that this engine could take in functions of its own.

        Larger regions come first, then patterns by registration; costs are not asked for. Compilation partitions by
        what planning chose among all engines (`annotate`, `partition.partition`).
        """
        from tvm_pulp.uma.annotate import annotate
        from tvm_pulp.uma.dialect_layers import dialect_layers
        from tvm_pulp.uma.partition import partition

        carrier = self._carrier()
        context = self.context(self.options({}), carrier, carrier.cluster.cores)
        module = self.run_relax_passes("pre_partition", module)
        found = annotate(dialect_layers(module), [(self, context)]).regions
        chosen: list[Region] = []
        taken: set[Any] = set()
        for region in sorted(found, key=lambda r: -len(r.layer.parts)):
            if taken.isdisjoint(region.layer.variables):
                chosen.append(region)
                taken.update(region.layer.variables)
        return self.run_relax_passes("post_partition", partition(module, chosen))
