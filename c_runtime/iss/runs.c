/* SPDX-License-Identifier: Apache-2.0 */
#include "runs.h"

enum { SLOTS_EACH = 2, LONGEST = 4 };

static enum op repeated(uint16_t op, uint32_t count) {
  if (op == OP_pv_sdotsp_b) return count < LONGEST ? OP_sdotsp_b_twice : OP_sdotsp_b_four;
  return count < LONGEST ? OP_sdotusp_b_twice : OP_sdotusp_b_four;
}

static uint32_t run_length(const struct slot *slot, const struct slot *last) {
  uint32_t count = 0;
  if (slot->op != OP_pv_sdotsp_b && slot->op != OP_pv_sdotusp_b) return 0;
  while (count < LONGEST && slot + count * SLOTS_EACH < last && slot[count * SLOTS_EACH].op == slot->op &&
         !slot[count * SLOTS_EACH].wrap)
    count++;
  return count;
}

void join_runs(const struct platform *platform, struct slot *first, const struct slot *last) {
  if (platform->config.observe) return; /* somebody looks between instructions */
  for (struct slot *slot = first; slot <= last; slot += SLOT_LENGTH(slot)) {
    uint32_t count = run_length(slot, last);
    if (count >= 2) slot->handler = platform->handlers[repeated(slot->op, count)];
  }
}

void part_runs(const struct hart *hart, struct slot *end) {
  for (uint32_t before = SLOTS_EACH; before < LONGEST * SLOTS_EACH; before += SLOTS_EACH) {
    struct slot *slot = end - before;
    if (slot < hart->slots) return;
    if (slot->op != OP_decode && !slot->wrap) slot->handler = slot->inner;
  }
}
