/* SPDX-License-Identifier: Apache-2.0
 *
 * The other ITA: engines of which each runs a whole head of attention from one block of operands, by registers of their own.
 *
 * Register block i at 0x30 i: STATE, START_ADDR, OUT_ADDR, RQS_ADDR, S, E, P. Bytes from START_ADDR on: Wo^T [E][P],
 * Wv^T [P][E], Wk^T [P][E], q, k, Wq^T [P][E], then int32 bo[E], bv[P], bk[P], bq[P]; q, k and Wq^T are split:
 * [columns / 16][rows][16]. All engines read q and k behind START_ADDR of engine 0. RQS_ADDR holds three pointers: uint8
 * multipliers, uint8 shifts, int32 summands, each of Q, K, logits, V, values, output.
 *
 * Nothing public says how long a head takes: the longer of 256 cycles per product of 64x64x64 and of what it fetches, and
 * a start. Nor how engines reach L1: beats of all operands and of the output are spread evenly over that time here, those
 * in L1 take their banks as cores do, and one that waits holds its engine up. */
#ifndef ITA_MODEL_HEADS_H
#define ITA_MODEL_HEADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tvm_pulp/peripheral.h"

enum { HEADS_ENGINES = 4, HEADS_WORDS = 7, HEADS_STRIDE = 0x30 };

struct heads_options {
  uint32_t engines, fetch_bytes, start_cycles; /* bytes of operands per cycle; before the first product */
};

struct heads_requant {
  uint32_t multiplier, shift;
  int32_t add;
};

/* A head under way, as its registers were when it began. */
struct heads_job {
  uint32_t s, e, p, blob, positions, out; /* `positions`: q and k */
  struct heads_requant rules[6];
  uint64_t begin, works, late, end; /* its first beat, cycles without contention, those that beats waited, its end */
  uint64_t claimed_until;
  uint32_t beat; /* the next one */
};

struct heads {
  struct tvm_pulp_system system;
  struct heads_options options;
  uint32_t words[HEADS_ENGINES][HEADS_WORDS];
  struct heads_job job[HEADS_ENGINES];
  bool is_busy[HEADS_ENGINES], has_faulted;
  uint64_t counted_to; /* busy cycles are counted up to here */
  struct tvm_pulp_peripheral_statistics statistics;
};

void heads_reset(struct heads *heads);
uint32_t heads_read(struct heads *heads, uint32_t offset, uint64_t cycle);
void heads_write(struct heads *heads, uint32_t offset, uint32_t value, uint64_t cycle);
uint64_t heads_next_event(const struct heads *heads);
void heads_advance(struct heads *heads, uint64_t cycle);

/* head_arithmetic.c: operands where they are in the host's memory. False where there is no room for what is between. */
struct head_operands {
  const uint8_t *blob, *positions; /* q and k */
  int8_t *out;
};
bool head_compute(const struct heads_job *job, struct head_operands operands);
uint32_t head_bytes(uint32_t s, uint32_t e, uint32_t p);

#endif /* ITA_MODEL_HEADS_H */
