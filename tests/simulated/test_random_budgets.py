"""Random networks in a random L1: results equal numpy, or the message names the layer and an L1 that is enough."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.simulated.random_chain import PULP, SUM, RandomChain, random_chain, random_inputs
from tvm_pulp import soc
from tvm_pulp.codegen.formats import PlanJson, from_json, to_json
from tvm_pulp.compile_options import CompileOptions
from tvm_pulp.entry_point import plan_for
from tvm_pulp.errors import UserError
from tvm_pulp.planning.check.verify_plan import verify_plan
from tvm_pulp.planning.tir.describe import describe
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.target import Target
from tvm_pulp.uma.conformance.layer_network import simulate
from tvm_pulp.uma.registry import backend

SIRACUSA = soc.load("siracusa")
QUIET = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck), "database": None}
# Small budgets more often than large ones: what is tight breaks.
L1_BYTES = st.one_of(st.integers(1024, 6000), st.integers(2048, 16384), st.integers(8192, 131072))


@st.composite
def machines(draw: Any) -> Target:
    """Cores, an accelerator or none, memory, overlap or none."""
    options = draw(st.sampled_from([None, {"weight_memory": "none"}, {"weight_memory": "sram"}]))
    neureka = backend("neureka")
    engines = ((neureka, neureka.options(options)),) if options is not None else ()
    cores, l1_bytes = draw(st.integers(1, 8)), draw(L1_BYTES)
    options = CompileOptions(double_buffer=draw(st.booleans()))
    return Target(SIRACUSA, engines, cores, options=options, l1_limit=l1_bytes)


def check(seed: int, target: Target) -> None:
    source = np.random.default_rng(seed)
    chain = random_chain(source)
    inputs = random_inputs(source, chain)
    try:
        plan = plan_for(target, chain.network())
    except UserError as error:
        match = re.search(r"layer '\w+' \(\w+\) needs (\d+) bytes of L1 .* \((\d+) missing\): raise", str(error))
        assert match is not None, str(error)
        assert target.l1_limit is not None and int(match[1]) - int(match[2]) == target.l1_limit
        target = replace(target, l1_limit=int(match[1]))
        plan = plan_for(target, chain.network())
    assert verify_plan(from_json(PlanJson, to_json(PlanJson, describe(plan))), SIRACUSA) == []
    (result,) = simulate(target, plan, inputs).outputs
    np.testing.assert_array_equal(result, chain.reference(inputs), err_msg=str(chain))


def test_sums_of_one_and_of_two_tensors() -> None:
    """Equal layers but for what they read: one tensor twice is brought once."""
    chain = RandomChain(inputs=[TensorSpec((1, 64, 32), "int8")] * 2, specs=[TensorSpec((1, 64, 32), "int8")] * 2)
    scale = (np.array([97], np.int32), np.array([40], np.int32))
    first = chain.add("add", {**SUM, **PULP}, 0, 1, *scale)
    chain.add("add", {**SUM, **PULP}, first, first, *scale)
    inputs = random_inputs(np.random.default_rng(5), chain)
    target = Target(SIRACUSA, (), 8, l1_limit=8192)
    (result,) = simulate(target, plan_for(target, chain.network()), inputs).outputs
    np.testing.assert_array_equal(result, chain.reference(inputs))


def test_columns_that_no_product_was_written_to_are_not_read() -> None:
    """Biases of rows are added to as many columns of a block as a tile has; the simulator reports other reads."""
    check(2711940, Target(SIRACUSA, (), 1, options=CompileOptions(double_buffer=False), l1_limit=1088))


@settings(max_examples=4, **QUIET)
@given(st.integers(0, 1 << 20), machines())
def test_random_networks(seed: int, target: Target) -> None:
    check(seed, target)


@pytest.mark.slow
@settings(max_examples=150, **QUIET)
@given(st.integers(1 << 20, 1 << 30), machines())
def test_many_random_networks(seed: int, target: Target) -> None:
    check(seed, target)
