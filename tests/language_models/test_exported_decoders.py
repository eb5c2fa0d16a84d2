"""Decoders of exporters on the simulated chip: the tokens of onnxruntime, from one archive with two entry points."""

import functools
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.language_models.exported_decoders import STYLES, Reference, exported
from tvm_pulp.api import App
from tvm_pulp.errors import UserError
from tvm_pulp.language_models.session import GenerationRequest

CAPACITY = 12


@functools.cache
def compiled(name: str, how: str, target: str, capacity: int, folder: Path, planner: str = "greedy") -> App:
    path = folder / f"{name}_{how}.onnx"
    path.write_bytes(exported(name, how))
    return tvm_pulp.compile(path, target=target, soc="siracusa", capacity=capacity, planner=planner)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exported")


def slow(*values: str) -> object:
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("name", "how", "target"),
    [
        ("llama", "static", "c"),
        slow("llama", "unsigned", "uma-neureka"),
        slow("gpt", "static", "uma-neureka"),
        slow("shared_heads", "static", "c"),
        slow("rows_first", "static", "c"),
    ],
)
def test_every_split_of_a_text_gives_the_logits_of_the_file(name: str, how: str, target: str, folder: Path) -> None:
    text = np.random.default_rng(5).integers(0, STYLES[name].vocabulary, CAPACITY).tolist()
    reference = Reference(exported(name, how))
    expected = np.concatenate([reference.see([token]) for token in text])
    app = compiled(name, how, target, CAPACITY, folder)
    chunk = app.metadata["tvm_pulp"]["decoder"]["chunk"]
    assert 1 < chunk < CAPACITY
    # One token, both sides of a chunk's border, and a chunk that would end behind the last row.
    for prompt in (1, chunk - 1, chunk + 1, CAPACITY):
        rest = text[prompt:]
        made = app.generator().generate(GenerationRequest(text[:prompt], len(rest) + 1, forced=rest, keep_logits=True))
        np.testing.assert_array_equal(made.logits, expected, err_msg=f"prompt of {prompt}")
        assert made.tokens == expected[prompt - 1 :].argmax(1).tolist()


@pytest.mark.parametrize(("name", "how"), [slow("llama", "float"), slow("llama", "static"), slow("gpt", "static")])
def test_no_prompt_takes_longer_than_its_tokens_one_by_one(name: str, how: str, folder: Path) -> None:
    text, longest = [3, 1, 2, 5, 9, 4, 7, 8, 6, 11], 9
    app = compiled(name, how, "c", 40, folder)
    facts = app.metadata["tvm_pulp"]["decoder"]
    # Short ends have a program of their own.
    assert set(facts["entries"]) == {"decode", "prefill", "prefill_4"}
    assert facts["cuts"][:3] == [0, 1, 4] and facts["cuts"][16] == 16
    generator = app.generator()
    steps = generator.generate(GenerationRequest(text[:1], longest, forced=text[1:longest])).step_cycles
    first = generator.generate(GenerationRequest(text[:1], 1)).prefill_cycles
    for prompt in (2, 3, 4, 5, longest):
        made = generator.generate(GenerationRequest(text[:prompt], 1))
        assert made.prefill_cycles <= first + sum(steps[: prompt - 1])
    # Three tokens in one program take much less.
    assert generator.generate(GenerationRequest(text[:3], 1)).prefill_cycles < 0.8 * (first + sum(steps[:2]))


@pytest.mark.slow
def test_an_accelerator_without_work_leaves_no_trace(folder: Path) -> None:
    app = compiled("llama", "float", "uma-neureka", CAPACITY, folder)
    assert "neureka" not in app.files["codegen/host/src/default_program.c"].decode()
    assert not [path for path in app.files if path.startswith("runtime/engine/")]
    assert app.generator().generate(GenerationRequest([1, 2], 1)).tokens


