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

/* 16 bytes: four words on their way at a time. */
struct block {
  uint32_t word[4];
};

/* A core's blocks of a matrix: every `lanes`-th of every `step`-th row. */
struct share {
  uint32_t row, step, lane, lanes;
};

static struct share share_of(uint32_t rows, uint32_t core, uint32_t cores) {
  const uint32_t lanes = cores > rows ? cores / rows : 1u, row = core / lanes;
  return (struct share){row, cores / lanes, core - row * lanes, lanes};
}

/* [rows][blocks] becomes [blocks][positions], of which the first `rows` are there. */
static void split(const struct block *from, struct block *to, const struct ita_heads_positions *args, struct share mine) {
  const uint32_t blocks = args->columns / BLOCK;
  for (uint32_t row = mine.row; row < args->rows; row += mine.step) {
    for (uint32_t i = mine.lane; i < blocks; i += mine.lanes) to[i * args->positions + row] = from[row * blocks + i];
  }
}

void ita_heads_put_positions(const struct ita_heads_positions *args, uint32_t core, uint32_t cores) {
  const struct share mine = share_of(args->rows, core, cores);
  if (args->q != 0) split(args->q, args->to_q, args, mine);
  split(args->k, args->to_k, args, mine);
}

void ita_heads_take_columns(const struct ita_heads_columns *args, uint32_t core, uint32_t cores) {
  const struct share mine = share_of(args->rows, core, cores);
  const uint32_t blocks = args->columns / BLOCK, of_head = args->size / BLOCK, pitch = args->pitch / BLOCK;
  for (uint32_t row = mine.row; row < args->rows; row += mine.step) {
    const struct block *from = (const struct block *)args->heads + row * pitch;
    struct block *to = (struct block *)args->to + row * blocks;
    for (uint32_t first = 0; first < blocks; first += of_head, from += args->positions * pitch) {
      const uint32_t count = blocks - first < of_head ? blocks - first : of_head;
      for (uint32_t i = mine.lane; i < count; i += mine.lanes) to[first + i] = from[i];
    }
  }
}
