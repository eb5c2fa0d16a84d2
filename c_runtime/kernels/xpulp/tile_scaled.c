/* SPDX-License-Identifier: Apache-2.0 */
#include "tile_scaled.h"

#include <stddef.h>

#include "tile_code.h"

_Static_assert(offsetof(struct tvm_pulp_tile_job, scaled) == 64, "the assembler code below reads its fields");
_Static_assert(offsetof(struct tvm_pulp_tile_job, row_bias) == 88, "the assembler code below reads it");

/* One column of accumulators; a4 holds its multiplier, t2 the nudge. a5 becomes the summand, a6 the shift. */
#define CONSTANTS                                                                        \
  XP_LWX("a5", "a3", "a2") "lw t1,64(a0)\nlw a6,68(a0)\nslli a4,a4,1\n" XP_MAC("a6", "a5", "t1") "lw a5,72(a0)\n"
#define SUMMAND "sll a5,a5,a6\nadd a5,a5,t2\nsrai a5,a5,1\n"
#define DOUBLE(r) "slli " r "," r ",1\n"
#define SCALE(r) "mulhsu " r "," r ",a4\n"
#define NUDGE(r) "srai t1," r ",31\n" XP_MAC(r, "t1", "t2")
#define ADD_CLIP(r) XP_ADDNR(r, "a5", "a6") XP_CLIPR(r, r, "a7")
#define SCALED4(r0, r1, r2, r3, NEXT_MUL)                                                \
  CONSTANTS DOUBLE(r0) DOUBLE(r1) DOUBLE(r2) DOUBLE(r3) SUMMAND SCALE(r0) SCALE(r1) SCALE(r2) SCALE(r3) NEXT_MUL \
  NUDGE(r0) NUDGE(r1) NUDGE(r2) NUDGE(r3) ADD_CLIP(r0) ADD_CLIP(r1) ADD_CLIP(r2) ADD_CLIP(r3)
#define SCALED2(r0, r1, r2, r3, NEXT_MUL) \
  CONSTANTS DOUBLE(r0) DOUBLE(r1) SUMMAND SCALE(r0) SCALE(r1) NEXT_MUL NUDGE(r0) NUDGE(r1) ADD_CLIP(r0) ADD_CLIP(r1)
#define SCALED1(r0, r1, r2, r3, NEXT_MUL) CONSTANTS DOUBLE(r3) SUMMAND SCALE(r3) NEXT_MUL NUDGE(r3) ADD_CLIP(r3)
/* The registers of the loop over the depth that were used here get their values back. */
#define SCALED_COLUMNS(COLUMN)                                                           \
  "lw a2,20(a0)\nlw a3,28(a0)\nlw t2,76(a0)\nand a3,a3,ra\nadd a2,a2,a3\nlw a3,24(a0)\n" \
  XP_LW("a4", 4, "a2") "lw a7,84(a0)\n"                                                  \
  COLUMN("s0", "s4", "s8", "t3", XP_LW("a4", 4, "a2"))                                   \
  COLUMN("s1", "s5", "s9", "t4", XP_LW("a4", 4, "a2"))                                   \
  COLUMN("s2", "s6", "s10", "t5", XP_LW("a4", 4, "a2"))                                  \
  COLUMN("s3", "s7", "s11", "t6", "")                                                    \
  "lw t1,8(a0)\nlw a5,80(a0)\nli t2,4\nslli a2,t1,1\nadd a2,a2,t1\nsub t2,t2,a2\n"

#define SCALED_TILES(FUNCTION, name, DOT)                           \
  FUNCTION(name##4, 4, DOT, SCALED_COLUMNS(SCALED4) MOVED4)         \
  FUNCTION(name##2, 2, DOT, SCALED_COLUMNS(SCALED2) MOVED2)         \
  FUNCTION(name##1, 1, DOT, SCALED_COLUMNS(SCALED1) MOVED1)
SCALED_TILES(TILE_FUNCTION, signed_, XP_SDOTSP)
SCALED_TILES(TILE_FUNCTION, unsigned_, XP_SDOTUSP)
SCALED_TILES(BIASED_TILE_FUNCTION, signed_biased_, XP_SDOTSP)
SCALED_TILES(BIASED_TILE_FUNCTION, unsigned_biased_, XP_SDOTUSP)

static void prepare(struct tvm_pulp_tiles *tiles) {
  tiles->job.scaled = tvm_pulp_scaled_of(tiles->requant);
  tvm_pulp_set_tile_constants(tiles, tiles->requant);
}

#define PICK(name, ROWS)                                                         \
  static void run_##name##ROWS(struct tvm_pulp_tile_job *job, uint32_t x_type) { \
    XP_BY_SIGN(x_type, signed_##name##ROWS(job), unsigned_##name##ROWS(job));    \
  }
PICK(, 4)
PICK(, 2)
PICK(, 1)
PICK(biased_, 4)
PICK(biased_, 2)
PICK(biased_, 1)

/* Rows that have summands of their own. */
static __attribute__((noinline)) void run_biased_rows(struct tvm_pulp_tile_job *job, uint32_t x_type, uint32_t rows) {
  if (rows >= 4u) {
    run_biased_4(job, x_type);
    return;
  }
  FEW_ROWS((run_biased_2(job, x_type), job->row_bias += 2), run_biased_1(job, x_type));
}

/* Neighbouring tiles; `first` is the first column of tile number `tile`. */
static void run_tiles(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t tile, uint32_t first,
                      uint32_t count, uint8_t *y, const int32_t *row_bias) {
  struct tvm_pulp_tile_job *job = &tiles->job;
  tvm_pulp_set_tiles(tiles, tile, first, count);
  tvm_pulp_set_tile_rows(tiles, a, y + first, job->y_stride);
  job->blocks = rows >> 2;
  if (row_bias) {
    job->row_bias = row_bias;
    run_biased_rows(job, tiles->x_type, rows);
    return;
  }
  if (rows >= 4u) {
    run_4(job, tiles->x_type);
    return;
  }
  FEW_ROWS(run_2(job, tiles->x_type), run_1(job, tiles->x_type));
}

void tvm_pulp_tiles_run_scaled(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t begin,
                               uint32_t end, uint8_t *y, uint32_t y_stride, const int32_t *row_bias) {
  uint32_t whole = tiles->columns >> 2, last = end < whole ? end : whole;
  prepare(tiles);
  tiles->job.y_stride = y_stride;
  if (begin < last) run_tiles(tiles, a, rows, begin, 4u * begin, last - begin, y, row_bias);
  if (end > whole) run_tiles(tiles, a, rows, whole, tiles->columns - 4u, 1, y, row_bias);
}
