/* SPDX-License-Identifier: Apache-2.0
 *
 * A value at distance d below the largest is halved (d + 16) >> 5 times. */
#include "softmax_row.h"
#include "tvm_pulp/work_share.h"

/* Four elements: how often each is halved, 0 to 8, is ((d >> 1) + 8) >> 4 in every byte. Two words hold what a value
 * becomes that is halved 0 to 7 times, a shuffle picks; halved 8 times, nothing is left. */
#define HALVED                                                                                              \
  XP_LW("%[d]", 4, "%[x]") "mv %[v],%[l]\n" XP_SUB4("%[d]", "%[c]", "%[d]") /* d >> 1, + 8, >> 4 */         \
  XP_R(0x57, 7, 0x21, "%[d]", "%[d]", "x0") XP_R(0x57, 7, 0x00, "%[d]", "%[d]", "x4")                       \
  XP_R(0x57, 7, 0x20, "%[d]", "%[d]", "x2") XP_SHUFFLE2_B("%[v]", "%[u]", "%[d]") /* d >> 3, - 1 */         \
  XP_R(0x57, 7, 0x21, "%[d]", "%[d]", "x1") XP_R(0x57, 7, 0x01, "%[d]", "%[d]", "x31") "and %[v],%[v],%[d]\n"

static uint32_t word_of(uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return a | b << 8 | c << 16 | d << 24; }

static uint32_t halvings(uint32_t largest, uint32_t value) { return (((largest - value) & 0xffu) + 16u) >> 5; }

/* The sum of 256, halved for every element; whatever the sign of bytes, their differences are the same. */
static uint32_t sum_of(const uint8_t *x, uint32_t count, uint32_t largest) {
  uint32_t sum = count, d, v, n = count >> 2, best = (largest & 0xffu) * 0x01010101u;
  if (n) {
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") HALVED XP_LOOP_END XP_SDOTUP("%[s]", "%[v]", "%[o]") XP_END
                     : [x] "+r"(x), [s] "+r"(sum), [d] "=&r"(d), [v] "=&r"(v)
                     : [n] "r"(n), [c] "r"(best), [l] "r"(word_of(255, 127, 63, 31)), [u] "r"(word_of(15, 7, 3, 1)),
                       [o] "r"(0x01010101)
                     : "memory");
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) sum += (256u >> halvings(largest, x[i])) - 1u;
  return sum;
}

/* `from`, up to 255, halved for every element. */
static void write(const uint8_t *x, uint8_t *y, uint32_t count, uint32_t largest, uint32_t from) {
  uint32_t d, v, n = count >> 2, best = (largest & 0xffu) * 0x01010101u;
  if (n) {
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") HALVED XP_LOOP_END XP_SW("%[v]", 4, "%[y]") XP_END
                     : [x] "+r"(x), [y] "+r"(y), [d] "=&r"(d), [v] "=&r"(v)
                     : [n] "r"(n), [c] "r"(best), [l] "r"(word_of(from, from >> 1, from >> 2, from >> 3)),
                       [u] "r"(word_of(from >> 4, from >> 5, from >> 6, from >> 7))
                     : "memory");
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = (uint8_t)(from >> halvings(largest, x[i]));
}

/* Denominator of a row that is seen in groups: it shrinks when a group brings a new largest value. */
static uint32_t grouped_denominator(const int8_t *x, uint32_t columns, uint32_t group, int32_t *largest) {
  uint32_t denominator = 0;
  *largest = -128;
  for (uint32_t first = 0; first < columns; first += group) {
    uint32_t count = columns - first < group ? columns - first : group;
    int32_t best = tvm_pulp_xp_max(*largest, tvm_pulp_maximum_signed(x + first, count));
    denominator = (denominator >> ((best - *largest + 16) >> 5)) +
                  sum_of((const uint8_t *)x + first, count, (uint32_t)best);
    *largest = best;
  }
  return denominator;
}

static void write_row(const struct tvm_pulp_softmax_ita_args *args, const uint8_t *x, uint8_t *y) {
  uint32_t columns = args->columns, is_signed = args->x_type == TVM_PULP_INT8, top = (args->levels - 1u) * 256u;
  int32_t largest;
  uint32_t denominator;
  if (args->group) {
    denominator = grouped_denominator((const int8_t *)x, columns, args->group, &largest);
    top = (args->levels / 2u - 1u) * 256u;
  } else {
    largest = is_signed ? tvm_pulp_maximum_signed((const int8_t *)x, columns)
                        : (int32_t)tvm_pulp_maximum_unsigned(x, columns);
    denominator = sum_of(x, columns, (uint32_t)largest);
  }
  write(x, y, columns, (uint32_t)largest, top / denominator);
}

TVM_PULP_KERNEL(softmax_ita) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    write_row(args, args->x + row * args->columns, args->y + row * args->columns);
  }
}
