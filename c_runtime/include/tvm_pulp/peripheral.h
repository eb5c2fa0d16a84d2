/* SPDX-License-Identifier: Apache-2.0
 *
 * The one interface between a simulated system and a memory-mapped peripheral (an accelerator, usually).
 *
 * A peripheral is a shared object that exports
 *
 *     const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);
 *
 * The simulator maps its registers, calls `read` and `write` for every 32-bit access, and asks `next_event` when
 * something will happen without being asked. Time is in cycles of the cluster clock and never goes backwards.
 * The same table drives the embedded simulator, the ETISS plug-in and the GVSoC component. */
#ifndef TVM_PULP_PERIPHERAL_H
#define TVM_PULP_PERIPHERAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Increased whenever a struct below changes; the simulator refuses any other value. */
#define TVM_PULP_PERIPHERAL_ABI 2u

/* "Nothing is going to happen by itself." */
#define TVM_PULP_NEVER UINT64_MAX

/* Memory ports a peripheral can own. Addresses are what the peripheral's registers hold for that port:
 * L1 takes any alias of the TCDM, WEIGHT takes offsets from the start of the weight memory, L2 addresses of the cores.
 * Not every system lets peripherals into L2, and nobody looks for races there. */
enum tvm_pulp_port { TVM_PULP_PORT_L1 = 0, TVM_PULP_PORT_WEIGHT = 1, TVM_PULP_PORT_L2 = 2 };

/* What the system offers to a peripheral. */
struct tvm_pulp_system {
  void *context;
  /* Host pointer to `bytes` bytes of a memory, or NULL when the range is not inside it. It is good until the peripheral's
   * function that asked for it returns: another simulator may hand out a copy that it writes back then. */
  uint8_t *(*memory)(void *context, enum tvm_pulp_port port, uint32_t address, uint32_t bytes);
  /* Declare that the running job reads or writes a range until `end_cycle`; the system reports cores, DMA and jobs of
   * other peripherals that touch it meanwhile as a race. TVM_PULP_NEVER: until `release`. */
  void (*claim)(void *context, enum tvm_pulp_port port, uint32_t address, uint32_t bytes, int is_write,
                uint64_t end_cycle);
  /* Drop all ranges this peripheral has declared. */
  void (*release)(void *context);
  /* Take the L1 banks of `bytes` bytes at `cycle`: each word gets the first cycle in which nobody else has its bank.
   * Returns by how many cycles the last of them comes late. Calls come in order of time, at the peripheral's
   * `next_event`. NULL where nobody contends: a peripheral then computes the end of a job when it starts. */
  uint64_t (*take_banks)(void *context, uint32_t address, uint32_t bytes, uint64_t cycle);
  /* Pulse the peripheral's event line at `cycle`. */
  void (*raise)(void *context, uint64_t cycle);
  /* Stop the simulation: the guest programmed something the hardware does not do. `reason` is one sentence. */
  void (*fault)(void *context, const char *reason);
};

/* One parameter of the SoC description's engine section ("pe_rows" = 6). */
struct tvm_pulp_parameter {
  const char *name;
  int64_t value;
};

/* Counters for the report; cumulative since reset. */
struct tvm_pulp_peripheral_statistics {
  uint64_t jobs;
  uint64_t busy_cycles;
  uint64_t macs;
  uint64_t l1_bytes;
  uint64_t weight_bytes;
};

struct tvm_pulp_peripheral {
  uint32_t abi;            /* TVM_PULP_PERIPHERAL_ABI */
  const char *name;        /* "neureka" */
  uint32_t register_bytes; /* size of the register window, a power of two */

  /* NULL on an unknown or bad parameter, with the reason written to `error`. */
  void *(*create)(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *parameters, size_t count,
                  char *error, size_t error_bytes);
  void (*destroy)(void *self);
  void (*reset)(void *self);

  /* `core` is the hart id of the accessing core within the cluster. */
  uint32_t (*read)(void *self, uint32_t offset, uint32_t core, uint64_t cycle);
  void (*write)(void *self, uint32_t offset, uint32_t value, uint32_t core, uint64_t cycle);

  /* Cycle of the next thing that happens by itself (end of a job), or TVM_PULP_NEVER. */
  uint64_t (*next_event)(void *self);
  /* Bring the peripheral to `cycle`: finish what ends by then, in order. A job's effects land when it ends. */
  void (*advance)(void *self, uint64_t cycle);

  void (*statistics)(void *self, struct tvm_pulp_peripheral_statistics *out);
};

#ifdef __cplusplus
}
#endif
#endif /* TVM_PULP_PERIPHERAL_H */
