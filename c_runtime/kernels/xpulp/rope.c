/* SPDX-License-Identifier: Apache-2.0
 *
 * Fast for heads of four elements: the rotation of a position stays in registers for all of its heads. */
#include "four_elements.h"
#include "tvm_pulp/plain/attention.h"

#define LOOP(CLIP)                                                                                       \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[v3]", 4, "%[x]") "nop\n" XP_DOTSP("%[v0]", "%[v3]", "%[r0]") \
                       XP_DOTSP("%[v1]", "%[v3]", "%[r1]") XP_DOTSP("%[v2]", "%[v3]", "%[r2]")           \
                       XP_DOTSP("%[v3]", "%[v3]", "%[r3]") FOUR_FINISH(CLIP) XP_END                      \
                   : FOUR_OUTPUTS, [x] "+r"(x)                                                           \
                   : FOUR_INPUTS, XP_FOUR_OF("r", r, w)                                                  \
                   : "memory")

/* Heads [head, head + n) of one position. */
static inline __attribute__((always_inline)) void rotate_heads(const struct tvm_pulp_rope_args *args, uint32_t position,
                                                               uint32_t head, uint32_t n) {
  const struct tvm_pulp_requant *r = &args->requant;
  const int8_t *rotation = args->rotation + 16u * position, *x = args->x + 4u * (position * args->heads + head);
  uint8_t *y = (uint8_t *)args->y + 4u * (position * args->heads + head);
  int32_t mul = r->mul[0], add = r->add[0], w[4];
  FOUR_LOCALS;
  for (uint32_t i = 0; i < 4u; ++i) w[i] = tvm_pulp_xp_word(rotation + 4u * i);
  tvm_pulp_xp_transpose4(w);
  FOUR_BY_RANGE(r, LOOP(XP_CLIPUR), LOOP(XP_CLIPR));
}

static __attribute__((noinline)) void many_positions(const struct tvm_pulp_rope_args *args, uint32_t core,
                                                     uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->positions * args->heads, core, cores);
  uint32_t left = range.end - range.begin, position = range.begin / args->heads;
  uint32_t head = range.begin - position * args->heads;
  for (; left > 0u; head = 0, ++position) {
    uint32_t n = args->heads - head < left ? args->heads - head : left;
    rotate_heads(args, position, head, n);
    left -= n;
  }
}

static __attribute__((noinline)) void other_heads(const struct tvm_pulp_rope_args *args, uint32_t core,
                                                  uint32_t cores) {
  tvm_pulp_plain_rope(args, core, cores);
}

TVM_PULP_KERNEL(rope) {
  if (args->size != 4u || !tvm_pulp_is_four(&args->requant)) {
    other_heads(args, core, cores);
  } else if (args->positions > 1u) {
    many_positions(args, core, cores);
  } else {
    /* One token at a time is the usual case, and its code is cold: as little as possible. */
    struct tvm_pulp_range range = tvm_pulp_share(args->heads, core, cores);
    if (range.end > range.begin) rotate_heads(args, 0, range.begin, range.end - range.begin);
  }
}
