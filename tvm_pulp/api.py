"""`tvm_pulp.compile` and `.run`: the two lines most users need."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from tvm_pulp.app import App
from tvm_pulp.compilation import Compilation, Model
from tvm_pulp.compile_options import CompileOptions, check_option_names
from tvm_pulp.entry_point import Progress, silent
from tvm_pulp.explain.float_layers import float_sentence
from tvm_pulp.frontend.load import as_model
from tvm_pulp.garbage_collection import rare_garbage_collection
from tvm_pulp.live_progress import compile_progress
from tvm_pulp.result import Result

__all__ = ["App", "Compilation", "CompileOptions", "Model", "Result", "compile", "compile_with"]


def compile(
    model: Model,
    target: str = "c",
    *,
    example_inputs: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> App:
    """Compile a model file, `zoo:NAME`, or a model of PyTorch, Keras or JAX to an archive of C.

    A model of a framework is exported for `example_inputs`, a tuple of tensors. Further options are the fields of
    `CompileOptions`. `App.compilation` holds the stages: what was imported, the canonical module, the plan.

    `progress` receives one line per stage; without one, terminals and notebooks show a bar and pipes nothing.
    """
    check_option_names(options)
    stated = CompileOptions(target=target, **options)
    with compile_progress() if progress is None else nullcontext(progress) as told:
        return compile_with(as_model(model, example_inputs), stated, told)


@rare_garbage_collection()
def compile_with(model: Model, options: CompileOptions, progress: Progress = silent) -> App:
    """Compile with an options record; `progress` receives one line per stage."""
    started = time.perf_counter()
    compilation = Compilation(model, options, progress)
    progress(f"importing {model if isinstance(model, str | Path) else compilation.kind.describe('')}")
    if compilation.language_model is None:
        entry = compilation.entry
        sentence = float_sentence(entry.partitioned, entry.imported.nodes, entry.expected_cycles)
        if sentence is not None:
            progress(sentence)
    return App(compilation.files, time.perf_counter() - started, compilation)
