/* SPDX-License-Identifier: Apache-2.0
 *
 * How generated step tables are written. A bundle is a structure that the DMA brings to L1 in one piece: step records
 * with their commands, arguments of kernels and jobs, constants. These macros make the words that the executor reads
 * (tvm_pulp/executor.h says what they mean); the compiler computes every distance, so no number stands in two places.
 *
 * Included by generated sources only: the names are short because a table is full of them. */
#ifndef TVM_PULP_STEPS_H
#define TVM_PULP_STEPS_H

#include <stddef.h>

#include "tvm_pulp/executor.h"

/* Whether the executor reads records as its header says, and the linker left enough L1 over. */
static inline int tvm_pulp_can_execute(uint32_t l1_bytes) {
  return (uint32_t)(uintptr_t)tvm_pulp_executor_magic == TVM_PULP_EXECUTOR_MAGIC &&
         (uint32_t)(uintptr_t)tvm_pulp_l1_arena_bytes >= l1_bytes;
}

/* Addresses as words: `offset` bytes into L1, and a member of a bundle that lies at L1_<bundle>. */
#define L1(offset) ((uint32_t)tvm_pulp_l1_arena + (offset))
#define IN_BUNDLE(bundle, member) (L1_##bundle + (uint32_t)offsetof(struct bundle, member))
#define POINTER(word) ((void *)(uintptr_t)(word))

/* Members of struct tvm_pulp_step. */
#define KERNEL(name, bundle, member) \
  .function = (tvm_pulp_function)(uintptr_t)(name), .arguments = POINTER(IN_BUNDLE(bundle, member))
#define NEXT(bundle, step) .next = (const struct tvm_pulp_step *)POINTER(IN_BUNDLE(bundle, step))
/* `core` begins the step with the commands in step_<number>_core_<core>. */
#define COMMANDS(bundle, number, core)                                                     \
  ((uint32_t)(offsetof(struct bundle, step_##number##_core_##core) - offsetof(struct bundle, step_##number)) / 4u \
   << 8 * (core))
/* Behind the kernel, `core` waits for its group of transfers, for all it asked of L3. */
#define WAIT_TRANSFERS(core, group) (1u << (group) << 8 * (core))
#define WAIT_L3 WAIT_TRANSFERS(0, TVM_PULP_L3_GROUP)
/* Bits of `control`. */
#define BARRIER ((uint32_t)TVM_PULP_STEP_BARRIER)
#define MEET(team) ((uint32_t)(team)) /* as BARRIER, of a team */
#define TEAM(team) ((uint32_t)(team) << 3)
#define WAIT_JOB(ticket) (1u << (8 + (ticket)))
#define LAYER(number) ((uint32_t)((number) + 1) << 16)

/* Commands. Addresses outside L1 are fixed, or count from an input or output that the caller passes (_OF). */
#define TRANSFERS(group) ((uint32_t)TVM_PULP_COMMAND_BEGIN << 29 | (group))
#define DMA_LOAD(bytes, local, from) TVM_PULP_LOAD + (bytes), (local), (uint32_t)(from)
#define DMA_STORE(bytes, local, to) TVM_PULP_STORE + (bytes), (local), (uint32_t)(to)
#define DMA_LOAD_LINES(bytes, local, from, line, stride) \
  TVM_PULP_LOAD_LINES + (bytes), (local), (uint32_t)(from), (line), (stride)
#define DMA_STORE_LINES(bytes, local, to, line, stride) \
  TVM_PULP_STORE_LINES + (bytes), (local), (uint32_t)(to), (line), (stride)
#define OF(base, bytes) ((uint32_t)((base) + 1) << 21 | (bytes))
#define DMA_LOAD_OF(base, bytes, local, offset) DMA_LOAD(OF(base, bytes), local, offset)
#define DMA_STORE_OF(base, bytes, local, offset) DMA_STORE(OF(base, bytes), local, offset)
#define DMA_LOAD_LINES_OF(base, bytes, local, offset, line, stride) \
  DMA_LOAD_LINES(OF(base, bytes), local, offset, line, stride)
#define DMA_STORE_LINES_OF(base, bytes, local, offset, line, stride) \
  DMA_STORE_LINES(OF(base, bytes), local, offset, line, stride)
/* Rows of a tensor that the caller passes, as many as the number behind another pointer of his; at most so many bytes. */
#define DMA_LOAD_ROWS_OF(base, bytes, local, row, counter) \
  (uint32_t)TVM_PULP_COMMAND_ROWS << 29 | (TVM_PULP_LOAD + OF(base, bytes)), (local), (uint32_t)(counter) << 24 | (row)
#define L3_LOAD(bytes, to, offset) (uint32_t)TVM_PULP_COMMAND_FETCH << 29, (to), (offset), (bytes)
/* Rows of a cache: `load` looks up how many there are. The I/O DMA is waited for, never this ticket. */
#define L3_LOAD_ROWS(ticket, load, rows) \
  (uint32_t)TVM_PULP_COMMAND_SUBMIT << 29 | (ticket), (uint32_t)(load), (uint32_t)&(rows)
#define SUBMIT(ticket, driver, bundle, member) \
  (uint32_t)TVM_PULP_COMMAND_SUBMIT << 29 | (ticket), (uint32_t)(driver), IN_BUNDLE(bundle, member)
#define END ((uint32_t)TVM_PULP_COMMAND_END << 29)

#endif /* TVM_PULP_STEPS_H */
