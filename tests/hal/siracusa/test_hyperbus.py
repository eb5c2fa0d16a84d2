"""L3 transfers by core 0, compared with the blob that the archive carries."""

import numpy as np
import pytest

from .program import Program, Tensor

LOAD = """
uint8_t target[24 * 500] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() != 0) return;
  /* More than the queue of the bus holds. */
  for (uint32_t i = 0; i < 24; i++) tvm_pulp_l3_load(target + 500 * i, 60001 + 750 * i, 500);
  tvm_pulp_l3_wait();
}
"""


def test_loads_arrive_in_l2() -> None:
    blob = np.random.default_rng(3).integers(0, 256, 80_000, np.uint8)
    run = Program(LOAD, outputs=(Tensor("target", (24, 500), "uint8"),), l3=blob.tobytes()).run()
    np.testing.assert_array_equal(run.outputs[0], [blob[at : at + 500] for at in range(60001, 78001, 750)])
    assert run.counters.l3["bytes_read"] == 2 * 12_000
    # At least 0.694 cycles per byte on the bus.
    assert run.cycles > 0.694 * 12_000


COPY = """
uint8_t source[BYTES] TVM_PULP_IN_L2;
uint8_t target[BYTES] TVM_PULP_IN_L2;
void tvm_pulp_network(void) {
  if (tvm_pulp_core_id() != 0) return;
  tvm_pulp_l3_store(4096, source, BYTES);
  tvm_pulp_l3_load(target, 4096, BYTES);
  tvm_pulp_l3_wait();
}
"""


@pytest.mark.parametrize("count", [1, 64, 5000])
def test_what_was_stored_is_loaded_again(count: int) -> None:
    data = np.random.default_rng(4).integers(0, 256, count, np.uint8)
    program = Program(
        COPY.replace("BYTES", str(count)),
        (Tensor("source", (count,), "uint8"),),
        (Tensor("target", (count,), "uint8"),),
    )
    np.testing.assert_array_equal(program.run(data).outputs[0], data)
