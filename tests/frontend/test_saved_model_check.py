"""SavedModels are checked before TensorFlow sees them; these are messages written by hand, without TensorFlow."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.saved_model_check import checked_saved_model
from tvm_pulp.frontend.saved_model_messages import saved_model_class
from tvm_pulp.frontend.saved_model_operators import COMPUTING, OF_CHECKPOINTS


def model(objects: Sequence[str] = ("serve",), **functions: Sequence[str]) -> Any:
    """A SavedModel of functions, which are lists of operators; nodes of small letters call functions by attribute."""
    message = saved_model_class()()
    graph = message.meta_graphs.add()
    for name, operators in functions.items():
        function = graph.graph_def.library.function.add()
        function.signature.name = name
        for operator in operators:
            add_node(function.node_def, operator)
    for name in objects:
        graph.object_graph_def.concrete_functions.add().key = name
    return message


def add_node(nodes: Any, operator: str, *inputs: str, name: str = "") -> None:
    node = nodes.add(name=name or f"a_{operator}", op=operator, input=inputs)
    if operator[0].islower():
        node.op = "StatefulPartitionedCall"
        entry = node.attr.add(key="f")
        entry.value.func.name = operator


def saved(folder: Path, message: Any) -> Path:
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    return folder


def with_saver(message: Any) -> Any:
    """As TensorFlow writes them: functions of checkpoints are called by two nodes that the saver names."""
    graph = message.meta_graphs[0]
    add_node(graph.graph_def.node, "save", name="StatefulPartitionedCall_1")
    add_node(graph.graph_def.node, "restore", name="StatefulPartitionedCall_2")
    graph.saver_def.save_tensor_name = "StatefulPartitionedCall_1:0"
    graph.saver_def.restore_op_name = "StatefulPartitionedCall_2"
    return message


CHECKPOINT = {"save": ["SaveV2", "MergeV2Checkpoints"], "restore": ["RestoreV2", "AssignVariableOp"]}


def test_what_tensorflow_writes(tmp_path: Path) -> None:
    message = with_saver(model(serve=["MatMul", "inner"], inner=["Conv2D", "While"], **CHECKPOINT))
    assert saved_model_class().FromString(checked_saved_model(saved(tmp_path, message))) == message


def _old(node: str, *inputs: str) -> Any:
    """A SavedModel of one graph, as TensorFlow 1 wrote them: a node that is restored first."""
    message = model(())
    graph = message.meta_graphs[0]
    add_node(graph.graph_def.node, "Const", name="save/Const")
    add_node(graph.graph_def.node, node, *inputs, name="restoring")
    add_node(graph.graph_def.node, "NoOp", "^restoring", name="save/restore_all")
    graph.saver_def.filename_tensor_name = "save/Const:0"
    graph.saver_def.restore_op_name = "save/restore_all"
    return message


def test_what_tensorflow_1_wrote(tmp_path: Path) -> None:
    assert checked_saved_model(saved(tmp_path, _old("RestoreV2", "save/Const")))


def _second() -> Any:
    message = model(serve=["Relu"])
    add_node(message.meta_graphs.add().graph_def.node, "WriteFile")
    return message


def _in_main(operator: str) -> Any:
    message = with_saver(model(serve=["Relu"], **CHECKPOINT))
    add_node(message.meta_graphs[0].graph_def.node, operator)
    return message


def _nested() -> Any:
    """A function in an attribute of a function in an attribute."""
    message = model(serve=["inner"], inner=["Relu"], **CHECKPOINT)
    node = message.meta_graphs[0].graph_def.library.function[0].node_def[0]
    node.attr[0].value.func.attr.add(key="g").value.list.func.add(name="restore")
    return message


def _initializer() -> Any:
    message = _old("RestoreV2", "save/Const")
    entry = message.meta_graphs[0].collection_def.add(key="saved_model_main_op")
    entry.value.node_list.value.append("writing")
    add_node(message.meta_graphs[0].graph_def.node, "SaveV2", "save/Const", name="writing")
    return message


def _function_called(name: str) -> Any:
    message = model(serve=["Relu"])
    function = message.meta_graphs[0].graph_def.library.function.add()
    function.signature.name = name
    add_node(message.meta_graphs[0].graph_def.node, name)
    return message


def _twice() -> Any:
    message = model(serve=["Relu"])
    function = message.meta_graphs[0].graph_def.library.function.add()
    function.signature.name = "serve"
    return message


OUTSIDE = ["PrintV2", "CreateSummaryFileWriter", "WriteFile", "ReadFile", "EagerPyFunc", "PyFuncStateless", "Save"]
OUTSIDE += ["XlaCustomCallV2", "TextLineDataset", "InitializeTableFromTextFileV2", "MatchingFiles", "RemoteCall"]
OUTSIDE += ["RestoreSlice", "WholeFileReaderV2", "DebugIdentityV2", "XlaSend", "TFRecordReader", "", "NoSuchOperator"]
FILES = "by the operators of checkpoints"
HOSTILE: dict[str, tuple[Callable[[], Any], str]] = {
    **{f"{op} in a function": (lambda op=op: model(serve=["Relu"], init=[op or "\0"]), op) for op in OUTSIDE},
    "an initializer": (lambda: model(("serve", "init"), serve=["Relu"], init=["PrintV2"]), "PrintV2"),
    "in the main graph": (lambda: _in_main("WriteFile"), "WriteFile"),
    "a second graph": (_second, "WriteFile"),
    "saving": (lambda: model(serve=["SaveV2"]), FILES),
    "restoring": (lambda: model(serve=["RestoreV2"]), FILES),
    "saving by another": (lambda: with_saver(model(serve=["inner"], inner=["save"], **CHECKPOINT)), FILES),
    "saving by a function in an attribute": (_nested, FILES),
    "saving in the main graph": (lambda: _in_main("SaveV2"), FILES),
    "a call to what saves": (lambda: _in_main("restore"), FILES),
    "another file restored": (lambda: _old("RestoreV2", "elsewhere"), FILES),
    "saved while restored": (lambda: _old("SaveV2", "save/Const"), FILES),
    "saved by an initializer": (_initializer, FILES),
    "a function with an operator's name": (lambda: _function_called("PrintV2"), "PrintV2"),
    "two functions of a name": (_twice, "two functions"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_nothing_reaches_out_of_the_graph(case: str, tmp_path: Path) -> None:
    make, text = HOSTILE[case]
    with pytest.raises(UserError) as caught:
        checked_saved_model(saved(tmp_path, make()))
    assert text in str(caught.value) and str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\xff" * 50, b"\x08\x01", bytes(200)])
def test_damaged(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(content)
    with pytest.raises(UserError, match=r"write it again with tf\.saved_model\.save"):
        checked_saved_model(tmp_path)


def test_the_list() -> None:
    assert len(COMPUTING) > 600 and not COMPUTING & OF_CHECKPOINTS
    touching = ("File", "Writer", "Reader", "Print", "PyFunc", "Dataset", "Summary", "Save", "Restore", "Send", "Recv")
    assert [op for op in COMPUTING if any(part in op for part in touching)] == []
