/* SPDX-License-Identifier: Apache-2.0
 *
 * Step records as every executor walks through them. What differs from chip to chip is in its executor.h: the heads of
 * transfers, how many agents there are, and a number for the whole. */
#ifndef TVM_PULP_STEP_RECORD_H
#define TVM_PULP_STEP_RECORD_H

#include <stdint.h>

/* Commands: the code in bits 31:29. A transfer has its head in bits 20:0 and in bits 28:21 the number, plus one, of the
 * pointer that its external address counts from; then the L1 address, the external address, and for lines their length
 * and stride. */
enum {
  TVM_PULP_COMMAND_1D = 0,
  TVM_PULP_COMMAND_2D = 1,
  TVM_PULP_COMMAND_BEGIN = 2,  /* group in bits 7:0 */
  TVM_PULP_COMMAND_SUBMIT = 3, /* ticket in bits 7:0; the driver's function; the job */
  TVM_PULP_COMMAND_FETCH = 4,  /* L2 address, L3 offset, bytes; only where there is an L3 */
  TVM_PULP_COMMAND_ROWS = 5,   /* as 1D, all bytes of its pointer; see tvm_pulp_row_bytes */
  TVM_PULP_COMMAND_END = 7
};

enum {
  TVM_PULP_GROUPS = 8,  /* of transfers that an agent may have under way */
  TVM_PULP_TICKETS = 8, /* of jobs */
  TVM_PULP_STEP_BARRIER = 1
};

typedef void (*tvm_pulp_function)(const void *arguments, uint32_t core, uint32_t cores);
typedef uint32_t (*tvm_pulp_submit)(const void *job);
/* Wait for the job that `submit` returned this for; `number` is the ticket's, by which a program knows the engine. */
typedef void (*tvm_pulp_wait)(uint32_t submitted, uint32_t number);

struct tvm_pulp_step {
  tvm_pulp_function function; /* or none */
  const void *arguments;
  uint32_t commands; /* byte a: words from here to the commands of agent a; 0 is none */
  uint32_t waits;    /* byte a: bit g is set if agent a waits for its group g */
  /* Bits 2:0 team that meets behind it, 0 none; 5:3 team that calls the function, 0 all; bit 8 + t: wait for ticket t;
   * bits 31:16 mark to set first, plus one. Executors that know one team only look at bit 0. */
  uint32_t control;
  const struct tvm_pulp_step *next;
};

/* Bytes of a transfer of as many rows as some pointer tells: its number in bits 31:24 of the last word, bytes of a row
 * in the others. Rows come in fours, as caches hold them that have four rows of an element in a word; four at least,
 * since something has to be transferred, and `most` bytes. */
static inline uint32_t tvm_pulp_row_bytes(uint32_t told, const uint32_t *bases, uint32_t most) {
  const uint32_t rows = *(const uint32_t *)(uintptr_t)bases[told >> 24], row = told & 0xFFFFFFu;
  const uint32_t bytes = rows != 0u ? ((rows + 3u) & ~3u) * row : 4u * row;
  return bytes < most ? bytes : most;
}

/* Run all steps. `bases` are the pointers known only at run time. Called by all cores together. */
void tvm_pulp_execute(const struct tvm_pulp_step *step, const uint32_t *bases, tvm_pulp_wait wait_for_job);

/* Which executor is linked. The symbol has no storage: its address is the number, so that comparing takes no load. */
extern const uint8_t tvm_pulp_executor_magic[];

#define TVM_PULP_DEFINE_EXECUTOR_MAGIC(number) TVM_PULP_DEFINE_EXECUTOR_MAGIC_(number)
#define TVM_PULP_DEFINE_EXECUTOR_MAGIC_(number) \
  __asm__(".globl tvm_pulp_executor_magic\n.set tvm_pulp_executor_magic, " #number)

#endif /* TVM_PULP_STEP_RECORD_H */
