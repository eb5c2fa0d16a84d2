"""SavedModels before TensorFlow reads them: loading one runs functions of it, such as those that fill its tables."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import MOST_NODES, read_file
from tvm_pulp.frontend.saved_model_messages import saved_model_class
from tvm_pulp.frontend.saved_model_operators import COMPUTING, OF_CHECKPOINTS

# A function may be called by a node whose operator is the function's name; operators begin with a capital letter.
_FUNCTION_NAME = re.compile(r"_*[a-z].*", re.DOTALL)
# Nodes that an old SavedModel runs when it is loaded.
_INITIALIZERS = ("saved_model_main_op", "legacy_init_op")


def checked_saved_model(path: Path) -> bytes:
    """The content of `saved_model.pb`, of allowed operators only, for a reader that then has no need of the file."""
    content = read_file(path / "saved_model.pb", "is larger than 2 GiB: no SavedModel is")
    message = saved_model_class()()
    try:
        message.ParseFromString(content)
    except Exception:  # protocol buffers' own class, or too deep a recursion
        raise UserError(f"'{path}' is no readable SavedModel: write it again with tf.saved_model.save") from None
    refuse_if(not message.meta_graphs, f"'{path}' holds no graph: write it again with tf.saved_model.save")
    for graph in message.meta_graphs:
        _Checked(graph, f"'{path}'").check(alone=len(message.meta_graphs) == 1)
    # Written anew, there is one way to read it.
    return bytes(message.SerializeToString())


class _Checked:
    """One graph with the functions in it."""

    def __init__(self, graph: Any, what: str) -> None:
        self._graph = graph
        self._what = what
        self._functions: dict[str, Any] = {f.signature.name: f for f in graph.graph_def.library.function}
        names = (len(self._functions), len(graph.graph_def.library.function))
        refuse_if(names[0] != names[1], f"{what} holds two functions of one name: write it again")

    def check(self, alone: bool) -> None:
        """Raise for an operator that is not allowed where it is."""
        main = list(self._graph.graph_def.node)
        nodes = [*main, *(n for f in self._functions.values() for n in f.node_def)]
        refuse_if(len(nodes) > 4 * MOST_NODES, f"{self._what} has {len(nodes)} nodes: it is not plausible here")
        for node in nodes:
            if node.op not in COMPUTING and node.op not in OF_CHECKPOINTS and not self._is_call(node):
                raise UserError(
                    f"node '{node.name}' of {self._what} is {node.op}, which is not known to stay within the graph: "
                    "nothing else in a file is executed here; save the model without it, or compile it in memory"
                )
        saving = self._saving()
        if alone and self._graph.HasField("object_graph_def"):
            self._check_objects(main, saving)
        else:
            self._check_old(main, saving)

    def _is_call(self, node: Any) -> bool:
        return node.op in self._functions and _FUNCTION_NAME.fullmatch(node.op) is not None

    def _saving(self) -> set[str]:
        """Functions that read or write checkpoints, themselves or by others."""
        held = {name for name, f in self._functions.items() if any(n.op in OF_CHECKPOINTS for n in f.node_def)}
        calls = {name: {c for n in f.node_def for c in _called(n)} for name, f in self._functions.items()}
        while True:
            more = {name for name, called in calls.items() if name not in held and called & held}
            if not more:
                return held
            held |= more

    def _check_objects(self, main: Iterable[Any], saving: set[str]) -> None:
        """Of today's SavedModels functions of objects run; variables are read by TensorFlow's own code."""
        for entry in self._graph.object_graph_def.concrete_functions:
            refuse_if(entry.key in saving, self._reaching(entry.key))
        saver = self._graph.saver_def
        own = {_node_of(n) for n in (saver.save_tensor_name, saver.restore_op_name)}
        for node in main:
            if node.name not in own:
                refuse_if(node.op in OF_CHECKPOINTS or saving & _called(node), self._reaching(node.name))

    def _check_old(self, main: Iterable[Any], saving: set[str]) -> None:
        """Of older ones nodes run: those that restore, where the loader names the file, initializers, signatures."""
        nodes = {node.name: node for node in main}
        saver = self._graph.saver_def
        outputs = [o.value.name for s in self._graph.signature_def for o in s.value.outputs]
        first = [n for c in self._graph.collection_def if c.key in _INITIALIZERS for n in c.value.node_list.value]
        given = _node_of(saver.filename_tensor_name)
        for node in _ancestors(nodes, [saver.restore_op_name, *outputs, *first]):
            restores = node.op == "RestoreV2" and bool(node.input) and _node_of(node.input[0]) == given != ""
            refuse_if((node.op in OF_CHECKPOINTS and not restores) or saving & _called(node), self._reaching(node.name))

    def _reaching(self, name: str) -> str:
        return (
            f"'{name}' of {self._what} reads or writes files by the operators of checkpoints: nothing in a file is "
            "executed here that does; save the model again with tf.saved_model.save"
        )


def _called(node: Any) -> set[str]:
    """Functions that a node may call."""
    made = {node.op}
    pending = [entry.value for entry in node.attr]
    while pending:
        value = pending.pop()
        for called in (value.func, *value.list.func):
            if called.name:
                made.add(called.name)
                pending += [entry.value for entry in called.attr]
    return made


def _node_of(name: str) -> str:
    """The node of `^node` or `node:1`."""
    return name.removeprefix("^").split(":")[0]


def _ancestors(nodes: Mapping[str, Any], names: Iterable[str]) -> Iterator[Any]:
    seen: set[str] = set()
    pending = [_node_of(n) for n in names]
    while pending:
        name = pending.pop()
        if name in seen or name not in nodes:
            continue
        seen.add(name)
        yield nodes[name]
        pending += [_node_of(i) for i in nodes[name].input]
