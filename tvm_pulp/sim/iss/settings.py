"""Translate a SoC description into the named numbers of the C simulator (c_runtime/iss/config.h)."""

from __future__ import annotations

from fractions import Fraction

from tvm_pulp.soc.description import Soc


def simulator_settings(soc: Soc, trace: bool) -> dict[str, int]:
    """Every number the simulator needs, by its name in the C configuration."""
    l1, l2, weight, l3 = soc.memory.l1, soc.memory.l2, soc.memory.weight, soc.memory.l3
    timing, cache, dma = soc.timing, soc.icache, soc.dma
    ratio = Fraction(soc.clock.cluster_mhz / soc.clock.soc_mhz).limit_denominator(1000)
    reference = round(soc.clock.cluster_mhz * 1000 / soc.clock.reference_khz)
    return {
        "cores": soc.cluster.cores,
        "controller_hart_id": soc.controller.hart_id,
        "isa_xpulp": int(soc.cluster.isa.xpulp),
        "isa_float_cluster": int(soc.cluster.isa.single_float),
        "isa_float_controller": int(soc.controller.isa.single_float),
        "float_units": soc.cluster.float_units,
        "float_dividers": soc.cluster.float_dividers,
        "l1_base": l1.base,
        "l1_size": l1.size,
        "l1_banks": l1.banks,
        "l1_conflicts": int(l1.conflicts),
        "l2_base": l2.base,
        "l2_size": l2.size,
        "l2_private_bytes": l2.private_bytes,
        "l2_banks": l2.banks,
        "l2_conflicts": int(l2.conflicts),
        "weight_base": weight.base,
        "weight_size": weight.size,
        "l3_size": l3.size,
        "soc_clock_numerator": ratio.numerator,
        "soc_clock_denominator": ratio.denominator,
        "reference_clock_divider": max(1, reference),
        "mul_cycles": timing.mul,
        "mul_use_stall": timing.mul_use_stall,
        "mulh_cycles": timing.mulh,
        "divide_base_cycles": timing.divide_base,
        "load_use_stall": timing.load_use_stall,
        "branch_taken_penalty": timing.branch_taken_penalty,
        "jump_penalty": timing.jump_penalty,
        "jump_register_stall": timing.jump_register_stall,
        "event_load_cycles": timing.event_load,
        "float_cycles": timing.single_float,
        "float_divide_cycles": timing.float_divide,
        "float_square_root_cycles": timing.float_square_root,
        "core_peripheral_cycles": timing.peripheral,
        "core_weight_cycles": weight.latency,
        "core_l2_cycles": l2.latency,
        "core_apb_cycles": timing.apb,
        "controller_l2_cycles": l2.controller_latency,
        "controller_cluster_cycles": l1.controller_latency,
        "controller_weight_cycles": weight.controller_latency,
        "controller_apb_cycles": timing.controller_apb,
        "icache_ideal": int(cache.ideal),
        "l0_sets": cache.private_sets,
        "l0_ways": cache.private_ways,
        "shared_sets": cache.shared_sets,
        "shared_ways": cache.shared_ways,
        "shared_banks": cache.shared_banks,
        "icache_hit_shared_cycles": cache.shared_hit,
        "icache_refill_cycles": cache.refill,
        "icache_disabled_cycles": cache.disabled,
        "controller_icache_sets": cache.controller_sets,
        "controller_icache_ways": cache.controller_ways,
        "controller_icache_refill_cycles": cache.controller_refill,
        "controller_icache_enabled": int(cache.controller_enabled),
        "rotating_priority": int(timing.rotating_priority),
        "event_wake_cycles": soc.events.wake,
        "event_answer_cycles": soc.events.answer,
        "software_event_delay": soc.events.software_delay,
        "dma_bytes_per_cycle": dma.bytes_per_cycle,
        "dma_startup_cycles": dma.startup,
        "dma_burst_bytes": dma.burst_bytes,
        "dma_l2_read_latency": dma.l2_read_latency,
        "dma_core_queue": dma.core_queue,
        "dma_global_queue": dma.global_queue,
        "dma_counters": dma.counters,
        "l3_read_millicycles_per_byte": round(l3.read_cycles_per_byte * 1000),
        "l3_write_millicycles_per_byte": round(l3.write_cycles_per_byte * 1000),
        "l3_read_setup": l3.read_setup,
        "l3_write_setup": l3.write_setup,
        "ordering_slack_cycles": timing.ordering_slack,
        "trace": int(trace),
    }
