/* SPDX-License-Identifier: Apache-2.0 */
#include "tile_high_word.h"

#include <stddef.h>

#include "tile_code.h"

_Static_assert(offsetof(struct tvm_pulp_tile_job, scaled) == 64, "the assembler code below reads its fields");

/* One column of accumulators; a4 holds its multiplier, t1 the shift to the left, t2 the largest accumulator. a5 becomes
 * the summand, a6 the shift to the right. */
#define LIMIT(r) XP_CLIPR(r, r, "t2")
#define LEFT(r) "sll " r "," r ",t1\n"
#define SCALE(r) "mulhsu " r "," r ",a4\n"
#define ADD_CLIP(r) XP_ADDNR(r, "a5", "a6") XP_CLIPR(r, r, "a7")
#define CONSTANTS XP_LW("a5", 4, "a2") XP_LW("a6", 4, "a2")
#define HIGH4(r0, r1, r2, r3, NEXT_MUL)                                                                    \
  CONSTANTS LIMIT(r0) LIMIT(r1) LIMIT(r2) LIMIT(r3) LEFT(r0) LEFT(r1) LEFT(r2) LEFT(r3) SCALE(r0) SCALE(r1) SCALE(r2) \
  SCALE(r3) NEXT_MUL ADD_CLIP(r0) ADD_CLIP(r1) ADD_CLIP(r2) ADD_CLIP(r3)
#define HIGH2(r0, r1, r2, r3, NEXT_MUL) \
  CONSTANTS LIMIT(r0) LIMIT(r1) LEFT(r0) LEFT(r1) SCALE(r0) SCALE(r1) NEXT_MUL ADD_CLIP(r0) ADD_CLIP(r1)
#define HIGH1(r0, r1, r2, r3, NEXT_MUL) CONSTANTS LIMIT(r3) LEFT(r3) SCALE(r3) NEXT_MUL ADD_CLIP(r3)
/* The registers of the loop over the depth that were used here get their values back. */
#define HIGH_COLUMNS(COLUMN)                                                             \
  "lw a2,20(a0)\nslli a3,ra,1\nadd a2,a2,ra\nadd a2,a2,a3\nlw t1,64(a0)\nlw t2,68(a0)\n" \
  XP_LW("a4", 4, "a2") "lw a7,84(a0)\n"                                                  \
  COLUMN("s0", "s4", "s8", "t3", XP_LW("a4", 4, "a2"))                                   \
  COLUMN("s1", "s5", "s9", "t4", XP_LW("a4", 4, "a2"))                                   \
  COLUMN("s2", "s6", "s10", "t5", XP_LW("a4", 4, "a2"))                                  \
  COLUMN("s3", "s7", "s11", "t6", "")                                                    \
  "lw t1,8(a0)\nlw a5,80(a0)\nli t2,4\nslli a2,t1,1\nadd a2,a2,t1\nsub t2,t2,a2\n"

#define HIGH_TILES(name, DOT)                                  \
  TILE_FUNCTION(name##4, 4, DOT, HIGH_COLUMNS(HIGH4) MOVED4)   \
  TILE_FUNCTION(name##2, 2, DOT, HIGH_COLUMNS(HIGH2) MOVED2)   \
  TILE_FUNCTION(name##1, 1, DOT, HIGH_COLUMNS(HIGH1) MOVED1)
HIGH_TILES(signed_, XP_SDOTSP)
HIGH_TILES(unsigned_, XP_SDOTUSP)

#define PICK(ROWS)                                                         \
  static void run_##ROWS(struct tvm_pulp_tile_job *job, uint32_t x_type) { \
    XP_BY_SIGN(x_type, signed_##ROWS(job), unsigned_##ROWS(job));          \
  }
PICK(4)
PICK(2)
PICK(1)

/* Neighbouring tiles; `first` is the first column of tile number `tile`. */
static void run_tiles(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t tile, uint32_t first,
                      uint32_t count, uint8_t *y, uint32_t y_stride) {
  struct tvm_pulp_tile_job *job = &tiles->job;
  tvm_pulp_set_tiles(tiles, tile, first, count);
  job->mul = tiles->requant->mul + 3u * first;
  tvm_pulp_set_tile_rows(tiles, a, y + first, y_stride);
  job->blocks = rows >> 2;
  if (rows >= 4u) {
    run_4(job, tiles->x_type);
    return;
  }
  FEW_ROWS(run_2(job, tiles->x_type), run_1(job, tiles->x_type));
}

void tvm_pulp_tiles_run_high_word(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t begin,
                                  uint32_t end, uint8_t *y, uint32_t y_stride) {
  uint32_t whole = tiles->columns >> 2, last = end < whole ? end : whole;
  tiles->job.scaled = tvm_pulp_high_word_of(tiles->requant);
  if (begin < last) run_tiles(tiles, a, rows, begin, 4u * begin, last - begin, y, y_stride);
  if (end > whole) run_tiles(tiles, a, rows, whole, tiles->columns - 4u, 1, y, y_stride);
}
