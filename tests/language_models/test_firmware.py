"""Entry points and state in a firmware of the user: reset, rewind, a full cache, two models side by side."""

import functools
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.language_models.exported_decoders import STYLES, Reference, exported
from tests.language_models.firmware import DECODE, PREFILL, RESET, REWIND, Do, Done, Firmware
from tests.language_models.llama_in_numpy import Llama
from tests.language_models.small_decoders import CAPACITY, CHUNK, compiled, compiled_llama, weights
from tvm_pulp.api import App, CompileOptions
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.frontend.zoo.weights import DecoderWeights
from tvm_pulp.language_models.session import GenerationRequest

OK, FULL, UNKNOWN, WRONG_RUNTIME = 0, 1, 2, 3


class Expected:
    """What calls leave behind, by the independent implementation."""

    def __init__(self, model: Llama, capacity: int, vocabulary: int) -> None:
        self._model, self._capacity, self._vocabulary = model, capacity, vocabulary
        self.seen = 0

    def do(self, call: Do) -> tuple[int, int, np.ndarray | None]:
        """Status, length, and the logits where the call has made some."""
        if call.kind in (RESET, REWIND):
            self.seen = min(self.seen, 0 if call.kind == RESET else call.length)
            self._model.rewind(self.seen)
            return OK, self.seen, None
        if self.seen + len(call.tokens) > self._capacity:
            return FULL, self.seen, None
        if any(not 0 <= t < self._vocabulary for t in call.tokens):
            return UNKNOWN, self.seen, None
        self.seen += len(call.tokens)
        return OK, self.seen, [self._model.see(t) for t in call.tokens][-1]


def check(found: list[Done], calls: list[Do], *models: Expected) -> None:
    for number, (done, call) in enumerate(zip(found, calls, strict=True)):
        status, length, logits = models[call.model].do(call)
        assert (done.status, done.length) == (status, length), f"call {number}: {call}"
        if logits is not None:
            np.testing.assert_array_equal(done.logits, logits, err_msg=f"call {number}: {call}")


def text(vocabulary: int, count: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).integers(0, vocabulary, count).tolist()


def story(vocabulary: int, capacity: int, chunk: int, seed: int = 1, model: int = 0) -> list[Do]:
    """Prompts on both sides of a chunk's border, single tokens, everything forgotten and rewound, a full cache."""
    words = text(vocabulary, capacity, seed)
    calls = [Do(RESET)]
    for prompt in (1, chunk - 1, chunk, chunk + 1, 2 * chunk + 1):
        calls += [Do(RESET), Do(PREFILL, words[:prompt]), *(Do(DECODE, [t]) for t in words[prompt : prompt + 3])]
    # Another continuation from the middle of a chunk; a rewind to what was never seen changes nothing.
    calls += [Do(REWIND, length=chunk - 1), Do(DECODE, [words[-1]]), Do(REWIND, length=capacity)]
    calls += [Do(PREFILL, words[: chunk + 2])]
    # As many as fit, then one more, and more than fit at once: refused, and what was there is still there.
    calls += [Do(RESET), Do(PREFILL, words[: capacity - 1]), Do(PREFILL, words[:2]), Do(DECODE, [words[-1]])]
    calls += [Do(DECODE, [words[0]]), Do(PREFILL, words[:1])]
    calls += [Do(REWIND, length=capacity - 1), Do(DECODE, [vocabulary]), Do(DECODE, [-1]), Do(DECODE, [words[2]])]
    return [Do(c.kind, c.tokens, c.length, model) for c in calls]


LEVELS = [("uma-neureka", "l1"), ("c", "l2"), ("uma-neureka", "l3")]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("target", "level"), LEVELS)
def test_calls_in_any_order_equal_the_independent_implementation(target: str, level: str) -> None:
    shape = weights("shared_heads").shape
    calls = story(shape.vocabulary, CAPACITY, CHUNK)
    app = compiled("shared_heads", target, level)
    assert app.metadata["tvm_pulp"]["decoder"]["state_memory"] == level
    found = Firmware(app).run(calls)
    check(found, calls, Expected(Llama(weights("shared_heads")), CAPACITY, shape.vocabulary))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("target", "level"), LEVELS)
def test_a_step_writes_its_logits_and_new_rows_and_nothing_else(target: str, level: str) -> None:
    shape = weights("shared_heads").shape
    generator = compiled("shared_heads", target, level).generator()
    runs = [generator.generate(GenerationRequest([1, 2, 3], tokens)) for tokens in (4, 5, 15)]
    rows, logits = 2 * shape.layers * shape.kv_width, 4 * shape.vocabulary

    def per_step(counter: str, of: str) -> list[float]:
        """Bytes of a step near the beginning, and of the mean of later ones."""
        seen = [getattr(run.counters, of)[counter] for run in runs]
        return [seen[1] - seen[0], (seen[2] - seen[1]) / 10]

    # Out of L1 go the logits and the new rows; those in L1 come back, those in L3 go on.
    assert per_step("bytes_out", "dma") == [logits + rows] * 2
    assert per_step("bytes_written", "l3") == [rows if level == "l3" else 0] * 2
    # From L3 come as many rows as there are, three of the prompt and one of every step.
    expected = [rows * (3 + 3), rows * sum(3 + n for n in range(4, 14)) / 10] if level == "l3" else [0, 0]
    assert per_step("bytes_read", "l3") == expected


