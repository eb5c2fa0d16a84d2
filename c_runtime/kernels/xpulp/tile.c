/* SPDX-License-Identifier: Apache-2.0 */
#include "tile.h"

#include "requantize_block.h"
#include "tile_code.h"
/* <float biases> */
#include "tile_high_word.h"
/* </float biases> */
#include "tile_scaled.h"
#include "tvm_pulp/elements.h"

#define TILES(name, DOT, CLIP)                                   \
  TILE_FUNCTION(name##4, 4, DOT, COLUMNS(COLUMN4, CLIP) BYTES4)  \
  TILE_FUNCTION(name##2, 2, DOT, COLUMNS(COLUMN2, CLIP) BYTES2)  \
  TILE_FUNCTION(name##1, 1, DOT, COLUMNS(COLUMN1, CLIP) BYTES1)
/* Four rows are the usual case, so they have a shorter end where all columns have the same constants. */
#define SAME_TILES(name, DOT, CLIP) TILE_FUNCTION(name##same_, 4, DOT, SAME_COLUMNS4(CLIP) BYTES4)
#define RAW_TILES(name, DOT)            \
  TILE_FUNCTION(name##4, 4, DOT, WORDS4) \
  TILE_FUNCTION(name##2, 2, DOT, WORDS2) \
  TILE_FUNCTION(name##1, 1, DOT, WORDS1)

#define ALL_TILES(sign, DOT)                          \
  TILES(sign##_to_signed_, DOT, XP_CLIPR)             \
  TILES(sign##_to_unsigned_, DOT, XP_CLIPUR)          \
  SAME_TILES(sign##_to_signed_, DOT, XP_CLIPR)        \
  SAME_TILES(sign##_to_unsigned_, DOT, XP_CLIPUR)     \
  RAW_TILES(sign##_raw_, DOT)
ALL_TILES(signed, XP_SDOTSP)
ALL_TILES(unsigned, XP_SDOTUSP)
RAW_TILES(signed_halves_, XP_SDOTSP2)
RAW_TILES(unsigned_halves_, XP_SDOTUSP2)

/* Direct calls: a table of functions would be in L2, 15 cycles away. */
#define PICK(ROWS)                                                                             \
  static __attribute__((noinline)) void run_halves##ROWS(uint32_t x_type, struct tvm_pulp_tile_job *job) { \
    if (x_type == TVM_PULP_INT16) {                                                            \
      signed_halves_##ROWS(job);                                                               \
    } else {                                                                                   \
      unsigned_halves_##ROWS(job);                                                             \
    }                                                                                          \
  }                                                                                            \
  static void run##ROWS(const struct tvm_pulp_tiles *tiles, struct tvm_pulp_tile_job *job) {   \
    if (tiles->x_type == TVM_PULP_INT8) {                                                      \
      if (tiles->finish == TVM_PULP_TILE_TO_SIGNED) {                                          \
        signed_to_signed_##ROWS(job);                                                          \
      } else if (tiles->finish == TVM_PULP_TILE_TO_UNSIGNED) {                                 \
        signed_to_unsigned_##ROWS(job);                                                        \
      } else {                                                                                 \
        signed_raw_##ROWS(job);                                                                \
      }                                                                                        \
    } else if (tiles->finish == TVM_PULP_TILE_TO_SIGNED) {                                     \
      unsigned_to_signed_##ROWS(job);                                                          \
    } else if (tiles->finish == TVM_PULP_TILE_TO_UNSIGNED) {                                   \
      unsigned_to_unsigned_##ROWS(job);                                                        \
    } else if (tiles->x_type == TVM_PULP_UINT8) {                                              \
      unsigned_raw_##ROWS(job);                                                                \
    } else {                                                                                   \
      run_halves##ROWS(tiles->x_type, job);                                                    \
    }                                                                                          \
  }
PICK(4)
PICK(2)
PICK(1)

static void run_same4(const struct tvm_pulp_tiles *tiles, struct tvm_pulp_tile_job *job) {
  if (tiles->x_type == TVM_PULP_INT8) {
    if (tiles->finish == TVM_PULP_TILE_TO_SIGNED) {
      signed_to_signed_same_(job);
    } else {
      signed_to_unsigned_same_(job);
    }
  } else if (tiles->finish == TVM_PULP_TILE_TO_SIGNED) {
    unsigned_to_signed_same_(job);
  } else {
    unsigned_to_unsigned_same_(job);
  }
}

/* Tiles whose accumulators are kept in memory between product and requantization. */
enum { BLOCK_TILES = TVM_PULP_BLOCK_COLUMNS / 4, BLOCK_COLUMNS = TVM_PULP_BLOCK_COLUMNS };
enum { NOT_WRITTEN = 3 };

static uint32_t finish_of(const struct tvm_pulp_requant *r, uint32_t x_type) {
  if (x_type > TVM_PULP_UINT8 || r->kind != TVM_PULP_REQUANT_PULP_NARROW || r->wide_result) return TVM_PULP_TILE_RAW;
  if (r->low == 0) return TVM_PULP_TILE_TO_UNSIGNED;
  return r->low == ~r->high ? TVM_PULP_TILE_TO_SIGNED : TVM_PULP_TILE_RAW;
}

void tvm_pulp_tiles_prepare(struct tvm_pulp_tiles *tiles, const int8_t *weight, const int32_t *bias, uint32_t columns,
                            uint32_t stride, uint32_t x_type, const struct tvm_pulp_requant *requant) {
  struct tvm_pulp_tile_job *job = &tiles->job;
  tiles->weight = weight;
  tiles->bias = bias;
  tiles->requant = requant;
  tiles->columns = columns;
  tiles->x_type = x_type;
  tiles->finish = finish_of(requant, x_type);
  job->stride = stride;
  job->words = stride >> 2;
  job->channel_mask = 0u - requant->per_channel;
  if (tiles->finish == TVM_PULP_TILE_RAW) {
    tiles->result_shift = requant->kind == TVM_PULP_REQUANT_NONE ? 2u : NOT_WRITTEN;
    return;
  }
  tiles->result_shift = 0;
  job->shift = requant->shift;
  job->high = requant->high;
  tvm_pulp_set_tile_constants(tiles, requant);
}

/* One to three rows. */
static void run_few_rows(struct tvm_pulp_tiles *tiles, uint32_t rows) {
  struct tvm_pulp_tile_job *job = &tiles->job;
  FEW_ROWS(run2(tiles, job), run1(tiles, job));
}

/* Only to columns that a product was written to. */
static void add_row_bias(int32_t *block, uint32_t rows, uint32_t tiles, const int32_t *row_bias) {
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t i = 0; i < 4u * tiles; ++i) block[row * BLOCK_COLUMNS + i] += row_bias[row];
  }
}

/* Product into memory, then requantization of any kind; up to four rows. */
static __attribute__((noinline)) void run_blocks(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows,
                                                 uint32_t tile, uint32_t first, uint32_t count, uint8_t *y,
                                                 uint32_t y_stride, const int32_t *row_bias) {
  int32_t block[4 * BLOCK_COLUMNS];
  uint32_t finish = tiles->finish;
  tiles->finish = TVM_PULP_TILE_RAW;
  tiles->job.blocks = 1;
  while (count > 0u) {
    uint32_t part = count < BLOCK_TILES ? count : BLOCK_TILES;
    tvm_pulp_set_tiles(tiles, tile, first, part);
    tvm_pulp_set_tile_rows(tiles, a, (uint8_t *)block, 4u * BLOCK_COLUMNS);
    if (rows == 4u) {
      run4(tiles, &tiles->job);
    } else {
      run_few_rows(tiles, rows);
    }
    if (row_bias) add_row_bias(block, rows, part, row_bias);
    tvm_pulp_requantize_block(tiles->requant, block, rows, 4u * part, y, y_stride, first);
    count -= part;
    tile += part;
    first += 4u * part;
  }
  tiles->finish = finish;
}

static inline int32_t dot(uint32_t x_type, int32_t acc, int32_t x, int32_t w) {
  if (x_type == TVM_PULP_INT8) return tvm_pulp_xp_sdotsp4(acc, x, w);
  if (x_type == TVM_PULP_UINT8) return tvm_pulp_xp_sdotusp4(acc, x, w);
  return x_type == TVM_PULP_INT16 ? tvm_pulp_xp_sdotsp2(acc, x, w) : tvm_pulp_xp_sdotusp2(acc, x, w);
}

/* A matrix of less than four columns. */
static __attribute__((noinline)) void run_few_columns(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows,
                                                      uint8_t *y, uint32_t y_stride, const int32_t *row_bias) {
  uint32_t words = tiles->job.words, stride = tiles->job.stride;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < tiles->columns; ++column) {
      const int32_t *x = (const int32_t *)(const void *)(a + row * stride);
      const int32_t *w = (const int32_t *)(const void *)tiles->weight + column;
      int32_t acc = tiles->bias[column] + (row_bias ? row_bias[row] : 0);
      for (uint32_t k = 0; k < words; ++k) acc = dot(tiles->x_type, acc, x[k], w[4u * k]);
      tvm_pulp_finish(tiles->requant, y + row * y_stride, column, acc, column);
    }
  }
}

void tvm_pulp_tiles_run_biased(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t begin,
                               uint32_t end, uint8_t *y, uint32_t y_stride, const int32_t *row_bias) {
  uint32_t whole = tiles->columns >> 2, last = end < whole ? end : whole;
  if (whole == 0u) {
    run_few_columns(tiles, a, rows, y, y_stride, row_bias);
    return;
  }
  if (begin < last) run_blocks(tiles, a, rows, begin, 4u * begin, last - begin, y, y_stride, row_bias);
  if (end > whole) run_blocks(tiles, a, rows, whole, tiles->columns - 4u, 1, y, y_stride, row_bias);
}

/* Neighbouring tiles that the tile functions can finish. */
static inline void run_tiles(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t tile,
                             uint32_t first, uint32_t count, uint8_t *y, uint32_t y_stride) {
  tvm_pulp_set_tiles(tiles, tile, first, count);
  tvm_pulp_set_tile_rows(tiles, a, y + (first << tiles->result_shift), y_stride);
  if (rows < 4u) {
    run_few_rows(tiles, rows);
  } else {
    tiles->job.blocks = rows >> 2;
    if (tiles->finish != TVM_PULP_TILE_RAW && tiles->job.channel_mask == 0u) {
      run_same4(tiles, &tiles->job);
    } else {
      run4(tiles, &tiles->job);
    }
  }
}

static __attribute__((noinline)) void run_slowly(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows,
                                                 uint32_t begin, uint32_t end, uint8_t *y, uint32_t y_stride) {
  if (tiles->columns >= 4u && tiles->x_type <= TVM_PULP_UINT8 && tvm_pulp_is_scaled(tiles->requant)) {
    tvm_pulp_tiles_run_scaled(tiles, a, rows, begin, end, y, y_stride, 0);
    return;
  }
  /* <float biases> */
  if (tiles->columns >= 4u && tiles->x_type <= TVM_PULP_UINT8 && tvm_pulp_is_high_word(tiles->requant)) {
    tvm_pulp_tiles_run_high_word(tiles, a, rows, begin, end, y, y_stride);
    return;
  }
  /* </float biases> */
  for (uint32_t row = 0; row < rows; row += 4u) {
    uint32_t part = rows - row < 4u ? rows - row : 4u;
    tvm_pulp_tiles_run_biased(tiles, a + row * tiles->job.stride, part, begin, end, y + row * y_stride, y_stride, 0);
  }
}

void tvm_pulp_tiles_run(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t begin, uint32_t end,
                        uint8_t *y, uint32_t y_stride) {
  uint32_t whole = tiles->columns >> 2, last = end < whole ? end : whole;
  if (tiles->result_shift == NOT_WRITTEN || whole == 0u) {
    run_slowly(tiles, a, rows, begin, end, y, y_stride);
    return;
  }
  if (begin < last) run_tiles(tiles, a, rows, begin, 4u * begin, last - begin, y, y_stride);
  if (end > whole) run_tiles(tiles, a, rows, whole, tiles->columns - 4u, 1, y, y_stride);
}

/* Sum of the first `depth` values of a row. */
static int32_t sum_row(const int8_t *row, uint32_t depth, uint32_t is_unsigned) {
  const int32_t ones = 0x01010101;
  uint32_t pairs = depth >> 3;
  int32_t sum = 0, first, second;
#define SUM_PAIRS(DOT)                                                                                     \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[f]", 4, "%[x]") XP_LW("%[g]", 4, "%[x]")              \
                       DOT("%[v]", "%[f]", "%[o]") XP_LOOP_END DOT("%[v]", "%[g]", "%[o]") XP_END          \
                   : [x] "+r"(row), [v] "+r"(sum), [f] "=&r"(first), [g] "=&r"(second)                     \
                   : [n] "r"(pairs), [o] "r"(ones)                                                         \
                   : "memory")
  if (pairs && is_unsigned) {
    SUM_PAIRS(XP_SDOTUP);
  } else if (pairs) {
    SUM_PAIRS(XP_SDOTSP);
  }
  for (uint32_t left = depth & 7u; left > 0u; row += 4) {
    int32_t taken = left < 4u ? (int32_t)((uint32_t)ones >> (32u - 8u * left)) : ones, word = tvm_pulp_xp_word(row);
    sum = is_unsigned ? tvm_pulp_xp_sdotusp4(sum, word, taken) : tvm_pulp_xp_sdotsp4(sum, word, taken);
    left -= left < 4u ? left : 4u;
  }
  return sum;
}

void tvm_pulp_tiles_run_summed(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t begin,
                               uint32_t end, uint8_t *y, uint32_t y_stride, uint32_t depth, int32_t factor) {
  enum { AT_ONCE = 16 };
  int32_t row_bias[AT_ONCE];
  uint32_t is_scaled = tiles->columns >= 4u && tvm_pulp_is_scaled(tiles->requant), stride = tiles->job.stride;
  for (uint32_t first = 0, part; first < rows; first += part, a += part * stride, y += part * y_stride) {
    part = rows - first < AT_ONCE ? rows - first : AT_ONCE;
    for (uint32_t i = 0; i < part; ++i) {
      row_bias[i] = factor * sum_row(a + i * stride, depth, tiles->x_type == TVM_PULP_UINT8);
    }
    if (is_scaled) {
      tvm_pulp_tiles_run_scaled(tiles, a, part, begin, end, y, y_stride, row_bias);
      continue;
    }
    for (uint32_t row = 0; row < part; row += 4u) {
      uint32_t few = part - row < 4u ? part - row : 4u;
      tvm_pulp_tiles_run_biased(tiles, a + row * stride, few, begin, end, y + row * y_stride, y_stride, row_bias + row);
    }
  }
}

void tvm_pulp_copy_words(void *target, const void *source, uint32_t words) {
  uint32_t pairs = words >> 1, first, second;
  if (pairs) {
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[f]", 4, "%[s]") XP_LW("%[g]", 4, "%[s]") XP_SW("%[f]", 4, "%[t]")
                         XP_LOOP_END XP_SW("%[g]", 4, "%[t]") XP_END
                     : [t] "+r"(target), [s] "+r"(source), [f] "=&r"(first), [g] "=&r"(second)
                     : [n] "r"(pairs)
                     : "memory");
  }
  if (words & 1u) {
    __asm__ volatile("lw %[f],0(%[s])\nsw %[f],0(%[t])\n"
                     : [f] "=&r"(first)
                     : [t] "r"(target), [s] "r"(source)
                     : "memory");
  }
}
