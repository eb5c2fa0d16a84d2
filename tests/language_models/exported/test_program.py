"""Programs for chunks and single tokens, in onnxruntime: together they compute what the file computes."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from tests.language_models.exported_decoders import STYLES, Reference, exported, given_of, merged
from tvm_pulp.errors import UserError
from tvm_pulp.frontend import onnx_file
from tvm_pulp.language_models.entry_module import Purpose
from tvm_pulp.language_models.exported import DecoderGraph, branch_with_caches, decoder_graph, find_roles
from tvm_pulp.language_models.exported.cache_rows import LEAST
from tvm_pulp.language_models.exported.encoded import Encoded, encoded_part

CAPACITY, CHUNK = 18, 5


def parts_of(content: Any, rows: int) -> tuple[DecoderGraph, Encoded | None]:
    """Of a file, or of an open graph; with what is the same for all tokens, for those that an encoder gives it."""
    graph = content
    if isinstance(content, bytes):
        graph = onnx_file.from_model(onnx.load_model_from_string(content))
        graph = branch_with_caches(graph.model) or graph
    roles = find_roles(graph.model)
    assert roles is not None
    encoded = None
    if roles.given:
        roles = roles.with_lengths({n: a.shape for n, a in given_of(content).items()})
        encoded = encoded_part(graph, roles, None)
    return decoder_graph(graph, roles, CAPACITY, rows, hide=True, encoded=encoded), encoded


def graph_of(content: Any, rows: int) -> DecoderGraph:
    return parts_of(content, rows)[0]


class Device:
    """Both programs with tables and state around them, as the emitted C has them."""

    def __init__(self, content: Any, chunk: int) -> None:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        parts = {rows: parts_of(content, rows) for rows in {1, chunk}}
        self.graphs = {rows: graph for rows, (graph, _) in parts.items()}
        self.shared = given_of(content) if isinstance(content, bytes) else {}
        encoded = parts[1][1]
        if encoded is not None and encoded.model is not None:
            session = onnxruntime.InferenceSession(encoded.model.SerializeToString(), options)
            wanted = {i.name: self.shared[i.name] for i in session.get_inputs()}
            self.shared |= dict(zip((o.name for o in session.get_outputs()), session.run(None, wanted), strict=True))
        self._sessions = {
            rows: onnxruntime.InferenceSession(g.model.SerializeToString(), options) for rows, g in self.graphs.items()
        }
        self.length = 0
        # What lies in a row before it is written must not matter.
        self.state = {c.past: np.full((CAPACITY, c.width), 7, c.dtype) for c in self.graphs[1].caches}

    def see(self, tokens: list[int]) -> np.ndarray:
        rows = 1 if len(tokens) == 1 else max(self.graphs)
        graph, session = self.graphs[rows], self._sessions[rows]
        given: dict[str, Any] = {}
        for source, spec in zip(graph.sources, session.get_inputs(), strict=True):
            if source.purpose is Purpose.TOKENS:
                assert source.table is not None
                padded = [*tokens, *[0] * (rows - len(tokens))]
                value = source.table[padded]
            elif source.purpose is Purpose.POSITIONS:
                assert source.table is not None
                value = source.table[self.length : self.length + rows]
            elif source.purpose is Purpose.ENCODED:
                value = self.shared[source.name]
            elif source.purpose is Purpose.PAST:
                value = self.state[source.name][: graph.past]
            else:
                value = np.where(np.arange(graph.past) < self.length, 0, LEAST).astype(np.float32)
            given[spec.name] = value.reshape(spec.shape)
        made = dict(zip((o.name for o in session.get_outputs()), session.run(None, given), strict=True))
        for cache in graph.caches:
            new = made[cache.rows].reshape(rows, cache.width)
            self.state[cache.past][self.length : self.length + rows] = new
        self.length += len(tokens)
        return np.asarray(made[graph.model.graph.output[0].name]).reshape(rows, -1)[: len(tokens)]


@pytest.mark.sample(5)
@pytest.mark.parametrize("how", ["float", "static", "unsigned", "products", "dynamic"])
@pytest.mark.parametrize("name", STYLES)
def test_chunks_and_single_tokens_give_what_the_file_gives(name: str, how: str) -> None:
    content = exported(name, how)
    text = np.random.default_rng(3).integers(0, STYLES[name].vocabulary, CAPACITY).tolist()
    reference = Reference(content)
    expected = np.concatenate([reference.see([token]) for token in text])
    # Where ranges come from the values themselves, tokens that are seen together change each other.
    chunk = 1 if how == "dynamic" else CHUNK
    device = Device(content, chunk)
    parts = [text[i : i + chunk] for i in range(0, 2 * chunk, chunk)]
    # A chunk that is not full, then token by token to the last row.
    parts += [text[2 * chunk : 3 * chunk - 2]] if chunk > 1 else []
    seen = sum(map(len, parts))
    found = np.concatenate([device.see(p) for p in [*parts, *([t] for t in text[seen:])]])
    if how in ("static", "unsigned"):
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, atol=2e-5)


def test_the_branch_with_caches_of_a_merged_file_begins_texts_too() -> None:
    content = merged(onnx.load_model_from_string(exported("gpt", "static"))).SerializeToString()
    text = np.random.default_rng(3).integers(0, STYLES["gpt"].vocabulary, CAPACITY).tolist()
    reference, device = Reference(content), Device(content, 1)
    for token in text:
        np.testing.assert_array_equal(device.see([token]), reference.see([token]))


@pytest.mark.parametrize(("how", "dtype"), [("float", "float32"), ("static", "int8"), ("unsigned", "uint8")])
def test_rows_of_a_cache_are_what_the_quantization_around_it_makes(how: str, dtype: str) -> None:
    graph = graph_of(exported("llama", how), 1)
    style = STYLES["llama"]
    assert [(c.dtype, c.width) for c in graph.caches] == [(dtype, style.kv_heads * style.size)] * 2


def test_positions_are_tables_of_the_quantized_values() -> None:
    graph = graph_of(exported("llama", "static"), CHUNK)
    tables = [s.table for s in graph.sources if s.purpose is Purpose.POSITIONS and s.table is not None]
    assert [(t.shape, str(t.dtype)) for t in tables] == [((CAPACITY, STYLES["llama"].size), "int8")] * 2


def test_a_model_without_symbolic_cache_has_no_roles() -> None:
    content = onnx.load_model_from_string(exported("llama", "float"))
    for value in content.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = 4
    assert find_roles(content) is None


def changed(edit: Any) -> Any:
    model = onnx.load_model_from_string(exported("llama", "float"))
    edit(model.graph)
    return model


def parity(graph: Any) -> None:
    """Attention to every other token, counted from the last."""
    node = next(n for n in graph.node if n.op_type == "LessOrEqual")
    two = onnx.helper.make_tensor("two", onnx.TensorProto.INT64, [], [2])
    made = [
        onnx.helper.make_node("ReduceMax", [node.input[0]], ["last"], keepdims=1),
        onnx.helper.make_node("Mod", ["last", "two"], ["last_parity"]),
        onnx.helper.make_node("Mod", [node.input[0], "two"], ["parity"]),
        onnx.helper.make_node("Equal", ["parity", "last_parity"], ["alike"]),
        onnx.helper.make_node("And", [f"{node.output[0]}_all", "alike"], [node.output[0]]),
    ]
    node.output[0] = f"{node.output[0]}_all"
    place = list(graph.node).index(node) + 1
    rest = list(graph.node)[place:]
    del graph.node[place:]
    graph.node.extend([*made, *rest])
    graph.initializer.append(two)


def changed_cache(graph: Any) -> None:
    """Keys go out as something else than what attention sees."""
    joined = next(n for n in graph.node if n.output[0] == "present.0.key")
    joined.output[0] = "joined"
    for node in graph.node:
        node.input[:] = ["joined" if name == "present.0.key" else name for name in node.input]
    graph.node.append(onnx.helper.make_node("Relu", ["joined"], ["present.0.key"]))


def truth_value(graph: Any) -> None:
    graph.input.append(onnx.helper.make_tensor_value_info("use_cache_branch", onnx.TensorProto.BOOL, [1]))


def real_input(graph: Any) -> None:
    graph.input.append(onnx.helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, ["batch", 3]))


def more_tokens(graph: Any) -> None:
    graph.input.append(onnx.helper.make_tensor_value_info("segment_ids", onnx.TensorProto.INT64, ["batch", "sequence"]))


def more_outputs(graph: Any) -> None:
    graph.output.append(onnx.helper.make_tensor_value_info("value_0", onnx.TensorProto.INT64, None))


def tokens_in_arithmetic(graph: Any) -> None:
    graph.node.append(onnx.helper.make_node("Add", ["input_ids", "input_ids"], ["twice"]))
    logits = next(n for n in graph.node if n.output[0] == "logits")
    real = onnx.helper.make_node("Cast", ["twice"], ["real"], to=onnx.TensorProto.FLOAT)
    wide = onnx.helper.make_node("Unsqueeze", ["real", "constant_0"], ["wide"])
    logits.output[0] = "plain"
    graph.node.extend([real, wide, onnx.helper.make_node("Add", ["plain", "wide"], ["logits"])])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (parity, r"neither rows of a table of positions nor a mask of what a position sees"),
        (changed_cache, r"input 'past_key_values.0.key' has the axes of a cache, but does not go out joined with new"),
        (truth_value, r"input 'use_cache_branch' is a truth value beside tokens, .*: export the decoder without it"),
        (real_input, r"input 'image' is read by nothing: export the decoder without it"),
        (
            more_tokens,
            r"one input of token ids is needed beside masks, positions and caches, not 'input_ids', 'segment",
        ),
        (more_outputs, r"one output of logits is needed beside the caches, not 'logits', 'value_0'"),
        (tokens_in_arithmetic, r"\(Add\) computes with tokens, which are only looked up on the device"),
    ],
)
def test_what_is_not_understood_is_a_users_error(edit: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        graph_of(changed(edit).SerializeToString(), 4)
