/* SPDX-License-Identifier: Apache-2.0
 *
 * Work is shared in tiles of four rows and four columns. One row, as in a language model that writes token by token,
 * has code of its own: it runs once per layer, so fetching its instructions counts as much as executing them. */
#include "tile.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

/* Rows that cannot be used where they are: four at a time into the scratch area. */
static const int8_t *stage_rows(const struct tvm_pulp_dense_args *args, const int8_t *x, uint32_t rows, uint32_t core) {
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  for (uint32_t row = 0; row < rows; ++row) {
    tvm_pulp_copy_words(scratch + row * args->depth_stride, x + row * args->x_stride, args->depth_stride >> 2);
  }
  return (const int8_t *)scratch;
}

static inline uint32_t is_simple_row(const struct tvm_pulp_dense_args *args) {
  return args->rows == 1u && (args->columns & 3u) == 0u && args->weight_offset == 0 &&
         args->x_type <= TVM_PULP_UINT8 && args->requant.kind == TVM_PULP_REQUANT_PULP_NARROW &&
         !args->requant.wide_result;
}

/* Four columns: w0 to w3 from the packed weights for every word of the row. */
#define FOUR_COLUMNS(DOT)                                                                                     \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[x]", 4, "%[a]") XP_LW("%[w0]", 4, "%[b]")                 \
                       XP_LW("%[w1]", 4, "%[b]") XP_LW("%[w2]", 4, "%[b]") XP_LW("%[w3]", 4, "%[b]")           \
                           DOT("%[v0]", "%[x]", "%[w0]") DOT("%[v1]", "%[x]", "%[w1]")                         \
                               DOT("%[v2]", "%[x]", "%[w2]") XP_LOOP_END DOT("%[v3]", "%[x]", "%[w3]") XP_END  \
                   : [a] "+r"(a), [b] "+r"(weight), XP_FOUR_OF("+r", v, v), [x] "=&r"(x), XP_FOUR("=&r", w)    \
                   : [n] "r"(words)                                                                            \
                   : "memory")

static inline int32_t requantized(int32_t value, int32_t mul, int32_t add, const struct tvm_pulp_requant *r) {
  value = tvm_pulp_xp_add_shift((int32_t)((uint32_t)value * (uint32_t)mul), add, r->shift);
  return tvm_pulp_xp_min(tvm_pulp_xp_max(value, r->low), r->high);
}

static TVM_PULP_CLOSE void run_row(const struct tvm_pulp_dense_args *args, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_requant r = args->requant;
  struct tvm_pulp_range range = tvm_pulp_share(args->columns >> 2, core, cores);
  uint32_t words = args->depth_stride >> 2, first = 4u * range.begin;
  const int8_t *weight = args->weight + first * args->depth_stride;
  const int32_t *bias = args->bias;
  const int32_t *muls = r.mul + first, *adds = r.add + first;
  int32_t mul = *r.mul, add = *r.add, x, w0, w1, w2, w3;
  uint8_t *y = (uint8_t *)args->y + first;
  for (uint32_t column = first; column != 4u * range.end; column += 4u, muls += 4, adds += 4, y += 4) {
    const int8_t *a = args->x;
    int32_t v[4] = {0, 0, 0, 0};
    if (bias) {
      for (uint32_t i = 0; i < 4u; ++i) v[i] = bias[column + i];
    }
    XP_BY_SIGN(args->x_type, FOUR_COLUMNS(XP_SDOTSP), FOUR_COLUMNS(XP_SDOTUSP));
    if (r.per_channel) {
      for (uint32_t i = 0; i < 4u; ++i) v[i] = requantized(v[i], muls[i], adds[i], &r);
    } else {
      for (uint32_t i = 0; i < 4u; ++i) v[i] = requantized(v[i], mul, add, &r);
    }
    tvm_pulp_xp_put_word(y, tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, v[1], v[0]), v[3], v[2]));
  }
}

/* Two lines of the instruction caches: one line further on, 64 x 64 x 64 takes 0.4 % longer. */
static __attribute__((noinline, aligned(32))) void run_rows(const struct tvm_pulp_dense_args *args, uint32_t core,
                                                            uint32_t cores) {
  uint32_t column_tiles = (args->columns + 3u) >> 2;
  struct tvm_pulp_range range = tvm_pulp_share(((args->rows + 3u) >> 2) * column_tiles, core, cores);
  uint32_t left = range.end - range.begin, first = 0, begin = range.begin;
  if (left == 0u) return;
  if (args->rows > 4u) {
    first = begin / column_tiles;
    begin -= first * column_tiles;
    first *= 4u;
  }
  struct tvm_pulp_tiles tiles;
  tvm_pulp_tiles_prepare(&tiles, args->weight, args->bias, args->columns, args->depth_stride, args->x_type,
                         &args->requant);
  uint32_t direct = ((uintptr_t)args->x & 3u) == 0u && (args->x_stride == args->depth_stride || args->rows == 1u);
  const int8_t *x = args->x + first * args->x_stride;
  uint8_t *y = (uint8_t *)args->y + first * args->y_stride;
  for (;;) {
    uint32_t end = begin + left < column_tiles ? begin + left : column_tiles;
    uint32_t remaining = args->rows - first, rows = remaining < 4u ? remaining : 4u;
    left -= end - begin;
    /* As many whole blocks of four rows as are mine, in one go. */
    if (begin == 0u && direct) {
      for (; left >= column_tiles && remaining >= rows + 4u; left -= column_tiles) rows += 4u;
    }
    const int8_t *source = direct ? x : stage_rows(args, x, rows, core);
    if (args->weight_offset) {
      tvm_pulp_tiles_run_summed(&tiles, source, rows, begin, end, y, args->y_stride, args->depth, args->weight_offset);
    } else {
      tvm_pulp_tiles_run(&tiles, source, rows, begin, end, y, args->y_stride);
    }
    if (left == 0u) return;
    begin = 0;
    first += rows;
    x += rows * args->x_stride;
    y += rows * args->y_stride;
  }
}

TVM_PULP_KERNEL(dense) {
  if (is_simple_row(args)) {
    run_row(args, core, cores);
  } else {
    run_rows(args, core, cores);
  }
}
