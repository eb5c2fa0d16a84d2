"""Records of archives with a field that is missing, twice, or of another kind: one sentence, never a traceback.

Every field stands for its kind: of a list the first two entries are changed. What reading lets pass must serve the
report, the footprint and the page, too.
"""

import copy
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import onnx
import pytest

import tvm_pulp
from tests.codegen.small_networks import classifier
from tvm_pulp.app import App
from tvm_pulp.codegen import mlf
from tvm_pulp.codegen.layer_captures import captured_layers, from_files
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.language_models.session import decoder_facts
from tvm_pulp.language_models.tokenizer import read_tokenizer
from tvm_pulp.report.html import RunDetails, run_page
from tvm_pulp.report.inputs import prepare_inputs
from tvm_pulp.report.report import run_report
from tvm_pulp.sim.runner import Statistics
from tvm_pulp.soc import recorded

_DEEP: list[Any] = []
for _ in range(300):
    _DEEP = [_DEEP]
WRONG: tuple[Any, ...] = (
    *(None, -1, 0, 1 << 63, 1e308, 1.5, float("nan"), float("inf"), True),
    *("", "x" * 3000, "\ud800", "../../etc/passwd", 'a b\n"$(id)"', "cluster,c"),
    *([], {}, [[]], [1], _DEEP),
)
Files = dict[str, bytes]
_KINDS = {
    "cluster": {"soc": "siracusa"},
    "kept layers": {"soc": "siracusa", "keep_layers": True},
    "host": {"soc": "host"},
    "program": {"soc": "cortex-m4"},
}


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Files]:
    path = tmp_path_factory.mktemp("records") / "net.onnx"
    onnx.save(classifier(), path)
    made: dict[str, Files] = {}
    for kind, options in _KINDS.items():
        made[kind] = tvm_pulp.compile(path, input_types={"image": "uint8"}, **options).files  # type: ignore[arg-type]
    metadata = json.loads(made["cluster"]["metadata.json"])
    metadata["tvm_pulp"]["soc"] = "mine"
    metadata["tvm_pulp"]["soc_description"] = recorded({"soc": "siracusa"}).model_dump(mode="json") | {"name": "mine"}
    made["described"] = {**made["cluster"], "metadata.json": json.dumps(metadata).encode()}
    made["decoder"] = {**made["host"], "metadata.json": json.dumps(_with_decoder(made["host"])).encode()}
    return made


def _with_decoder(files: Files) -> dict[str, Any]:
    """The metadata of a language model around a small network."""
    metadata: dict[str, Any] = json.loads(files["metadata.json"])
    facts = metadata["tvm_pulp"]
    decoder = {"vocabulary": 16, "capacity": 8, "chunk": 1, "cuts": [0, 1], "logits": "int32", "logit_step": 0.5}
    given = [{"name": "what", "symbol": "what", "shape": [2, 3], "dtype": "int8"}]
    more = {"state_bytes": 1, "state_memory": "l2", "keeps_logits": True, "encodes": False, "given": given}
    decoder |= more | {"entries": {"decode": {"layers": facts["layers"], "memory": metadata["memory"]}}}
    return {**metadata, "tvm_pulp": {**facts, "inputs": [], "outputs": [], "decoder": decoder}}


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from _places(inner, (*path, key))


def mutants(record: Any, step: int, most: int = 2) -> Iterator[bytes]:
    """The record without each field, with it twice, and with everything in its place that does not belong there; of
    these each `step`."""
    turns = itertools.cycle(range(step))
    seen: Counter[tuple[Any, ...]] = Counter()
    for path in _places(record):
        kind = tuple("*" if isinstance(key, int) else key for key in path)
        seen[kind] += 1
        if seen[kind] > most:
            continue
        for wrong in (*WRONG, "drop", "twice"):
            if next(turns):
                continue
            changed = copy.deepcopy(record)
            parent = changed
            for key in path[:-1]:
                parent = parent[key]
            if wrong == "drop":
                del parent[path[-1]]
            elif wrong == "twice":
                again = copy.deepcopy(parent[path[-1]])
                parent.append(again) if isinstance(parent, list) else parent.update({f"{path[-1]}2": again})
            else:
                parent[path[-1]] = wrong
            yield json.dumps(changed).encode()


def use(files: Files) -> None:
    """Everything that is made of an archive's records without building it."""
    app = App(files)
    facts = app.metadata["tvm_pulp"]
    prepare_inputs(facts["inputs"], None)
    app.default_device()
    if "decoder" in facts:
        prepare_inputs(decoder_facts(app.metadata)["given"], None)
        return
    captured = from_files(files)
    if captured is not None:
        captured_layers(captured, lambda made: bytes(made.bytes))
    plan = mlf.read_plan(files)
    layers = len(facts["layers"])
    counted = dict.fromkeys(("layer_cycles", "layer_instructions"), [1] * layers)
    flat = "cores" not in facts
    cycles = {} if flat else {"cycles": 100, "cold_cycles": 100, "layer_cycles": counted["layer_cycles"]}
    report = run_report(app.metadata, Statistics(0.1, 0.1, **cycles), plan)  # type: ignore[arg-type]
    run_page(report, RunDetails(app.metadata, plan, None), "page")


