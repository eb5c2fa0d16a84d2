/* SPDX-License-Identifier: Apache-2.0
 *
 * Fast where both operands are bytes of one type. */
#include "four_elements.h"
#include "tvm_pulp/plain/elementwise.h"

/* Elements that are worth more code. */
enum { LONG = 128 };

#define LOOP(LOAD, CLIP)                                                                            \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_PAIRS(LOAD, LOAD)                                  \
                   FOUR_EACH(FROM_ZEROS) FOUR_EACH(TIMES) FOUR_FINISH(CLIP) XP_END OPERANDS)
#define LOOP_ZERO(LOAD, CLIP) \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_PAIRS(LOAD, LOAD) FOUR_EACH(TIMES) FOUR_FINISH(CLIP) XP_END OPERANDS)
/* By 2^16, half up: one instruction does what FOUR_FINISH takes two for. */
#define LOOP_ROUNDED(LOAD, CLIP)                                                                    \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_PAIRS(LOAD, LOAD) FOUR_EACH(TIMES)                 \
                       FOUR(XP_MULSR16, "%[m]") FOUR(CLIP, "%[h]") FOUR_STORE XP_END OPERANDS)
#define FROM_ZEROS(v, w) "sub " v "," v ",%[za]\nsub " w "," w ",%[zb]\n"
#define TIMES(v, w) "mul " v "," v "," w "\n"
#define OPERANDS                                                                                    \
  : FOUR_OUTPUTS, FOUR_SECONDS, [pa] "+r"(a), [pb] "+r"(b)                                                   \
  : FOUR_INPUTS, [za] "r"(p->zero_point_a), [zb] "r"(p->zero_point_b)                               \
  : "memory"

/* What is not of signed bytes around zero, and less than four. */
static __attribute__((noinline)) void other_piece(const struct tvm_pulp_mul_args *p, const uint8_t *a, const uint8_t *b,
                                                  uint8_t *y, uint32_t count) {
  const struct tvm_pulp_requant *r = &p->requant;
  int32_t mul = r->mul[0], add = r->add[0], w0, w1, w2, w3;
  FOUR_LOCALS;
  uint32_t n = count >> 2;
  FOUR_BY_TYPE(LOOP, p->a_type);
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    int32_t left = tvm_pulp_load(a, i, p->a_type) - p->zero_point_a;
    y[i] = tvm_pulp_one(r, left * (tvm_pulp_load(b, i, p->b_type) - p->zero_point_b), mul, add);
  }
}

static TVM_PULP_CLOSE void mul_piece(const struct tvm_pulp_mul_args *p, const uint8_t *a, const uint8_t *b, uint8_t *y,
                                     uint32_t count) {
  const struct tvm_pulp_requant *r = &p->requant;
  int32_t mul = r->mul[0], add = r->add[0], w0, w1, w2, w3;
  FOUR_LOCALS;
  uint32_t n = count >> 2;
  if (n != 0u && p->a_type == TVM_PULP_INT8 && (p->zero_point_a | p->zero_point_b) == 0 && r->low != 0) {
    LOOP_ZERO(XP_LB, XP_CLIPR);
    count &= 3u;
  }
  if (count != 0u) other_piece(p, a, b, y, count);
}

/* Signed bytes around zero have products of 16 bits: a multiplier of as many is rounded by one instruction. */
static __attribute__((noinline)) void long_piece(const struct tvm_pulp_mul_args *p, const uint8_t *a, const uint8_t *b,
                                                 uint8_t *y, uint32_t count) {
  const struct tvm_pulp_requant *r = &p->requant;
  int32_t mul = r->mul[0], add = r->add[0], w0, w1, w2, w3;
  uint32_t n = count >> 2, fits = r->shift == 16 && add == 1 << 15 && mul == (int16_t)mul && r->low != 0;
  FOUR_LOCALS;
  if (fits && p->a_type == TVM_PULP_INT8 && (p->zero_point_a | p->zero_point_b) == 0) {
    LOOP_ROUNDED(XP_LB, XP_CLIPR);
    count &= 3u;
  }
  if (count != 0u) mul_piece(p, a, b, y, count);
}

static __attribute__((noinline)) void mul_plainly(const struct tvm_pulp_mul_args *args, uint32_t core, uint32_t cores) {
  tvm_pulp_plain_mul(args, core, cores);
}

static __attribute__((noinline)) void mul_rows(const struct tvm_pulp_mul_args *args, uint32_t core, uint32_t cores) {
  const uint32_t columns = args->columns;
  FOUR_EACH_PAIR(mul_piece, 0);
}

TVM_PULP_KERNEL(mul) {
  if (args->a_type == TVM_PULP_INT32 || args->b_type != args->a_type || !tvm_pulp_is_four(&args->requant)) {
    mul_plainly(args, core, cores);
    return;
  }
  uint32_t columns = args->columns;
  if (!FOUR_ARE_DENSE) {
    mul_rows(args, core, cores);
    return;
  }
  struct tvm_pulp_range range = tvm_pulp_share_words(args->rows * columns, core, cores);
  if (range.begin == range.end) return;
  const uint8_t *a = (const uint8_t *)args->a + range.begin, *b = (const uint8_t *)args->b + range.begin;
  uint8_t *y = (uint8_t *)args->y + range.begin;
  if (range.end - range.begin >= LONG) {
    long_piece(args, a, b, y, range.end - range.begin);
  } else {
    mul_piece(args, a, b, y, range.end - range.begin);
  }
}
