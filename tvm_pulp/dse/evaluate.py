"""Compile and simulate one configuration. Both are remembered by content, so that nothing is done twice."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvm_pulp.dse.compiler_digest import compiler_digest
from tvm_pulp.dse.configuration import Configuration
from tvm_pulp.dse.model import Model, ModelContent
from tvm_pulp.dse.row_store import RowStore
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.option_values import read_arrays
from tvm_pulp.toolchain.cache import digest_of

Record = dict[str, Any]


def compiled_key(configuration: Configuration, content: ModelContent) -> str:
    """The digest of everything that a compilation depends on; a user error where the SoC does not exist."""
    soc = configuration.variant.soc().model_dump_json()
    return digest_of(["compiled", compiler_digest(), content.digest, soc, configuration.described(content)])


def simulated_key(configuration: Configuration, compiled: str) -> str:
    """A simulation depends on the archive, on inputs, which are part of the model's content, and on the tokens."""
    model = configuration.model
    return digest_of(["simulated", compiled, f"{model.prompt} {model.tokens}"])


def known_row(configuration: Configuration, content: ModelContent, store: RowStore, *, simulate: bool) -> Record | None:
    """The row as it was made before, or None."""
    try:
        key = compiled_key(configuration, content)
    except UserError as error:
        return {"error": str(error)}
    compiled = store.record(key)
    if compiled is None or compiled.get("error") or not simulate:
        return compiled
    simulated = store.record(simulated_key(configuration, key))
    return None if simulated is None else {**compiled, **simulated}


@dataclass(frozen=True)
class Evaluated:
    """A row, and the records it is made of by their keys: whoever asked for it may keep them."""

    row: Record
    records: dict[str, Record]


def evaluate(
    configuration: Configuration, content: ModelContent, store: RowStore, *, simulate: bool, compiler: str
) -> Evaluated:
    """The row: what is known already, and what is found out now. An error of the user is a row with its sentence.

    `compiler` is the digest of the one who asks: a worker elsewhere must run the same.
    """
    refuse_if(
        compiler != compiler_digest(),
        "a worker runs another tvm_pulp than the study: install the same version on all machines",
    )
    records: dict[str, Record] = {}
    try:
        key = compiled_key(configuration, content)
        records[key] = _remembered(store, key, lambda: _compile(configuration, content, store, key))
        if simulate and not records[key].get("error"):
            run = simulated_key(configuration, key)
            records[run] = _remembered(store, run, lambda: _simulate(configuration, content, store, key))
    except UserError as error:  # there is no such SoC
        return Evaluated({"error": str(error)}, records)
    except Exception as error:  # a bug or the machine's fault: shown in its row, and tried again next time
        return Evaluated({"error": f"{type(error).__name__}: {' '.join(str(error).split())}"}, records)
    return Evaluated({name: value for record in records.values() for name, value in record.items()}, records)


def keep(done: Evaluated, store: RowStore) -> None:
    """Remember what was found out elsewhere."""
    for key, record in done.records.items():
        store.keep_record(key, record)


def _remembered(store: RowStore, key: str, make: Callable[[], Record]) -> Record:
    known = store.record(key)
    if known is not None:
        return known
    try:
        made = make()
    except UserError as error:
        made = {"error": str(error)}
    store.keep_record(key, made)
    return made


def _compile(configuration: Configuration, content: ModelContent, store: RowStore, key: str) -> Record:
    from tvm_pulp.report.report import bound_cycles
    from tvm_pulp.soc import soc_area

    started = time.perf_counter()
    app = _compiled(configuration, content, store, key)
    seconds = time.perf_counter() - started
    area, source = soc_area(configuration.variant.soc())
    facts, memory = app.metadata["tvm_pulp"], app.metadata["memory"]
    levels: Mapping[str, int | None] = memory.get("levels", {})
    layers = _layers(facts)
    planned = [layer for layer in layers if layer.get("estimated_cycles") is not None]
    return {
        "estimated_cycles": sum(layer["estimated_cycles"] for layer in planned) if planned else None,
        "bound_cycles": bound_cycles(planned),
        "macs": sum(layer["macs"] for layer in layers),
        **{f"{level}_bytes": levels.get(level) for level in ("l1", "l2", "l3", "wmem")},
        "area_mm2": area,
        "area_source": source,
        "compile_s": seconds,
        "error": None,
    }


