/* SPDX-License-Identifier: Apache-2.0
 *
 * Where there are fewer rows than cores, several share a row: each finds its mean and deviation, and writes a part of
 * it. Unsigned bytes are taken 128 lower, which leaves distances to the mean as they are. */
#include "tvm_pulp/plain/norm.h"

#include "tvm_pulp/tiles.h"

enum { ONES = 0x01010101 };

struct row {
  const int8_t *x;
  uint32_t flips; /* makes words of unsigned bytes signed */
  int32_t mean, root;
};

static int32_t byte_of(const struct row *r, uint32_t column) { return (int8_t)((uint8_t)r->x[column] ^ (uint8_t)r->flips); }

static void find_deviation(struct row *r, uint32_t columns) {
  const int32_t count = (int32_t)columns, lower = r->flips != 0u ? 128 : 0;
  int32_t total = 0, squares = 0;
  uint32_t column = 0;
  if (((uintptr_t)r->x & 3u) == 0u) {
    const uint32_t *words = (const uint32_t *)(const void *)r->x;
    for (; column + 8u <= columns; column += 8u, words += 2) {
      const int32_t first = (int32_t)(words[0] ^ r->flips), second = (int32_t)(words[1] ^ r->flips);
      total = tvm_pulp_xp_sdotsp4(total, first, ONES), squares = tvm_pulp_xp_sdotsp4(squares, first, first);
      total = tvm_pulp_xp_sdotsp4(total, second, ONES), squares = tvm_pulp_xp_sdotsp4(squares, second, second);
    }
  }
  for (; column < columns; column++) {
    const int32_t value = byte_of(r, column);
    total += value, squares += value * value;
  }
  /* The mean is truncated, of the bytes as they are. */
  r->mean = (total + lower * count) / count - lower;
  squares += r->mean * r->mean * count - 2 * r->mean * total;
  r->root = tvm_pulp_isqrt(squares / count + 1);
}

static void write_part(const struct tvm_pulp_layer_norm_args *args, const struct row *r, struct tvm_pulp_range part,
                       int8_t *y) {
  const int32_t half = (int32_t)(args->levels / 2u), shift = args->shift, root = 2 * r->root;
  for (uint32_t column = part.begin; column < part.end; column++) {
    const int32_t weight = args->double_weight[column], bias = args->bias[column];
    const int32_t value = ((byte_of(r, column) - r->mean) * weight / root + bias) >> shift;
    y[column] = (int8_t)(value < -half ? -half : value >= half ? half - 1 : value);
  }
}

/* Each core has a copy of the arguments, as in dense. */
TVM_PULP_KERNEL(layer_norm) {
  const struct tvm_pulp_layer_norm_args own = *args;
  if (own.wide || own.real_weight || own.x_type > TVM_PULP_UINT8 || own.levels > 256u) {
    tvm_pulp_plain_layer_norm(&own, core, cores);
    return;
  }
  const uint32_t together = own.rows < cores ? cores / own.rows : 1u, team = core / together;
  const struct tvm_pulp_range rows = tvm_pulp_share(own.rows, team, cores / together);
  const struct tvm_pulp_range part = tvm_pulp_share(own.columns, core - team * together, together);
  for (uint32_t row = rows.begin; row < rows.end && team < cores / together; row++) {
    struct row r = {.x = tvm_pulp_row(own.x, row, own.columns), .flips = own.x_type == TVM_PULP_UINT8 ? 0x80808080u : 0u};
    find_deviation(&r, own.columns);
    write_part(&own, &r, part, tvm_pulp_out_row(own.y, row, own.columns));
  }
}
