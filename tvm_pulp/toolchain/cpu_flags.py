"""Flags that C for CPUs is built with, whoever builds it."""

# -fhosted: a freestanding compiler calls memcpy for every word. -ffp-contract=off: floats must not depend on the core.
CPU_FLAGS = (
    "-O3",
    "-g0",
    "-std=gnu11",
    "-fhosted",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-strict-aliasing",
    "-fno-asynchronous-unwind-tables",
    "-ffp-contract=off",
    "-fomit-frame-pointer",
)
WARNINGS = ("-Wall", "-Wextra", "-Werror")
ENTRY = "tvm_pulp_start"