@pytest.mark.slow
@pytest.mark.parametrize(("name", "how"), [("llama", "float"), ("gpt", "dynamic"), ("shared_heads", "dynamic")])
def test_real_numbers_are_close(name: str, how: str, folder: Path) -> None:
    text = np.random.default_rng(6).integers(0, STYLES[name].vocabulary, CAPACITY).tolist()
    reference = Reference(exported(name, how))
    expected = np.concatenate([reference.see([token]) for token in text])
    app = compiled(name, how, "c", CAPACITY, folder)
    made = app.generator().generate(GenerationRequest(text[:7], CAPACITY - 6, forced=text[7:], keep_logits=True))
    assert made.logits is not None
    np.testing.assert_allclose(made.logits, expected, atol=1e-4 if how == "float" else 0.05)


@pytest.mark.slow
# Those with fewer learned positions end before.
@pytest.mark.parametrize("name", [name for name, style in STYLES.items() if style.longest > 256])
def test_256_greedy_steps_with_teacher_forcing(name: str, folder: Path) -> None:
    prompt, steps = [3, 1, 2], 256
    expected = Reference(exported(name, "static")).greedy(prompt, steps)
    app = compiled(name, "static", "uma-neureka", len(prompt) + steps, folder)
    made = app.generator().generate(GenerationRequest(prompt, steps, forced=expected))
    assert np.mean(np.array(made.tokens) == np.array(expected)) >= 0.95


@pytest.mark.slow
def test_a_cache_that_exceeds_l1_is_looked_at_in_parts(folder: Path) -> None:
    path, capacity = folder / "small_l1.onnx", 96
    path.write_bytes(exported("llama", "static"))
    app = tvm_pulp.compile(path, target="c", soc="siracusa", capacity=capacity, planner="greedy", l1=12288)
    layers = app.metadata["tvm_pulp"]["decoder"]["entries"]["decode"]["layers"]
    assert "past_qdq_attention" not in {layer["op"] for layer in layers}
    text = np.random.default_rng(8).integers(0, STYLES["llama"].vocabulary, 30).tolist()
    reference = Reference(exported("llama", "static"))
    expected = np.concatenate([reference.see([token]) for token in text])
    made = app.generator().generate(GenerationRequest(text[:21], 10, forced=text[21:], keep_logits=True))
    np.testing.assert_array_equal(made.logits, expected)


def test_a_token_writes_its_rows_and_nothing_of_the_past(folder: Path) -> None:
    # The solver keeps everything else in L1.
    style, app = STYLES["llama"], compiled("llama", "static", "c", CAPACITY, folder, "solver")
    generator = app.generator()
    one, two = (generator.generate(GenerationRequest([1, 2, 3], n)).counters.dma["bytes_out"] for n in (2, 3))
    assert two - one == 2 * style.layers * style.kv_heads * style.size + 4 * style.vocabulary


def test_weights_exist_once_for_both_entry_points(folder: Path) -> None:
    files = compiled("llama", "static", "uma-neureka", CAPACITY, folder).files
    header = files["codegen/host/include/default_prefill_weights.h"].decode()
    style = STYLES["llama"]
    # Seven matrices of every layer and the last one.
    assert header.count("#define tvmgen_default_prefill_") >= 7 * style.layers + 1
    facts = compiled("llama", "static", "uma-neureka", CAPACITY, folder).metadata["tvm_pulp"]["decoder"]
    assert facts["state_bytes"] == 2 * style.layers * CAPACITY * style.kv_heads * style.size
    assert set(facts["entries"]) == {"prefill", "decode"}


@pytest.mark.slow
def test_a_machine_without_l3_generates_and_keeps_no_logits(folder: Path) -> None:
    (folder / "decoder.onnx").write_bytes(exported("llama", "static"))
    options = {"target": "c", "soc": "snitch-ita", "planner": "greedy"}
    generator = tvm_pulp.compile(folder / "decoder.onnx", capacity=CAPACITY, **options).generator()
    prompt = [3, 1, 2, 5]
    made = generator.generate(GenerationRequest(prompt, 6))
    assert made.tokens == Reference(exported("llama", "static")).greedy(prompt, 6)
    with pytest.raises(UserError, match=r"--outputs: logits of a text are kept in L3, which the SoC has not: drop it"):
        generator.check(GenerationRequest(prompt, 6, keep_logits=True))
