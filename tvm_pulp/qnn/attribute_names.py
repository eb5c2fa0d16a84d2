"""Attributes of every operator of the dialect: what a backend may ask `layer.attributes` for.

A name with a star is a rule of requantization: `requant*` stands for `requant`, `requant_shift`, `requant_zero_point`,
`requant_low`, `requant_high`, `requant_wide` and, where the range does not tell it, `requant_dtype`. What attributes
mean is in the first comment of the operator's file; `tests/qnn/test_attribute_names.py` keeps this list complete.
"""

from __future__ import annotations

from tvm_pulp.qnn.requant import Requant

ATTRIBUTE_NAMES: dict[str, tuple[str, ...]] = {
    operator: tuple(names.split())
    for operator, names in {
        "add": "exponents form multipliers shift subtract zero_point_a zero_point_b requant* requant_a* requant_b*",
        "add_accumulators": "axis fraction left_a left_b zero_point_a zero_point_b requant*",
        "append_quantized": "appended axis dtype first has_table",
        "attention": (
            "a b c has_logit_table has_mask has_probability k_layout levels log2 q_layout v_layout y_layout "
            "logit* requant*"
        ),
        "avg_pool": "dilation high kernel layout low pads strides zero_point requant*",
        "concat": "axis tables",
        "conv2d": "dilation groups has_bias layout macs_per_output pads strides sum_bits zero_point requant*",
        "curve": "function multiplier shift",
        "dense": "has_bias sum_bits zero_point requant*",
        "dequantize": "axis",
        "dilate": "strides value",
        "float_conv2d": "dilation groups macs_per_output strides",
        "float_map": "expression shape",
        "float_matmul": "transpose_b",
        "float_norm": "epsilon kind",
        "float_pool": "dilation kernel kind strides",
        "float_reduce": "axes expression keepdims kind",
        "float_softmax": "",
        "gather": "axis",
        "gelu": "b one requant*",
        "group_norm": "dtype epsilon gain groups high low statistic zero_point",
        "hardswish": "one_over_six six three requant*",
        "im2col": "dilation kernel pads strides zero_point",
        "integer_div": "denominator eps eta numerator operands requant*",
        "join_digits": "columns offset steps requant*",
        "layer_norm": "levels shift wide",
        "lookup": "",
        "lstm_cell": "bits clip coupled input_scales state_scales",
        "lstm_hidden": "bits coupled input_scales state_scales requant*",
        "matmul": "sum_bits transpose_b zero_point_a zero_point_b requant*",
        "max_pool": "dilation kernel layout pads strides",
        "mul": "zero_point_a zero_point_b requant*",
        "no_norm": "levels mul shift",
        "pad": "after before value",
        "past_attention": "heads kv_heads mul shift",
        "past_mean": "heads keys kv_heads",
        "past_mix": "heads kv_heads mul shift",
        "past_qdq_attention": (
            "dtype gain group has_k_table has_mask has_q_table heads high k_head_stride k_offset k_stride keys "
            "logit_high logit_low logit_scale low probability_high q_head_stride q_offset q_stride queries rows "
            "size v_head_stride v_offset v_stride value_scale y_layout zero_point zero_point_k zero_point_q "
            "zero_point_v"
        ),
        "past_scores": "heads kv_heads mul shift",
        "qdq_attention": (
            "dtype gain group has_k_table has_mask has_q_table heads high k_head_stride k_offset k_stride keys "
            "logit_high logit_low logit_scale low probability_high q_head_stride q_offset q_stride queries size "
            "v_head_stride v_offset v_stride value_scale y_layout zero_point zero_point_k zero_point_q "
            "zero_point_v"
        ),
        "qdq_mul": "dtype high low scale zero_point zero_point_a zero_point_b",
        "qdq_norm": (
            "biases centred dtype epsilon gain has_table high index_limits low rounds statistic zero_point zero_point_x"
        ),
        "qdq_rope": (
            "dtype high kept_high kept_low kept_scale kept_weight low position_axis turned_high turned_low "
            "turned_scale turned_weight zero_point zero_point_cosine zero_point_partner zero_point_sine "
            "zero_point_x"
        ),
        "quantize": "axis dtype",
        "quantize_channels_last": "dtype",
        "reduce": "axes keepdims kind",
        "requantize": "axis zero_point requant*",
        "resize": "bits layout middle slack taps ties zero_point requant*",
        "rms_norm": "levels shift wide",
        "rotary": "",
        "slice": "begin size stride",
        "softmax": (
            "a b c dtype exponent form gain group high left_shift levels log2 low multiplier smallest zero_point"
        ),
        "space_to_depth": "layout unsigned",
        "sub": "zero_point_a zero_point_b requant*",
        "take": "axis from_end",
        "transpose": "axes",
    }.items()
}


def stands_for(name: str) -> tuple[str, ...]:
    """All attributes that a name of the list means."""
    if not name.endswith("*"):
        return (name,)
    return tuple(Requant("pulp", dtype="int8").attributes(name.removesuffix("*")))
