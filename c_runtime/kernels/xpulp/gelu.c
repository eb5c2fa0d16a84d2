/* SPDX-License-Identifier: Apache-2.0
 *
 * d = max(-b - |x|, 0) has the square that the definition asks for. */
#include "four_elements.h"
#include "tvm_pulp/plain/elementwise.h"

#define MAGNITUDE(v, w) XP_ABS(w, v)
#define DISTANCE(v, w) "sub " w ",%[b],"  w "\n"
#define CUT(v, w) XP_MAX(w, w, "x0")
/* one - d * d, negated where x is negative, then (one + that) >> 1, times x */
#define GATE(v, w)                                                                                              \
  "addi %[t],%[one],0\n" XP_MSU("%[t]", w, w) "srai " w "," v ",31\nxor %[t],%[t]," w "\nsub %[t],%[t]," w "\n" \
  XP_ADDN1("%[t]", "%[t]", "%[one]") "mul " v "," v ",%[t]\n"
#define LOOP(LOAD, CLIP)                                                                                         \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(LOAD, 1, "%[x]") FOUR_EACH(MAGNITUDE) FOUR_EACH(DISTANCE)  \
                   FOUR_EACH(CUT) FOUR_EACH(GATE) FOUR_FINISH(CLIP) XP_END                                       \
                   : FOUR_OUTPUTS, FOUR_SECONDS, [t] "=&r"(t), [x] "+r"(x)                                       \
                   : FOUR_INPUTS, [b] "r"(-p->b), [one] "r"(p->one)                                              \
                   : "memory")

static __attribute__((noinline)) void gelu_piece(const struct tvm_pulp_gelu_args *p, const uint8_t *x,
                                                uint8_t *y, uint32_t count) {
  const struct tvm_pulp_requant *r = &p->requant;
  int32_t mul = r->mul[0], add = r->add[0], t, w0, w1, w2, w3;
  FOUR_LOCALS;
  uint32_t n = count >> 2;
  FOUR_BY_TYPE(LOOP, p->x_type);
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    y[i] = tvm_pulp_one(r, tvm_pulp_gelu(tvm_pulp_load(x, i, p->x_type), p->b, p->one), mul, add);
  }
}

TVM_PULP_KERNEL(gelu) {
  if (args->x_type == TVM_PULP_INT32 || !tvm_pulp_is_four(&args->requant)) {
    tvm_pulp_plain_gelu(args, core, cores);
    return;
  }
  FOUR_EACH_PIECE(gelu_piece);
}
