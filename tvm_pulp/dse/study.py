"""A study: models, machines and targets, and the table of what each combination takes."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tvm_pulp import soc as socs
from tvm_pulp.compile_options import OPTIONS, check_option_names
from tvm_pulp.dse.compiler_digest import compiler_digest
from tvm_pulp.dse.configuration import Configuration, Progress, count_option_sets, option_sets, silent
from tvm_pulp.dse.evaluate import Record, compiled_key, evaluate, known_row, load_app
from tvm_pulp.dse.frame import make_frame
from tvm_pulp.dse.model import Model
from tvm_pulp.dse.row_store import RowStore
from tvm_pulp.dse.search import SearchResult, search
from tvm_pulp.dse.soc_grid import SocGrid, Variant
from tvm_pulp.errors import refuse_if
from tvm_pulp.limits import STUDY_ROWS
from tvm_pulp.soc import Soc

SocLike = str | Path | Soc | Variant | SocGrid


class Study:
    """Every model on every SoC for every target with every set of options.

    `socs` are presets, descriptions, variants or grids of them; `compile_options` are those of `tvm_pulp.compile` and
    `ENGINE.OPTION` for those of engines, a list of values makes an axis. Rows are remembered on disk by the content
    they come from, in the folder `cache` or in the build cache: what is known is not computed again, and an
    interrupted study goes on where it was.
    """

    def __init__(
        self,
        models: Sequence[Model | str | Path],
        socs: SocLike | Iterable[SocLike],
        targets: Sequence[str] = ("c",),
        compile_options: Mapping[str, Any] | None = None,
        cache: str | Path | None = None,
    ) -> None:
        self._store = RowStore(None if cache is None else Path(cache).absolute())
        self.models = [Model.of(model) for model in models]
        self.variants = _variants(socs)
        self.targets = list(targets)
        self.compile_options = dict(compile_options or {})
        for options in (self.compile_options, *(model.options for model in self.models)):
            check_option_names({name: value for name, value in options.items() if "." not in name})
            for name in options:
                refuse_if(
                    name in OPTIONS and not OPTIONS[name].in_studies,
                    f"study: option '{name}' is the study's own: use models, socs and targets",
                )
        for what, given in (("models", self.models), ("socs", self.variants), ("targets", self.targets)):
            refuse_if(not given, f"study: {what} is empty: name at least one")
        for engine in {name.split(".")[0] for name in self.compile_options if "." in name}:
            refuse_if(
                not any(f"uma-{engine}" in target.split(",") for target in self.targets),
                f"study: options of '{engine}' have no effect: no target contains uma-{engine}",
            )
        sets = sum(count_option_sets(self.compile_options, target) for target in self.targets)
        STUDY_ROWS.check(len(self.models) * len(self.variants) * sets, "study: it has")
        varied = tuple(name for name, value in self.compile_options.items() if isinstance(value, list | tuple))
        self.configurations = [
            Configuration(model, variant, target, options, varied)
            for model, variant, target in itertools.product(self.models, self.variants, self.targets)
            for options in option_sets(self.compile_options, target)
        ]
        self.rows: list[Record | None] = [None] * len(self.configurations)

    def run(
        self,
        *,
        workers: int = 1,
        scheduler: Any = None,
        simulate: bool = True,
        progress: Progress = silent,
    ) -> Any:
        """The table. One process, `workers` local ones, or those of a running Dask scheduler (address or client).

        Without `simulate` rows hold what the compiler expects, and no cycles.
        """
        refuse_if(workers < 1, f"study: workers is {workers}: at least one is needed")
        self.evaluate(range(len(self.configurations)), workers, scheduler, simulate, progress)
        return self.frame()

    def evaluate(self, wanted: Iterable[int], workers: int, scheduler: Any, simulate: bool, progress: Progress) -> None:
        """Fill in rows; those that are known cost nothing."""
        todo = []
        indices = list(wanted)
        for index in indices:
            configuration = self.configurations[index]
            self.rows[index] = known_row(configuration, configuration.model.content, self._store, simulate=simulate)
            if self.rows[index] is None:
                todo.append(index)
        done = len(indices) - len(todo)
        progress(done, len(indices), None)
        if scheduler is not None or (workers > 1 and todo):
            from tvm_pulp.dse.scale_out import evaluate_many

            results = evaluate_many([self.configurations[i] for i in todo], workers, scheduler, simulate, self._store)
            made = ((todo[position], row) for position, row in results)
        else:
            made = ((index, self._evaluate_here(index, simulate)) for index in todo)
        for index, row in made:
            self.rows[index] = row
            done += 1
            progress(done, len(indices), self.configurations[index])

    def _evaluate_here(self, index: int, simulate: bool) -> Record:
        configuration = self.configurations[index]
        content = configuration.model.content
        return evaluate(configuration, content, self._store, simulate=simulate, compiler=compiler_digest()).row

    def frame(self) -> Any:
        """The rows that are known, as a pandas DataFrame."""
        return make_frame(self.configurations, self.rows)

    def _repr_html_(self) -> str:
        from tvm_pulp.dse.rich_display import study_html

        return study_html(self.rows, self.frame())

    def app(self, index: int) -> Any:
        """The compiled network of a row, for a closer look."""
        configuration = self.configurations[index]
        content = configuration.model.content
        return load_app(configuration, content, self._store, compiled_key(configuration, content))

    def search(self, minimize: Sequence[str] = ("cycles", "area_mm2"), **how: Any) -> SearchResult:
        """A Pareto front by search instead of exhaustion; see `tvm_pulp.dse.search.search`."""
        return search(self, minimize, **how)


def _variants(given: SocLike | Iterable[SocLike]) -> list[Variant]:
    """All variants in order, each once."""
    found: list[Variant] = []
    if isinstance(given, str | Path | Soc | Variant | SocGrid):
        given = [given]
    for item in given:
        if isinstance(item, SocGrid):
            found += item.variants
        elif isinstance(item, Variant):
            found.append(item)
        else:
            found.append(Variant(item if isinstance(item, Soc) else socs.load(item)))
    return found
