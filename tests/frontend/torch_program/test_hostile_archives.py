"""Files of `torch.export` are data: whatever is in one, nothing of it is executed, and the answer is one sentence."""

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.frontend.torch_program import handwritten_archives as made
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.torch_program.archive import read_archive
from tvm_pulp.frontend.torch_program.operator_targets import is_operator
from tvm_pulp.frontend.torch_program.pickled_tensors import read_saved
from tvm_pulp.frontend.torch_program.size_expressions import is_guard, is_size

GRAPH = ("graph_module", "graph")
SIGNATURE = ("graph_module", "signature")
CALL = ("graph_module", "module_call_graph", 0, "signature")
# Python that makes the file `canary` where it is evaluated.
CODE = "__import__('pathlib').Path('{}').touch()"


def _pickled(kind: str, name: str, **fields: Any) -> Callable[[Path], dict[str, bytes]]:
    payload = {"path_name": name, "is_param": False, "use_pickle": True, "tensor_meta": None, **fields}

    def make(canary: Path) -> dict[str, bytes]:
        content = pickle.dumps(made.Touch(canary)) if "opaque" in name else made.hostile_save(canary)
        listed: Any = {kind: {"config": {"w": payload}}}
        return made.archive(**listed, **{f"data/{kind}/{name}": content})

    return make


def _member(name: str) -> Callable[[Path], dict[str, bytes]]:
    return lambda canary: made.archive(**{name: made.hostile_save(canary)})


def _program(*path: Any, to: Any) -> Callable[[Path], dict[str, bytes]]:
    """The text CODE, in texts of any structure, is the code itself."""

    def make(canary: Path) -> dict[str, bytes]:
        code = json.dumps(CODE.format(canary))[1:-1]
        return made.archive(made.changed(*path, to=json.loads(json.dumps(to).replace("CODE", code))))

    return make


def _context(context: Any, kind: str = "builtins.dict") -> str:
    return json.dumps([1, {"type": kind, "context": context, "children_spec": []}])


def _call(target: str, name: str = "filename", text: str = "CODE") -> dict[str, Any]:
    return made.node(target, made.operand(name, {"as_string": text}))