def _check(files: Files, name: str, step: int) -> None:
    """Every mutant of a file, or each of so many, is used or refused in one sentence; most are refused."""
    outcomes: Counter[bool] = Counter()
    for number, text in enumerate(mutants(json.loads(files[name]), step)):
        try:
            use({**files, name: text})
            outcomes[True] += 1
        except UserError as error:
            outcomes[False] += 1
            assert len(str(error)) < 600 and "\n" not in str(error), error
        except Exception as error:
            raise AssertionError(f"mutant {number} of {name}: {error!r}") from error
    assert outcomes[True] and outcomes[False] > outcomes[True], outcomes


# Kinds of archives with a file of each, and how many mutants the quick run leaves out.
CASES = [
    ("cluster", "metadata.json", 37),
    ("cluster", "plan.json", 601),
    ("kept layers", "layers.json", 5),
    ("host", "metadata.json", 23),
    ("program", "metadata.json", 29),
    ("described", "metadata.json", 499),
    ("decoder", "metadata.json", 53),
]


@pytest.mark.parametrize(("kind", "name", "step"), CASES)
def test_a_wrong_field_is_one_sentence(kind: str, name: str, step: int, archives: dict[str, Files]) -> None:
    use(archives[kind])
    _check(archives[kind], name, step)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name", "_step"), CASES)
def test_every_wrong_field_is_one_sentence(kind: str, name: str, _step: int, archives: dict[str, Files]) -> None:
    _check(archives[kind], name, 1)


NO_RECORDS = {
    "deep": b'{"version": 7, "tvm_pulp": ' + b"[" * 100_000,
    "a list": b"[]",
    "null": b"null",
    "no text": b"\xff\xfe",
    "empty": b"",
    "a number of many digits": b'{"version": ' + b"7" * 5000 + b"}",
    "a lone surrogate": b'{"version": 7, "tvm_pulp": {}, "model_name": "\\ud800"}',
    "not a number": b'{"version": 7, "tvm_pulp": {}, "model_name": NaN}',
    "infinity": b'{"version": 7, "tvm_pulp": {}, "more": 1e999}',
}


@pytest.mark.parametrize("what", NO_RECORDS)
@pytest.mark.parametrize("name", ["metadata.json", "plan.json", "layers.json", "tokenizer.json"])
def test_texts_that_are_no_record(what: str, name: str, archives: dict[str, Files]) -> None:
    if (what, name) == ("a list", "layers.json"):
        pytest.skip("nothing is kept")
    files = {**archives["kept layers"], name: NO_RECORDS[what]}
    with pytest.raises(UserError, match=r"archive's|tokenizer"):
        read_tokenizer(files[name]) if name == "tokenizer.json" else use(files)


def _changed(files: Files, **facts: Any) -> Files:
    metadata = json.loads(files["metadata.json"])
    metadata["tvm_pulp"] |= facts
    return {**files, "metadata.json": json.dumps(metadata).encode()}


def test_facts_that_do_not_fit_together(archives: dict[str, Files], tmp_path: Path) -> None:
    cluster, host = archives["cluster"], archives["host"]
    facts = json.loads(cluster["metadata.json"])["tvm_pulp"]
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    wrong = [
        _changed(cluster, march="rv64gc"),
        _changed(cluster, cores=9),
        _changed(cluster, soc="host"),
        _changed(cluster, soc=str(tmp_path / "mine.yaml")),
        _changed(cluster, soc="cortex-m4", flat=True, outputs=[{**facts["outputs"][0], "symbol": None}]),
        _changed(cluster, inputs=facts["inputs"] * 2),
        _changed(cluster, outputs=facts["outputs"] * 2),
        _changed(cluster, soc_description={}),
        _changed(cluster, soc_description={"name": "mine", "software": {"flags": ["-fplugin=evil.so"]}}),
        _changed(host, soc="siracusa"),
        _changed(host, decoder=None),
        _changed(host, decoder={"capacity": 3}),
    ]
    flags = ("-include", "-specs=x", "-fplugin=x", "-Wl,-T,x", "-Bx", "@x", "-fdump-tree-all=x", "-O2 -v")
    wrong += [_changed(cluster, flags=[flag]) for flag in flags]
    for number, files in enumerate(wrong):
        with pytest.raises(UserError):
            use(files)
            pytest.fail(f"case {number} was taken")


@pytest.mark.parametrize(
    "edit", [lambda kernel: kernel.pop("cold_cycles"), lambda kernel: kernel.update(cold_cycles=None)]
)
def test_code_of_kernels_without_its_cycles(edit: Callable[[dict[str, Any]], None], archives: dict[str, Files]) -> None:
    plan = json.loads(archives["cluster"]["plan.json"])
    kernels = [a for step in plan["program"] for a in step["actions"] if a["do"] == "kernel" and a.get("code")]
    edit(kernels[0])
    with pytest.raises(UserError, match=r"step [0-9]+: a kernel's code takes cycles to fetch"):
        use({**archives["cluster"], "plan.json": json.dumps(plan).encode()})


def test_tokenizers() -> None:
    data = decoders.tokenizer_file("story_llama")
    assert data is not None
    record = json.loads(data)
    model = record["model"]
    record["model"] = {**model, "merges": model["merges"][:3], "vocab": dict(list(model["vocab"].items())[:2])}
    outcomes: Counter[bool] = Counter()
    for text in mutants(record, 5, 1):
        try:
            made = read_tokenizer(text)
            with suppress(UserError):  # a character without a token
                made.encode("ab")
            made.decode([0, 1])
            outcomes[True] += 1
        except UserError:
            outcomes[False] += 1
    assert min(outcomes[True], outcomes[False]) > 20, outcomes
