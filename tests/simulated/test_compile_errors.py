"""What cannot be compiled ends with status 2 and one sentence that names the option or layer and the way out."""

import re
from pathlib import Path

import onnx
import pytest
from onnx import helper

from tvm_pulp.tvmc.main import main


def complaint(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> str:
    """The sentence that a failing `tvmc compile` prints."""
    capsys.readouterr()
    assert main(["compile", "-q", "-o", str(tmp_path / "out.tar"), *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and len(printed.err.strip().splitlines()) == 1
    assert not (tmp_path / "out.tar").exists()
    return printed.err.strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target-uma-neureka-weight_memory", "flash"], "weight_memory 'flash' is not one of auto, none, sram, mram"),
        (["--target-uma-neureka-requant=fast"], "requant 'fast' is not one of exact, native"),
        (["--target-uma-neureka-colour", "red"], "colour is unknown: its options are weight_memory, requant"),
        (["--target-uma-neureka-requant"], "--target-uma-neureka-requant needs a value"),
        (["--target-uma-other-x", "1"], "engine 'other' is not part of --target uma-neureka"),
        (["--l1", "100"], "--l1 100: at least 1024 bytes are needed"),
        (["--l1", "1000000"], r"--l1 1000000: SoC siracusa has \d+ bytes of L1 for tiles"),
        (["--l1", "much"], "--l1 'much' is no number of bytes"),
        (["--cores", "0"], "--cores 0: SoC siracusa has 1 to 8 cores"),
        (["--cores", "9"], "--cores 9: SoC siracusa has 1 to 8 cores"),
        (["--pin", "stem"], "--pin 'stem' is not NODE=ENGINE"),
        (["--pin", "nothing=neureka"], "--pin nothing=neureka: there is no layer 'nothing'"),
        (["--pin", "stem=gpu"], "engine 'gpu' is not part of this target"),
        (["--soc", "mars"], "unknown SoC 'mars': choose one of"),
        (["--soc", "siracuse"], "unknown SoC 'siracuse': did you mean 'siracusa'"),
        (["--soc", "host"], "--soc host has no engine 'neureka'"),
        (["--unknown"], "unrecognized arguments: --unknown"),
    ],
)
def test_bad_options(capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], message: str) -> None:
    assert re.search(message, complaint(capsys, tmp_path, "zoo:resnet8", "--target=uma-neureka", *arguments))


def test_a_layer_that_an_engine_refuses_cannot_be_pinned_to_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = complaint(capsys, tmp_path, "zoo:resnet8", "--target=uma-neureka", "--pin", "stack1_out=neureka")
    assert re.search(r"--pin stack1_out=neureka: (neureka cannot run this add because it has no add|there is no)", text)


@pytest.mark.parametrize("option", ["--cores=2", "--l1=65536", "--pin=stem=cluster"])
def test_options_without_effect_are_errors(capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str) -> None:
    text = complaint(capsys, tmp_path, "zoo:resnet8", "--target=c", option)
    assert f"{option.split('=')[0]} has no effect on --soc host" in text


@pytest.mark.slow
def test_too_little_l1_says_how_much_is_enough(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Following the advice leads to a program."""
    budget, asked = 1024, 0
    while True:
        arguments = ["compile", "zoo:autoencoder", "--target=c", "--soc=siracusa", f"--l1={budget}", "-q"]
        status = main([*arguments, "-o", str(tmp_path / "out.tar")])
        text = capsys.readouterr().err
        if status == 0:
            break
        match = re.search(
            r"layer '\w+' \(\w+\) needs (\d+) bytes .* \(\d+ missing\): raise --l1 to at least (\d+)", text
        )
        assert match is not None and match[1] == match[2] and int(match[2]) > budget, text
        budget, asked = int(match[2]), asked + 1
    assert asked > 0


def test_a_network_larger_than_l2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = complaint(capsys, tmp_path, "zoo:mobilenetv1_1.0_128", "--target=c", "--soc=siracusa", "--l2=100000")
    match = re.search(
        r"needs (\d+) bytes of L2 and (\d+) are available beside the code \((\d+) missing; .*\): raise --l2 to", text
    )
    assert match is not None, text
    assert int(match[1]) - int(match[2]) == int(match[3])


def test_activations_larger_than_l2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = [1, 4, 1024, 1024]
    tensors = [helper.make_tensor_value_info(name, onnx.TensorProto.INT8, picture) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "large", tensors[:1], tensors[1:])
    onnx.save(helper.make_model(graph), tmp_path / "large.onnx")
    text = complaint(capsys, tmp_path, str(tmp_path / "large.onnx"), "--target=c", "--soc=siracusa")
    assert re.search(
        r"inputs take \d{7} bytes and SoC siracusa has .* of L2 .*missing\): use smaller ones, or fewer", text
    ), text


@pytest.mark.slow
def test_weights_larger_than_the_weight_memory(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What does not fit runs on the cores; a pin that forbids it is named, with what would fit."""
    chip = tmp_path / "chip.yaml"
    chip.write_text(
        "based_on: siracusa\nname: one_part\nmemory: {weight: {size: 0x400000}}\n"
        "software: {weight_parts: {weight_mram: }}\n"
    )
    model = ("zoo:mobilenetv1_1.0_128", "--target=uma-neureka", f"--soc={chip}", "--planner=greedy")
    text = complaint(capsys, tmp_path, *model, "--pin", "block4_pointwise=neureka")
    match = re.search(r"need (\d+) bytes and the sram weight memory has 4194304 \((\d+) missing\)", text)
    assert match is not None and int(match[1]) - 4194304 == int(match[2]), text
    assert "--pin block4_pointwise=cluster" in text
    assert main(["compile", *model, "-q", "-o", str(tmp_path / "fits.tar")]) == 0


def test_an_operator_without_any_kernel(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Det", ["x"], ["y"], name="determinant")],
        "net",
        [helper.make_tensor_value_info("x", kind, [1, 4, 4])],
        [helper.make_tensor_value_info("y", kind, [1])],
    )
    path = tmp_path / "model.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    text = complaint(capsys, tmp_path, str(path), "--target=uma-neureka")
    assert "Det" in text


def test_an_integer_operator_that_nobody_knows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kind = onnx.TensorProto.INT8
    graph = helper.make_graph(
        [
            helper.make_node("iGELU", ["x"], ["a"], name="gelu", domain="PACTOps", b=-1, one=100),
            helper.make_node("Frobnicate", ["a"], ["y"], name="frob", domain="PACTOps"),
        ],
        "net",
        [helper.make_tensor_value_info("x", kind, [1, 8])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 8])],
    )
    path = tmp_path / "model.onnx"
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("PACTOps", 1)]
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    text = complaint(capsys, tmp_path, str(path), "--target=uma-neureka")
    assert "Frobnicate" in text and "frob" in text
