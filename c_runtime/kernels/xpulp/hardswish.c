/* SPDX-License-Identifier: Apache-2.0 */
#include "four_elements.h"
#include "tvm_pulp/plain/elementwise.h"

#define GATE(v, w) "add " w "," v ",%[three]\n"
#define CUT(v, w) XP_CLIPUR(w, w, "%[six]")
#define SCALE(v, w) "mul " v "," v "," w "\n"
#define LOOP(LOAD, CLIP)                                                                                               \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(LOAD, 1, "%[x]") FOUR_EACH(GATE) FOUR_EACH(CUT) FOUR_EACH(SCALE) \
                   FOUR_FINISH(CLIP) XP_END                                                                            \
                   : FOUR_OUTPUTS, FOUR_SECONDS, [x] "+r"(x)                                                           \
                   : FOUR_INPUTS, [three] "r"(p->three), [six] "r"(p->six)                                             \
                   : "memory")

static __attribute__((noinline)) void hardswish_piece(const struct tvm_pulp_hardswish_args *p, const uint8_t *x,
                                                uint8_t *y, uint32_t count) {
  const struct tvm_pulp_requant *r = &p->requant;
  /* One factor for the sixth and the multiplier; the result fits 32 bits, so intermediate ones may wrap. */
  int32_t mul = (int32_t)((uint32_t)r->mul[0] * (uint32_t)p->one_over_six), add = r->add[0], w0, w1, w2, w3;
  FOUR_LOCALS;
  uint32_t n = count >> 2;
  FOUR_BY_TYPE(LOOP, p->x_type);
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    int32_t value = tvm_pulp_load(x, i, p->x_type);
    y[i] = tvm_pulp_one(r, value * tvm_pulp_xp_clipur(value + p->three, p->six), mul, add);
  }
}

TVM_PULP_KERNEL(hardswish) {
  if (args->x_type == TVM_PULP_INT32 || args->six < 0 || !tvm_pulp_is_four(&args->requant)) {
    tvm_pulp_plain_hardswish(args, core, cores);
    return;
  }
  FOUR_EACH_PIECE(hardswish_piece);
}
