"""Decoders beside an encoder: it runs once for a text, and what it makes is the same for all tokens."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.language_models.exported_decoders import (
    ENCODED,
    FEATURES,
    STYLES,
    Reference,
    encoder_of,
    exported,
    given_of,
)
from tvm_pulp.errors import UserError
from tvm_pulp.language_models.session import GenerationRequest
from tvm_pulp.tvmc.main import main

CAPACITY = 12
TEXT = np.random.default_rng(3).integers(0, 30, CAPACITY).tolist()


def shapes_of(given: dict[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in given.items()}


def compiled(content: bytes, **options: Any) -> Any:
    given = {"input_shapes": shapes_of(given_of(content)), "capacity": CAPACITY, "target": "c", "soc": "siracusa"}
    planner = {} if options.get("soc") == "host" else {"planner": "greedy"}
    return tvm_pulp.compile(onnx.load_model_from_string(content), **{**given, **planner, **options})


def check(app: Any, content: bytes, how: str, inputs: dict[str, np.ndarray], seed: int = 0) -> None:
    request = GenerationRequest(TEXT[:5], CAPACITY - 4, forced=TEXT[5:], keep_logits=True, inputs=inputs)
    found = app.generator().generate(request)
    reference = Reference(content, given_of(content, seed))
    expected = np.concatenate([reference.see([token]) for token in TEXT])
    if how == "static":
        np.testing.assert_array_equal(found.logits, expected)
    else:
        np.testing.assert_allclose(found.logits, expected, atol=2e-5)
    assert found.tokens == expected.argmax(1)[4:].tolist()


# One small decoder by default; every form with every quantization is slow.
FORMS, HOWS, PLACES = ("keys", "states", "features"), ("float", "static", "dynamic"), ("siracusa", "host")
CELLS = [
    pytest.param(*cell, marks=[] if cell == ("features", "float", "host") else pytest.mark.slow)
    for cell in product(FORMS, HOWS, PLACES)
]


@pytest.mark.parametrize(("name", "how", "soc"), CELLS)
def test_the_chip_generates_the_tokens_of_the_file(name: str, how: str, soc: str) -> None:
    content = exported(name, how)
    app = compiled(content, soc=soc)
    # Another text after the first: everything that tokens look at is made anew.
    for seed in (0, 1):
        check(app, content, how, given_of(content, seed), seed)


@pytest.mark.slow
def test_a_microcontroller_keeps_what_it_is_given() -> None:
    pytest.importorskip("unicorn")
    content = exported("states", "static")
    check(compiled(content, soc="cortex-m4", planner=None), content, "static", given_of(content))


@pytest.mark.slow
@pytest.mark.parametrize("level", ["l1", "l3"])
def test_caches_lie_elsewhere(level: str) -> None:
    content = exported("features", "static")
    check(compiled(content, state_memory=level), content, "static", given_of(content))


@pytest.mark.slow
def test_accelerators_take_their_part() -> None:
    content = exported("features", "static")
    app = compiled(content, target="uma-neureka", soc="siracusa", planner=None)
    check(app, content, "static", given_of(content))
    assert app.metadata["tvm_pulp"]["decoder"]["entries"].keys() >= {"decode", "encode"}


@pytest.mark.slow
def test_an_encoder_of_a_file_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    style, content = STYLES["states"], exported("states", "float")
    encoder, decoder = tmp_path / "encoder.onnx", tmp_path / "decoder.onnx"
    onnx.save(encoder_of(style), str(encoder))
    decoder.write_bytes(content)
    features = np.random.default_rng(5).normal(size=(1, ENCODED, FEATURES)).astype(np.float32)
    given = {"input_features": features, "encoder_attention_mask": given_of(content)["encoder_attention_mask"]}
    np.savez(tmp_path / "in.npz", **given)
    asked = ["compile", str(decoder), "--encoder", str(encoder), "--target=c", "--soc=siracusa", "--capacity", "12"]
    asked += ["--input-shapes", f"input_features:[1,{ENCODED},{FEATURES}]", "--planner", "greedy", "-q"]
    assert main([*asked, "-o", str(tmp_path / "d.tar")]) == 0
    capsys.readouterr()
    steps = ["--tokens", "6", "--inputs", str(tmp_path / "in.npz")]
    assert main(["generate", str(tmp_path / "d.tar"), "--prompt-ids", "3,1,2", *steps]) == 0
    lines = capsys.readouterr().out.splitlines()
    import onnxruntime

    states = onnxruntime.InferenceSession(str(encoder)).run(None, {"input_features": features})[0]
    reference = Reference(content, {**given_of(content), "encoder_hidden_states": states})
    assert lines[0] == ",".join(map(str, reference.greedy([3, 1, 2], 6)))
    assert lines[1].startswith("encode:  ") and lines[1].endswith(" cycles")
    # Without what the encoder reads, nothing is generated.
    assert main(["generate", str(tmp_path / "d.tar"), "--prompt-ids", "3,1,2", "--tokens", "2"]) == 2
    assert "the model also takes encoder_attention_mask, input_features" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "keys",
            {"input_shapes": {}},
            r"'past_key_values.0.encoder.key' is the same for all tokens, .* open length: fix it, --input-shapes "
            r'"past_key_values.0.encoder.key:\[1,2,encoded,12\]" with numbers$',
        ),
        (
            "keys",
            {"input_shapes": {"past_key_values.0.encoder.key": (1, 3, 7, 12)}},
            r"--input-shapes: input 'past_key_values.0.encoder.key' is .* in the file, which \[1, 3, 7, 12\] does not",
        ),
        (
            "keys",
            {"input_shapes": {"input_ids": (1, 1)}},
            r"--input-shapes: 'input_ids' is no input that is the same for all tokens .*: drop it",
        ),
        ("llama", {"encoder": "e.onnx"}, r"--encoder has no effect on a decoder that is given nothing but tokens"),
        ("states", {"encoder": "nowhere.onnx"}, r"model file 'nowhere.onnx' does not exist"),
    ],
)
def test_what_is_wrong_is_said(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        compiled(exported(name, "float"), **options)


def test_an_encoder_that_makes_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "encoder.onnx"
    onnx.save(encoder_of(STYLES["states"]), str(path))
    shapes = {"input_features": (1, ENCODED, FEATURES)}
    with pytest.raises(UserError, match=r"--encoder: its outputs \('last_hidden_state'\) are not what the decoder is"):
        compiled(exported("keys", "float"), encoder=path, input_shapes=shapes)


@pytest.mark.slow
def test_fixed_lengths_are_a_network() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    content = exported("keys", "float")
    reference = Reference(content)
    reference.see([1, 2, 3])
    feeds = reference.feed([4])
    shapes = {name: array.shape for name, array in feeds.items()}
    wanted = onnxruntime.InferenceSession(content).run(None, feeds)
    model = onnx.load_model_from_string(content)
    found = tvm_pulp.compile(model, target="uma-neureka", input_shapes=shapes).run(feeds).outputs.values()
    for made, value in zip(found, wanted, strict=True):
        np.testing.assert_allclose(made, value, rtol=1e-4, atol=1e-5)
