"""How a decoder's cache holds values: a row per position, or four positions of an element in a word, by cost.

Words of four positions are multiplied with four weights at once. New rows go to single bytes of them then, so that only
caches in L2 are stored so.
"""

from dataclasses import replace

from tvm_pulp.language_models.llama import Llama
from tvm_pulp.qnn import OPERATORS, TensorSpec
from tvm_pulp.qnn.network import Layer, Tensor
from tvm_pulp.qnn.past_attention import PastLogitAttributes
from tvm_pulp.qnn.value_groups import TOGETHER
from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.target import Target
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call
from tvm_pulp.uma.registry import core_schedules

_WORD = 4


def value_layout(decoder: object, target: Target) -> Llama | None:
    """The decoder with values by element; None where that is no form of it or not cheaper for one token."""
    if not isinstance(decoder, Llama) or decoder.weights.shape.kv_width % _WORD:
        return None
    costs = CostModel(target.soc, target.cores)
    by_row, by_element = (_mix_cycles(decoder, costs, together) for together in (1, TOGETHER))
    if by_row is None or by_element is None or by_element >= by_row:
        return None
    return replace(decoder, by_element=True)


def _mix_cycles(decoder: Llama, costs: CostModel, together: int) -> float | None:
    """Expected cycles of a block's kernel that mixes values; None where the cores have none."""
    shape, (mul, shift) = decoder.weights.shape, decoder.weights.blocks[0].score
    specs = {
        "q": TensorSpec((1, shape.heads * shape.head), "int8"),
        "k": TensorSpec((1, shape.kv_width), "int8"),
        "scores": TensorSpec((shape.heads, decoder.capacity + 1), "int32"),
        "past_v": TensorSpec((-(-decoder.capacity // together), together * shape.kv_width), "int8"),
        "length": TensorSpec((1,), "int32"),
        "exponential": TensorSpec((256,), "uint8"),
    }
    attributes = PastLogitAttributes(heads=shape.heads, kv_heads=shape.kv_heads, mul=mul, shift=shift)
    result = OPERATORS["past_mix"].infer(attributes, tuple(specs.values()))
    inputs = [Tensor(name, spec, "activation") for name, spec in specs.items()]
    layer = Layer("past_mix", "past_mix", attributes, inputs, [Tensor("y", result, "activation")])
    forms = [form for schedule in core_schedules() for form in schedule(layer, costs)]
    calls = [step for form in forms for step in form.recipe(Box.whole(result.shape)).steps if isinstance(step, Call)]
    return min((call.cost.cycles for call in calls), default=None)
