/* SPDX-License-Identifier: Apache-2.0
 *
 * A product by a reciprocal in place of every division, which the cores would wait for one after the other; squares two
 * at a time. Bytes are taken 128 lower where they are unsigned: distances to the mean stay the same. */
#include "pairs.h"
#include "tvm_pulp/plain/norm.h"

#define HOLD(a, b) __asm__ volatile("" : "+r"(a), "+r"(b))

struct row {
  const uint8_t *x;
  uint8_t *y;
  uint32_t flip; /* makes all bytes of a word 128 more than signed ones */
  int32_t mean;  /* of the signed bytes */
  uint32_t multiplier;
  int32_t shift, correction;
};

/* Upper half of a signed by an unsigned word. */
TVM_PULP_INLINE int32_t high_word(int32_t a, uint32_t b) {
  int32_t result;
  __asm__("mulhsu %0,%1,%2" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

static uint32_t top_bit(uint32_t value) {
  uint32_t top = 0;
  while (value >>= 1) top++;
  return top;
}

/* Floor of the square root; value < 2^30. */
static uint32_t root_of(uint32_t value) {
  uint32_t root = 0;
  for (uint32_t bit = 1u << (top_bit(value) >> 1); bit != 0u; bit >>= 1) {
    const uint32_t next = root | bit;
    if (next * next <= value) root = next;
  }
  return root;
}

/* Quotients of doubled numbers by 2 * root, truncated: xpulp/norm_root.h shows why they are exact. */
static void set_divisor(struct row *r, uint32_t root) {
  const uint32_t top = top_bit(root);
  r->correction = (int32_t)(2u * root - 1u);
  r->shift = (int32_t)top;
  r->multiplier = 0x80000000u;
  if ((root & (root - 1u)) != 0u) {
    const uint32_t quotient = 0xFFFFFFFFu / root, rest = 0u - quotient * root;
    r->multiplier = (quotient << top) + (rest << top) / root + 1u;
    r->shift++;
  }
}

TVM_PULP_INLINE uint32_t raised_byte(const struct row *r, uint32_t column) { return r->x[column] ^ (r->flip & 0xFFu); }

/* Sum, and sum of squares, of the signed bytes of a row. */
static uint32_t row_sums(const struct row *r, uint32_t columns, int32_t *total) {
  uint32_t squares = 0, sum = 0, column = 0;
  if (((uintptr_t)r->x & 3u) == 0u) {
    for (; column + 4u <= columns; column += 4u) {
      const uint32_t raised = *(const uint32_t *)(const void *)(r->x + column) ^ r->flip;
      const uint32_t turned = tvm_pulp_exchange(raised);
      uint32_t first = tvm_pulp_even_pair(raised) * tvm_pulp_even_pair(turned);
      uint32_t second = tvm_pulp_odd_pair(raised) * tvm_pulp_odd_pair(turned);
      HOLD(first, second);
      const uint32_t halves = (raised & 0x00FF00FFu) + (raised >> 8 & 0x00FF00FFu);
      sum += (halves & 0xFFFFu) + (halves >> 16);
      squares += ((first + TVM_PULP_PAIR_BIAS) >> 16) + ((second + TVM_PULP_PAIR_BIAS) >> 16);
    }
  }
  squares -= (column >> 1) * TVM_PULP_PAIR_OFFSET;
  for (; column < columns; column++) {
    const uint32_t value = raised_byte(r, column);
    sum += value;
    squares += (value - 128u) * (value - 128u);
  }
  *total = (int32_t)(sum - 128u * columns);
  return squares;
}

TVM_PULP_INLINE int32_t corrected(int32_t value, int32_t correction) { return value + (value >> 31 & correction); }

TVM_PULP_INLINE uint32_t clipped(int32_t value, int32_t half) {
  if (__builtin_expect((uint32_t)(value + half) >= 2u * (uint32_t)half, 0)) value = value < 0 ? -half : half - 1;
  return (uint32_t)value & 0xFFu;
}

static void scale_row(const struct tvm_pulp_layer_norm_args *args, const struct row *r) {
  const int32_t *weight = args->double_weight, *bias = args->bias;
  const int32_t half = (int32_t)(args->levels / 2u), shift = args->shift, inner = r->shift, raised_mean = r->mean + 128;
  const int32_t correction = r->correction;
  const uint32_t multiplier = r->multiplier, columns = args->columns, flip = r->flip & 0xFFFFu;
  uint32_t column = 0;
  if ((((uintptr_t)r->x | (uintptr_t)r->y) & 1u) == 0u) {
    /* Two at a time: a loop of four is more than the 64 instructions that a core holds by itself. */
    for (; column + 2u <= columns; column += 2u, weight += 2, bias += 2) {
      const uint32_t two = *(const uint16_t *)(const void *)(r->x + column) ^ flip;
      int32_t w0 = weight[0], w1 = weight[1];
      HOLD(w0, w1);
      int32_t v0 = ((int32_t)(two & 0xFFu) - raised_mean) * w0, v1 = ((int32_t)(two >> 8) - raised_mean) * w1;
      int32_t b0 = bias[0];
      HOLD(v0, v1);
      int32_t q0 = high_word(corrected(v0, correction), multiplier), q1 = high_word(corrected(v1, correction), multiplier);
      int32_t b1 = bias[1];
      HOLD(q0, q1);
      HOLD(b0, b1);
      const uint32_t r0 = clipped(((q0 >> inner) + b0) >> shift, half);
      const uint32_t r1 = clipped(((q1 >> inner) + b1) >> shift, half);
      *(uint16_t *)(void *)(r->y + column) = (uint16_t)(r0 | r1 << 8);
    }
  }
  for (; column < columns; column++, weight++, bias++) {
    const int32_t value = corrected(((int32_t)raised_byte(r, column) - raised_mean) * *weight, correction);
    r->y[column] = (uint8_t)clipped(((high_word(value, multiplier) >> inner) + *bias) >> shift, half);
  }
}

/* Cores share the rows. */
TVM_PULP_KERNEL(layer_norm) {
  if (args->wide || args->x_type == TVM_PULP_INT32 || args->levels > 256u) {
    tvm_pulp_plain_layer_norm(args, core, cores);
    return;
  }
  const uint32_t columns = args->columns;
  const int32_t count = (int32_t)columns, lower = args->x_type == TVM_PULP_UINT8 ? 128 : 0;
  const struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t number = range.begin; number < range.end; number++) {
    struct row r = {.x = tvm_pulp_row(args->x, number, columns),
                    .y = tvm_pulp_out_row(args->y, number, columns),
                    .flip = lower != 0 ? 0u : 0x80808080u};
    int32_t total;
    uint32_t squares = row_sums(&r, columns, &total);
    /* The mean is truncated, of the bytes as they are. */
    r.mean = (total + lower * count) / count - lower;
    squares += (uint32_t)(r.mean * r.mean) * columns - 2u * (uint32_t)(r.mean * total);
    set_divisor(&r, root_of(squares / columns + 1u));
    scale_row(args, &r);
  }
}
