"""The sources that a program is built from."""

from tvm_pulp.soc.kernel_sources import needed_sources

FILES = {
    "include/tvm_pulp/kernels.h": "",
    "xpulp/tile.h": "int32_t tile_sum(const int8_t *x);\nstatic inline int32_t unused(int32_t x) { return x; }\n",
    "xpulp/tile.c": '#include "tile.h"\nint32_t tile_sum(const int8_t *x) {\n  return wide_tile(x);\n}\n',
    "xpulp/wide.c": "static int32_t dense(int32_t x) {\n}\nint32_t wide_tile(const int8_t *x,\n    int n) {\n}\n",
    "xpulp/dense.c": '#include "tvm_pulp/kernels.h"\n#include "tile.h"\nTVM_PULP_KERNEL(dense) {\n  tile_sum(0);\n}\n',
    "xpulp/pool.c": "void tvm_pulp_kernel_max_pool(int x) {\n}\nvoid tvm_pulp_kernel_avg_pool(int x) {\n}\n",
}


def test_a_kernel_brings_what_it_includes_and_calls() -> None:
    found = needed_sources(FILES, ["tvm_pulp_kernel_dense", "tvm_pulp_kernel_dense"])
    assert set(found) == {path for path in FILES if path != "xpulp/pool.c"}


def test_kernels_lie_in_the_order_of_their_first_call_and_helpers_behind_them() -> None:
    found = needed_sources(FILES, [f"tvm_pulp_kernel_{name}" for name in ("max_pool", "dense", "avg_pool")])
    sources = [path for path in found if path.endswith(".c")]
    assert sources == ["xpulp/pool.c", "xpulp/dense.c", "xpulp/tile.c", "xpulp/wide.c"]


def test_several_kernels_of_one_file() -> None:
    assert list(needed_sources(FILES, ["tvm_pulp_kernel_avg_pool"])) == ["xpulp/pool.c"]


def test_functions_from_elsewhere_bring_nothing() -> None:
    assert needed_sources(FILES, ["tvmgen_layer_3"]) == {}