def _compiled(configuration: Configuration, content: ModelContent, store: RowStore, key: str) -> Any:
    """The network, compiled now; its archive is kept."""
    import tvm_pulp

    options = configuration.compile_options()
    samples = _inputs(content)
    if samples:
        options["sample_inputs"] = list(samples.items())
    soc = configuration.variant.soc()
    app = tvm_pulp.compile(content.model_path(configuration.model.path), soc=soc, **options)
    store.keep_archive(key, app.save)
    return app


def _layers(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Layers of the program; of a language model those that produce one token."""
    entries = facts["decoder"]["entries"] if "decoder" in facts else None
    return list(facts["layers"] if entries is None else entries["decode"]["layers"])


def _simulate(configuration: Configuration, content: ModelContent, store: RowStore, key: str) -> Record:
    app = load_app(configuration, content, store, key)
    if "decoder" in app.metadata["tvm_pulp"]:
        return evaluate_decoder(app, configuration.model)
    from tvm_pulp.report.table import time_shares

    result = app.run(_inputs(content) or None)
    report = result.report
    digest = digest_of(part for name, array in result.outputs.items() for part in (name, array.tobytes()))
    return {
        "cycles": report["cycles"],
        "cold_cycles": report.get("cold_cycles"),
        "instructions": report["instructions"],
        "milliseconds": (report.get("latency_ms") or {}).get("best"),
        "energy_uj": report["energy_uj"],
        "energy_spread": report.get("energy_spread"),
        "code_bytes": report["code_bytes"],
        **{f"share_{engine}": share for engine, share in time_shares(report).items()},
        "outputs": digest[:16],
        "build_s": report["host"]["build_s"],
        "simulate_s": report["host"]["simulate_s"],
    }


def load_app(configuration: Configuration, content: ModelContent, store: RowStore, key: str) -> Any:
    """The compiled network of a configuration: from the cache, or compiled again where another machine did it."""
    from tvm_pulp.app import App

    archive = store.archive(key)
    return _compiled(configuration, content, store, key) if archive is None else App.load(archive)


def _inputs(content: ModelContent) -> dict[str, np.ndarray]:
    path = content.inputs_path()
    return {} if path is None else dict(read_arrays(str(path), "inputs"))


def evaluate_decoder(app: Any, model: Model) -> dict[str, Any]:
    """Figures of a run; cycles, or what a CPU counts instead, and energy are those of one token after the prompt."""
    from tvm_pulp.language_models.figures import phases
    from tvm_pulp.language_models.session import GenerationRequest
    from tvm_pulp.soc import recorded

    started = time.perf_counter()
    generator = app.generator()
    built = time.perf_counter()
    vocabulary = generator.facts["vocabulary"]
    # Any tokens will do: what a step takes does not depend on them.
    prompt = [(7 * position + 3) % vocabulary for position in range(model.prompt)]
    whole = generator.generate(GenerationRequest(prompt, model.tokens))
    first = generator.generate(GenerationRequest(prompt, 1))
    prefill, decode = phases(recorded(app.metadata["tvm_pulp"]), len(prompt), first, whole, generator.unit)
    per_token = prefill if decode is None else decode
    each = per_token.cycles // per_token.tokens
    if generator.unit == "cycles":
        counted: dict[str, Any] = {"cycles": each, "prefill_cycles": prefill.cycles}
    else:
        counted = {"instructions": each} if generator.unit == "instructions" else {"milliseconds": each / 1e3}
    return {
        **counted,
        "energy_uj": None if per_token.energy is None else per_token.energy.microjoules / per_token.tokens,
        "energy_spread": None if per_token.energy is None else per_token.energy.spread,
        "outputs": digest_of([",".join(map(str, whole.tokens))])[:16],
        "build_s": built - started,
        "simulate_s": time.perf_counter() - built,
    }
