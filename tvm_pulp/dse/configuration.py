"""One row of a study: a model on a variant of a SoC for a target with some options."""

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tvm_pulp.dse.model import Model, ModelContent
from tvm_pulp.dse.soc_grid import Variant


@dataclass(frozen=True)
class Configuration:
    """A model, a machine, a target and options that are compiled and simulated, and the labels of their row.

    `options` are those of `tvm_pulp.compile`; those of engines by `ENGINE.OPTION`. `varied` are the options that differ
    inside the study.
    """

    model: Model
    variant: Variant
    target: str
    options: Mapping[str, Any] = field(default_factory=dict)
    varied: tuple[str, ...] = ()

    @property
    def labels(self) -> dict[str, Any]:
        """The values that tell this row from others."""
        options = {name: self.options.get(name) for name in self.varied}
        return {
            "model": self.model.shown,
            "soc": self.variant.name,
            **self.variant.values,
            "target": self.target,
            **options,
        }

    def compile_options(self) -> dict[str, Any]:
        """Keyword arguments for `tvm_pulp.compile`, without the SoC."""
        made: dict[str, Any] = {"target": self.target}
        engines: dict[str, dict[str, Any]] = {}
        for name, value in {**self.model.options, **self.options}.items():
            engine, dot, option = name.partition(".")
            if dot:
                engines.setdefault(engine, {})[option] = value
            else:
                made[name] = value
        return {**made, "engine_options": engines} if engines else made

    def described(self, content: ModelContent) -> str:
        """Everything but the model's bytes and the SoC, as text that is the same everywhere."""
        parts = {"path": self.model.path if content.model is None else "", "options": self.compile_options()}
        return json.dumps(parts, sort_keys=True, default=str)


def option_sets(options: Mapping[str, Any], target: str) -> Iterator[dict[str, Any]]:
    """Every combination of options with several values. Those of an engine belong to targets with that engine."""
    axes = _axes(options, target)
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def count_option_sets(options: Mapping[str, Any], target: str) -> int:
    """The number of these combinations."""
    return math.prod(map(len, _axes(options, target).values()))


def _axes(options: Mapping[str, Any], target: str) -> dict[str, Sequence[Any]]:
    engines = {part.strip().removeprefix("uma-") for part in target.split(",")}
    used = {name: value for name, value in options.items() if "." not in name or name.split(".")[0] in engines}
    return {name: value if isinstance(value, list | tuple) else [value] for name, value in used.items()}


# Called with the rows that are done, all rows, and the one that has just been done (None: it was known before).
Progress = Callable[[int, int, Configuration | None], None]


def silent(_done: int, _total: int, _last: Configuration | None) -> None:
    """Show no progress."""