def named(name: str, module: str, model: DecoderWeights, capacity: int, chunk: int, level: str | None = None) -> App:
    options = CompileOptions(target="uma-neureka", soc="siracusa", state_memory=level)
    return compiled_llama(module, model, (capacity, chunk), options)


@functools.cache
def odd(level: str) -> App:
    return named("odd", "other", weights("odd"), 11, 3, level)


def test_a_firmware_that_leaves_too_little_l1_is_refused() -> None:
    found = Firmware(odd("l1"), l1_bytes=236 * 1024).run([Do(RESET), Do(PREFILL, [1, 2]), Do(DECODE, [3])])
    assert [(done.status, done.length) for done in found] == [(OK, 0), (WRONG_RUNTIME, 0), (WRONG_RUNTIME, 0)]


@pytest.mark.parametrize("level", ["l1", pytest.param("l3", marks=pytest.mark.slow)])
def test_two_models_in_one_firmware_do_not_meet(level: str) -> None:
    first, second, other = weights("shared_heads"), weights("odd"), odd(level)
    if level == "l3":
        # Both begin at the same place of L3 unless the firmware says otherwise.
        header = "codegen/host/include/tvmgen_other.h"
        moved = b"#define TVMGEN_OTHER_L3_STATE 6000000u\n" + other.files[header]
        other = App(other.files | {header: moved})
    apps = (compiled("shared_heads", "uma-neureka", level), other)
    # Calls of both take turns.
    stories = (story(first.shape.vocabulary, CAPACITY, CHUNK), story(second.shape.vocabulary, 11, 3, seed=2, model=1))
    calls = [call for pair in zip(*stories, strict=True) for call in pair]
    models = (
        Expected(Llama(first), CAPACITY, first.shape.vocabulary),
        Expected(Llama(second), 11, second.shape.vocabulary),
    )
    check(Firmware(*apps).run(calls), calls, *models)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["l2", "l3"])
def test_caches_of_which_l1_holds_a_part(level: str) -> None:
    """Heads are taken one by one, and a chunk's attention, whose keys are too many for its kernel, reads L2."""
    model, capacity, chunk = weights("odd"), 1040, 4
    words = text(model.shape.vocabulary, 11, 1)
    calls = [Do(RESET), Do(PREFILL, words[:6]), Do(DECODE, words[6:7]), Do(PREFILL, words[7:10])]
    calls += [Do(REWIND, length=3), Do(DECODE, words[10:])]
    options = CompileOptions(target="c", soc="siracusa", state_memory=level, l1="40k", planner="greedy")
    app = compiled_llama("small", model, (capacity, chunk), options)
    check(Firmware(app).run(calls), calls, Expected(Llama(model), capacity, model.shape.vocabulary))


@functools.cache
def small_of(name: str) -> DecoderWeights:
    """A decoder of the zoo at a fraction of its width; heads and their number as they are."""
    shape = decoders.MODELS[name].shape
    layers = type(shape)(shape.width, 1, shape.heads, shape.kv_heads, 64, 40)
    return decoders.random_decoder_of(layers, name, 3)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["llama_0.5m", "llama_4.2m"])
def test_one_layer_of_the_zoo(name: str) -> None:
    model = small_of(name)
    calls = story(model.shape.vocabulary, 19, 4)
    found = Firmware(named(name, "layer", model, 19, 4)).run(calls)
    check(found, calls, Expected(Llama(model), 19, model.shape.vocabulary))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama_0.5m", "llama_4.2m"])
def test_the_whole_zoo(name: str) -> None:
    app = tvm_pulp.compile(f"zoo:{name}", target="uma-neureka", capacity=80)
    model = decoders.build_decoder(name)
    calls = story(model.shape.vocabulary, 80, app.metadata["tvm_pulp"]["decoder"]["chunk"])
    check(Firmware(app).run(calls), calls, Expected(Llama(model), 80, model.shape.vocabulary))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how", "level"),
    [("llama", "static", "l1"), ("llama", "static", "l2"), ("llama", "static", "l3"), ("gpt", "float", "l3")],
)
def test_a_decoder_of_an_exporter(name: str, how: str, level: str, tmp_path: Path) -> None:
    path, capacity = tmp_path / "decoder.onnx", 12
    path.write_bytes(exported(name, how))
    options = {"target": "c", "soc": "siracusa", "capacity": capacity, "planner": "greedy"}
    app = tvm_pulp.compile(path, state_memory=level, **options)
    vocabulary = STYLES[name].vocabulary
    calls = story(vocabulary, capacity, app.metadata["tvm_pulp"]["decoder"]["chunk"] - 1)
    reference, seen = Reference(exported(name, how)), []  # type: tuple[Reference, list[int]]
    for done, call in zip(Firmware(app).run(calls), calls, strict=True):
        status = OK
        if call.kind in (RESET, REWIND):
            del seen[0 if call.kind == RESET else call.length :]
        elif len(seen) + len(call.tokens) > capacity:
            status = FULL
        elif any(not 0 <= t < vocabulary for t in call.tokens):
            status = UNKNOWN
        else:
            seen += call.tokens
            reference.reset()
            expected = [reference.see([t]) for t in seen][-1][0]
            # The device shows integers of the same order.
            real = (done.logits ^ ((done.logits >> 31) & 0x7FFFFFFF)).view(np.float32)
            np.testing.assert_allclose(real, expected, atol=0 if how == "static" else 1e-4)
        assert (done.status, done.length) == (status, len(seen))
