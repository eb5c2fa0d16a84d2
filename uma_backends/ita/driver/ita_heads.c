/* SPDX-License-Identifier: Apache-2.0 */
#include "ita_heads.h"

#include "ita_platform.h"

enum { STATE = 0x00, START_ADDR = 0x04, OUT_ADDR = 0x08, RQS_ADDR = 0x0C, SIZE_S = 0x10, SIZE_E = 0x14, SIZE_P = 0x18 };
enum { ENGINE_BYTES = 0x30, START = 1, BUSY = 2, SKIP_SOFTMAX = 16, BLOCK = 16 };

static uint32_t engines_under_way;
static ita_heads_ticket last_ticket;

static inline void order_memory(void) { __asm__ volatile("" ::: "memory"); }

void ita_heads_init(void) { engines_under_way = 0; }

void ita_heads_wait_all(void) {
  for (uint32_t i = 0; i < engines_under_way; i++) {
    while (ita_read(i * ENGINE_BYTES + STATE) & BUSY) ita_sleep();
  }
  engines_under_way = 0;
  order_memory();
}

ita_heads_ticket ita_heads_submit(const struct ita_heads_command *c) {
  ita_heads_wait_all();
  /* Every engine reads where operands of the first one are, so nobody starts before all know their own. */
  for (uint32_t i = 0; i < c->count; i++) {
    const uint32_t base = i * ENGINE_BYTES;
    ita_write(base + START_ADDR, i == 0u ? c->first : c->others + (i - 1u) * c->stride);
    ita_write(base + OUT_ADDR, c->out + i * c->s * c->e);
    ita_write(base + RQS_ADDR, (uint32_t)(uintptr_t)c->tables);
    ita_write(base + SIZE_S, c->s);
    ita_write(base + SIZE_E, c->e);
    ita_write(base + SIZE_P, c->p);
  }
  for (uint32_t i = 0; i < c->count; i++) ita_write(i * ENGINE_BYTES + STATE, START | SKIP_SOFTMAX);
  engines_under_way = c->count;
  return ++last_ticket;
}

void ita_heads_wait(ita_heads_ticket ticket) {
  if (ticket == last_ticket) ita_heads_wait_all();
}

/* Blocks of 16 bytes, each by one core: four words on their way at a time. */
struct block {
  uint32_t word[4];
};

static inline void copy(const struct block *from, struct block *to, uint32_t count, uint32_t core, uint32_t cores) {
  for (uint32_t i = core; i < count; i += cores) to[i] = from[i];
}

/* [rows][blocks] becomes [blocks][rows]. */
static inline void split(const struct block *from, struct block *to, uint32_t rows, uint32_t blocks, uint32_t core,
                         uint32_t cores) {
  for (uint32_t row = core; row < rows; row += cores) {
    for (uint32_t i = 0; i < blocks; i++) to[i * rows + row] = from[row * blocks + i];
  }
}

void ita_heads_assemble(const struct ita_heads_operands *args, uint32_t core, uint32_t cores) {
  const uint32_t blocks = args->columns / BLOCK, before = args->before_bytes / BLOCK;
  struct block *to = args->operands;
  /* The second half of the cores takes k, where there are enough for both. */
  const uint32_t half = cores >= 2u * args->rows ? cores / 2u : 0u;
  copy(args->before, to, before, core, cores);
  to += before;
  if (half == 0u || core < half) split(args->q, to, args->rows, blocks, core, half == 0u ? cores : half);
  to += args->rows * blocks;
  if (core >= half) split(args->k, to, args->rows, blocks, core - half, cores - half);
  copy(args->after, to + args->rows * blocks, args->after_bytes / BLOCK, core, cores);
}
