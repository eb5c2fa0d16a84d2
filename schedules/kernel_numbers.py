"""Numbers by which the kernels' headers know types and rules."""

# enum tvm_pulp_type
TYPES = {"int8": 0, "uint8": 1, "int32": 2}
TYPES_16 = {"int16": 3, "uint16": 4}
UINT8, INT32 = TYPES["uint8"], TYPES["int32"]
# How a kernel stores its results: as a byte unless stated here.
STORED = {"int32": 1, "int16": 2, "uint16": 2}
# enum tvm_pulp_requant_kind
KINDS = {"none": 0, "pulp": 1, "tflite": 3, "half_up": 4, "half_even": 5, "shift": 6, "shift_even": 7, "shift_away": 8}
# Further ones of layers with constant weights.
KINDS |= {"offset_half_even": 9, "high_word": 10}
PULP_WIDE = 2
