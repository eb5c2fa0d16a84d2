"""The base of backends of convolution arrays: an option, patterns, passes before partitioning, queue, driver."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tvm_pulp.qnn.network import Layer
from tvm_pulp.soc.description import Engine
from tvm_pulp.uma import Changes, Codegen, Form, UMABackend, pattern_of
from uma_backends.conv_array.array_description import POINTERS, ArrayDescription
from uma_backends.conv_array.forms.array_form import ArrayContext
from uma_backends.conv_array.forms.average_pool import average_pool_strategy
from uma_backends.conv_array.forms.pair_sum import pair_sum_patterns, pair_sum_strategy
from uma_backends.conv_array.forms.summed import Strategy, summed_patterns, summed_strategy
from uma_backends.conv_array.job_words import pointers, word_text
from uma_backends.conv_array.modes import CONTEXTS, ModeCosts
from uma_backends.conv_array.registers import WORD_NAMES, word_fields

# Name of a pattern, what makes it, and the strategy of its regions.
Offer = tuple[str, Callable[[], Any], Strategy]
Address = Callable[[Any], str]


@dataclass(frozen=True)
class Members:
    """Members of a driver's structures: pointers of a job and of a changed one, words by number, a register's macro."""

    pointers: Sequence[str]
    changed_pointers: Sequence[str]
    words: str
    register: str
    more: Mapping[str, str] = field(default_factory=dict)  # behind the pointers, in terms of the structure's `slot`


class ArrayBackend(UMABackend):
    """An array behind a control slave with as many contexts, whose driver's functions begin with the engine's name."""

    def why_not_carried(self, engine: Engine) -> str | None:
        if engine.queue >= CONTEXTS:
            return None
        key = f"engines.{self.target_name}.queue"
        return f"the engine holds {CONTEXTS} jobs, not {key} {engine.queue}: set it to {CONTEXTS}"

    def _register_requant(self) -> None:
        self._register_target_attr(
            "requant",
            "exact",
            ("exact", "native"),
            "rounding as the framework does it, on the cores, or folded with a proven deviation",
            inexact="native",
        )

    def _register_layers(
        self, conv2d: Strategy, dense: Strategy, summed_dense: Strategy, more: Sequence[Offer] = ()
    ) -> None:
        """Patterns of convolutions, products, averages and sums; `more` stand between. Sums take their own products."""

        def conv2d_summed(region: Layer, context: ArrayContext) -> list[Form]:
            """A convolution that the cores round, and a sum with another tensor of the same shape in the same pass."""
            return summed_strategy(region, context, conv2d)

        def dense_summed(region: Layer, context: ArrayContext) -> list[Form]:
            """A product that the cores round, and a sum with another tensor of the same shape in the same pass."""
            return summed_strategy(region, context, summed_dense)

        for name, pattern, strategy in (
            ("conv2d", lambda: pattern_of("conv2d"), conv2d),
            ("dense", lambda: pattern_of("dense"), dense),
            ("avg_pool", lambda: pattern_of("avg_pool"), average_pool_strategy),
            *more,
            *((name, pattern, pair_sum_strategy) for name, pattern in pair_sum_patterns()),
            *((name, pattern, conv2d_summed) for name, pattern in summed_patterns(["conv2d"])),
            *((name, pattern, dense_summed) for name, pattern in summed_patterns(["dense"])),
        ):
            self._register_pattern(name, pattern)
            self._register_operator_strategy(name, strategy)

    def _register_driver(
        self, files: Sequence[Path], job_structure: str, submit: str, members: Members, defines: tuple[str, ...] = ()
    ) -> None:
        """A driver that tells whole jobs, of a structure and by a function so called, or what changes in them."""
        name, self._members = self.target_name, members
        self._register_codegen(
            Codegen.of_driver(
                name,
                files,
                self._whole_job,
                job_structure=f"struct {name}_{job_structure}",
                submit=f"{name}_{submit}",
                changed_job=self._changed_job,
                changed_structure=f"struct {name}_changed_job",
                submit_changed=f"{name}_submit_changed",
                word_fields=self._word_fields,
                defines=defines,
            )
        )

    def _weight_memory(self, description: ArrayDescription) -> tuple[int, str] | None:
        """The memory of their own that a job's weights lie in, as `job_words.pointers` wants it."""
        return None

    def _word(self, number: int, word: int) -> tuple[str, str]:
        """Name and value of a word behind the pointers."""
        name = f"{self.target_name.upper()}_{WORD_NAMES[POINTERS + number]}"
        return name, word_text(name, word)

    def _whole_job(self, description: ArrayDescription, slot: str, address: Address) -> dict[str, str]:
        """Members of the job's structure: pointers, and words by name."""
        places = pointers(description, address, self._weight_memory(description))
        found = {name: text for name, text in zip(self._members.pointers, places, strict=True) if text}
        found |= {name: text.format(slot=slot) for name, text in self._members.more.items()}
        for number, word in enumerate(description.words[POINTERS:]):
            if word:
                name, text = self._word(number, word)
                found[f"{self._members.words}[{name}]"] = text
        return found

    def _changed_job(self, description: ArrayDescription, changes: Changes, address: Address) -> dict[str, str]:
        """Members of the structure of a changed job: pointers, and the words that change by register."""
        places = pointers(description, address, self._weight_memory(description))
        found = {name: text for name, text in zip(self._members.changed_pointers, places, strict=True) if text}
        found["count"] = str(len(changes.registers))
        for place, register in enumerate(changes.registers):
            name, text = self._word(*register)
            found[f"changes[{place}]"] = f"{{{self._members.register}({name}), {text}}}"
        return found

    def _word_fields(self, description: ArrayDescription) -> dict[str, str]:
        found = word_fields(description.job, description.words)
        return {f"{self.target_name.upper()}_{word}": text for word, text in found.items()}


def prepare_for_array(module: Any, unsigned_only: bool, channels: int, costs: ModeCosts) -> Any:
    """The network as an array of so many channels wants it; the passes need TVM, so they are loaded on demand."""
    from uma_backends.conv_array.passes.neighbouring_pixels import NeighbouringPixels
    from uma_backends.conv_array.passes.space_to_depth import SpaceToDepthRewriter
    from uma_backends.conv_array.passes.unsigned_activations import UnsignedActivations
    from uma_backends.conv_array.passes.word_pixels import WordPixels

    steps = (
        UnsignedActivations(unsigned_only),
        SpaceToDepthRewriter(channels),
        WordPixels(),
        NeighbouringPixels(costs),
    )
    for step in steps:
        module = step.run(module)
    return module