PICKLE = "holds a pickle with"
ODD = "torch.export writes nothing like it"
CALLED = "nothing else is called from a file"
ENUM = json.dumps({"__enum__": True, "fqn": "antigravity:A", "name": "B"})
FACTORY = {"default_factory_module": "antigravity", "default_factory_name": "fly"}
HOSTILE: dict[str, tuple[Callable[[Path], dict[str, bytes]], str]] = {
    "sample inputs": (_member("data/sample_inputs/model.pt"), PICKLE),
    "legacy weights": (_member("data/weights/model.pt"), PICKLE),
    "legacy constants": (_member("data/constants/model.pt"), PICKLE),
    "pickled weights": (_pickled("weights", "weight_0"), PICKLE),
    "pickled constants": (_pickled("constants", "tensor_0"), PICKLE),
    "an object of C++": (_pickled("constants", "custom_obj_0"), "an object of a class"),
    "an opaque object": (_pickled("constants", "opaque_obj_0"), "an object of a class"),
    **{
        f"old {kind}": (lambda canary, k=kind: made.old_archive(canary, f"serialized_{k}.pt"), PICKLE)
        for kind in ("state_dict", "constants", "example_inputs")
    },
    "a size": (_program(*GRAPH, "tensor_values", "x", to=made.tensor_meta("CODE", 4)), ODD),
    "a stride": (_program(*GRAPH, "tensor_values", "x", "strides", 0, to={"as_expr": {"expr_str": "CODE"}}), ODD),
    "a number": (_program(*GRAPH, "sym_int_values", to={"s": {"as_expr": {"expr_str": "CODE"}}}), ODD),
    "a truth": (_program(*GRAPH, "sym_bool_values", to={"s": {"as_expr": {"expr_str": "CODE"}}}), ODD),
    "a float": (_program(*GRAPH, "sym_float_values", to={"s": {"as_expr": {"expr_str": "CODE"}}}), ODD),
    "a range": (_program("range_constraints", to={"CODE": {"min_val": 0, "max_val": 4}}), ODD),
    "a guard": (_program("guards_code", to=["CODE"]), ODD),
    "a node's name": (_program(*GRAPH, "nodes", 0, "name", to="a\n CODE\n b"), ODD),
    "an input's name": (_program(*GRAPH, "inputs", 1, to=made.named("x=CODE")), ODD),
    "a value's name": (_program(*GRAPH, "tensor_values", to={"x: CODE": made.tensor_meta(2)}), ODD),
    "an operand's name": (_program(*GRAPH, "nodes", 0, to=made.node("torch.sym_max", made.operand("a=CODE", {}))), ""),
    "an argument's name": (_program(*CALL, "forward_arg_names", to=["x=CODE"]), ODD),
    "a keyword": (_program(*CALL, "in_spec", to=_context(json.dumps(["a': CODE}#"]))), ODD),
    "an annotation": (_program(*CALL, "in_spec", to=_context(json.dumps(["a:exit()"]))), ODD),
    "an enumeration": (_program(*CALL, "out_spec", to=_context(ENUM)), ODD),
    "an enumeration in a list": (_program(*CALL, "out_spec", to=_context(f"[{ENUM}]")), ODD),
    "a factory": (_program(*CALL, "out_spec", to=_context(FACTORY, "collections.defaultdict")), ODD),
    "a module": (_program("graph_module", "module_call_graph", 0, "fqn", to='a"), CODE, ("'), ODD),
    "a parameter": (_program(*SIGNATURE, "input_specs", 0, "parameter", "parameter_name", to='w"), CODE#'), ODD),
    "a subgraph": (
        _program(*GRAPH, "nodes", 0, "inputs", 0, "arg", to={"as_graph": {"name": 'a", CODE', "graph": {}}}),
        ODD,
    ),
    "an object": (
        _program(*GRAPH, "nodes", 0, "inputs", 0, "arg", to={"as_custom_obj": {"name": "a", "class_fqn": "b"}}),
        ODD,
    ),
    "the system": (_program(*GRAPH, "nodes", 0, to=_call("torch.os.system")), CALLED),
    "a loader": (_program(*GRAPH, "nodes", 0, to=_call("torch.load", "f")), CALLED),
    "a library": (_program(*GRAPH, "nodes", 0, to=_call("torch.ops.load_library", "path")), CALLED),
    "an attribute": (_program(*GRAPH, "nodes", 0, to=_call("_operator.attrgetter", "a")), CALLED),
    "a method": (_program(*GRAPH, "nodes", 0, to=_call("torch.ops.aten.add.op", "a")), CALLED),
    "a wrapper of Triton": (
        _program(*GRAPH, "nodes", 0, to=_call("torch.ops.higher_order.triton_kernel_wrapper_mutation", "a")),
        CALLED,
    ),
    "an operand that is called": (
        _program(*GRAPH, "nodes", 0, "inputs", 0, "arg", to={"as_operator": "torch.os.system"}),
        CALLED,
    ),
    "a file that is read": (_program(*GRAPH, "nodes", 0, to=_call("torch.ops.aten.from_file.default")), "'filename'"),
    "a file that is written": (_program(*GRAPH, "nodes", 0, to=_call("torch.ops.aten.save.default")), "'filename'"),
}
DAMAGED: dict[str, tuple[Callable[[], dict[str, bytes]], str]] = {
    "no program": (lambda: made.archive(leave="models/model.json"), "not a readable program"),
    "no JSON": (lambda: made.archive(**{"models/model.json": b"{"}), "is no JSON"),
    "deep JSON": (lambda: made.archive(**{"models/model.json": b"[" * 100_000}), "is no JSON"),
    "other JSON": (lambda: made.archive([1]), "which is not read from files"),
    "a long number": (lambda: made.archive(**{"models/model.json": b"9" * 5000}), "is no JSON"),
    "two roots": (lambda: {**made.archive(), "other/models/model.json": b"{}"}, "not a readable program"),
    "only machine code": (
        lambda: made.archive(leave="models/model.json", **{"data/aotinductor/model/a.so": b"\x7fELF"}),
        "machine code of AOTInductor",
    ),
    "weights elsewhere": (
        lambda: made.archive(
            weights={"config": {"w": {**made.WEIGHTS["config"]["w"], "path_name": "../../../etc/passwd"}}}
        ),
        "lacks net/data/weights/",
    ),
    "few weights": (lambda: made.archive(**{"data/weights/weight_0": bytes(28)}), "has no values"),
    "no weights": (lambda: made.archive(**{"data/weights/weight_0": b""}), "has no values"),
    "no list of weights": (lambda: made.archive(leave="data/weights/model_weights_config.json"), "has no net/data"),
    "weights of any size": (
        lambda: made.archive(
            weights={"config": {"w": {**made.WEIGHTS["config"]["w"], "tensor_meta": made.tensor_meta(1 << 50)}}}
        ),
        "not plausible",
    ),
    "a huge value": (
        lambda: made.archive(made.changed(*GRAPH, "tensor_values", "x", to=made.tensor_meta(1 << 20, 1 << 20))),
        "not plausible",
    ),
    "a damaged pickle": (lambda: made.archive(**{"data/sample_inputs/model.pt": b"PK"}), "nothing that torch.save"),
    "a cut pickle": (lambda: made.archive(**{"data/sample_inputs/model.pt": made.saved(b"\x80\x02(")}), "damaged"),
    "an empty stack": (lambda: made.archive(**{"data/sample_inputs/model.pt": made.saved(b"\x80\x02R.")}), "damaged"),
    "a tensor beyond its storage": (
        lambda: made.archive(**{"data/sample_inputs/model.pt": made.saved(made.tensor_pickle(4, 5), key0=bytes(32))}),
        "has no values",
    ),
    "no arguments": (
        lambda: made.archive(**{"data/sample_inputs/model.pt": made.saved(b"\x80\x02]q\x00h\x00a.")}),
        "nested or repeated",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_nothing_is_executed(case: str, tmp_path: Path) -> None:
    make, text = HOSTILE[case]
    path = made.write(tmp_path / "net.pt2", make(tmp_path / "canary"))
    with pytest.raises(UserError, match=r"net\.pt2") as caught:
        read_archive(path)
    assert text in str(caught.value) and "\n" not in str(caught.value).strip()
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_archives(case: str, tmp_path: Path) -> None:
    make, text = DAMAGED[case]
    with pytest.raises(UserError, match=r"net\.pt2") as caught:
        read_archive(made.write(tmp_path / "net.pt2", make()))
    assert text in str(caught.value)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_zip_archives_that_readers_could_take_differently(tmp_path: Path) -> None:
    path = made.write(tmp_path / "net.pt2", made.archive())
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("net/models/model.json", json.dumps(made.changed("guards_code", to=["exit()"])))
    with pytest.raises(UserError, match="two files of one name"):
        read_archive(path)
    with pytest.raises(UserError, match="no regular file"):
        read_archive(Path("/dev/null"))


def test_an_archive_is_read(tmp_path: Path) -> None:
    arguments = made.saved(made.tensor_pickle(4, 4), key0=bytes(range(32)))
    path = made.write(tmp_path / "net.pt2", made.archive(**{"data/sample_inputs/model.pt": arguments}))
    found = read_archive(path)
    assert found.weights["w"].size == (2, 4) and found.weights["w"].parameter and not found.constants
    assert found.examples is not None
    (tensor,), named = found.examples
    assert (tensor.dtype, tensor.offset, tensor.size, tensor.data) == ("float32", 4, (4,), bytes(range(32)))
    assert named == {}
    # What PyTorch would paste into code, and does not need, is left out.
    (node,) = found.program["graph_module"]["graph"]["nodes"]
    assert node["metadata"] == {"nn_module_stack": "L__self__,,__main__.Net"}
    old = made.write(tmp_path / "old.pt2", made.old_archive())
    assert read_archive(old).examples is None


SIZES = [
    "Symbol('s77', positive=True, integer=True)",
    "Mul(Integer(128), Symbol('s1', positive=True, integer=True))",
    "Add(Mod(Symbol('s53', integer=True), Integer(3)), Integer(1))",
    "Max(Integer(1), FloorDiv(Symbol('s53', integer=True), Integer(2)))",
    "Pow(Symbol('s10', integer=True), Integer(2))",
    "Float('0.5', precision=53)",
    "Equality(Symbol('u0', integer=True), Integer(4))",
    "2*s1",
    "((s77 - 1)//2) + 1",
    "s0**2",
]
NO_SIZES = [
    "",
    "exit()",
    "S",
    "x",
    "s0.__class__",
    "s0 if s0 else s0",
    "lambda: s0",
    "[s0]",
    "Symbol('x')",
    "Symbol(s0)",
    "Symbol('s0', **{})",
    "Function('f')(s0)",
    "Max(*[s0])",
    "s0!",
    "0xFF",
    "1_000",
    "1j",
    "'s0'",
    "9**9**9",
    "Pow(Integer(9), Integer(999999999))",
    "(s0**60)**60",
    "LShift(Integer(1), Integer(99999999999))",
    "PowByNatural(Integer(2), Symbol('s0', integer=True))",
    "9" * 5000,
    "Float('1e99999999', precision=53)",
    "Float('1', precision=99999999)",
    "u9999999999",
    "(" * 300 + "s0" + ")" * 300,
    "s0 + " * 5000 + "s0",
    "s\u0660",
    "s0 # a",
    "s0\n",
]
GUARDS = [
    "(L['x'].size()[2] // 2) <= L['x'].size()[2]",
    "L['args'][0]['k'].stride()[1] != max(1, L['x'].size()[2] // 2)",
    "math.trunc(torch.sym_float(L['a'][0].size()[0]) ** 0.5) == 5",
    "not (L['x'].size()[0] == 1) and 2 <= L['x'].size()[0]",
]
NO_GUARDS = ["exit()", "L['x'].tolist()", "L['x'].size().__class__", "x", "L[exit()]", "L['\"']", "L['x']) or exit("]
NO_GUARDS += ["9**9**9 > 1", "torch.load('a')", "math.factorial(9999)", "L['x'].size()[L]", "L['{exit()}'].dim() == 1"]


def test_sizes_and_guards() -> None:
    assert [s for s in SIZES if not is_size(s)] == [] and [g for g in GUARDS if not is_guard(g)] == []
    assert [s for s in NO_SIZES if is_size(s)] == [] and [g for g in NO_GUARDS if is_guard(g)] == []


def test_operators() -> None:
    for good in ("torch.ops.aten._softmax.default", "torch.ops.aten.__and__.Tensor", "torch.ops.higher_order.cond"):
        assert is_operator(good)
    for bad in ("torch.ops.aten.add", "torch.ops.aten.add.__call__", "torch.ops.aten.__class__.mro", "eval"):
        assert not is_operator(bad)
    for bad in ("torch.ops.prim.Print.default", "torch.ops.inductor.x.y", "torch.hub.load", "#x:y", "math.prod"):
        assert not is_operator(bad)


def test_the_instructions_of_a_pickle_are_not_a_way_out() -> None:
    for code in (b"cbuiltins\neval\n.", b"cposix\nsystem\nX\x01\x00\x00\x00a\x85R.", b"\x82\x01.", b"(i__main__\nA\n."):
        with pytest.raises(UserError, match="nothing in a file is executed"):
            read_saved(made.saved(b"\x80\x02" + code), "it")
    # References that double thirty times.
    with pytest.raises(UserError, match="repeated"):
        read_saved(made.saved(b"\x80\x02)" + b"q\x00h\x00\x86" * 30 + b"."), "it")


@pytest.mark.torch
@pytest.mark.parametrize("case", ["sample inputs", "pickled weights", "legacy weights", "legacy constants", "a size"])
def test_command_line(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="PyTorch: scripts/test --torch installs it")
    make, text = HOSTILE[case]
    path = made.write(tmp_path / "net.pt2", make(tmp_path / "canary"))
    check_refused(tvmc(capsys, "compile", path, "-o", tmp_path / "net.tar"), [text], "compile")
    assert [p.name for p in tmp_path.iterdir()] == ["net.pt2"]


@pytest.mark.torch
def test_a_handwritten_archive_compiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="PyTorch: scripts/test --torch installs it")
    path = made.write(tmp_path / "net.pt2", made.archive())
    done = tvmc(capsys, "compile", path, "-o", tmp_path / "net.tar", "--target", "c")
    assert done.status == 0, done
