/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic memory operations, done where the word lies. */
#include <string.h>

#include "memory.h"
#include "snitch.h"

static uint32_t combine(uint32_t op, uint32_t old, uint32_t operand) {
  switch (op) {
    case OP_amoadd_w: return old + operand;
    case OP_amoxor_w: return old ^ operand;
    case OP_amoand_w: return old & operand;
    case OP_amoor_w: return old | operand;
    case OP_amomin_w: return (int32_t)old < (int32_t)operand ? old : operand;
    case OP_amomax_w: return (int32_t)old > (int32_t)operand ? old : operand;
    case OP_amominu_w: return old < operand ? old : operand;
    case OP_amomaxu_w: return old > operand ? old : operand;
    default: return operand;
  }
}

/* A reservation is lost when anyone's atomic changes the word. */
static void drop_reservations(struct platform *platform, uint32_t address) {
  for (uint32_t i = 0; i < platform->hart_count; i++)
    if (platform->snitch->core[i].reserved == address) platform->snitch->core[i].reserved = 0;
}

int snitch_atomic(struct hart *hart, uint32_t op, uint32_t address, uint32_t operand, uint32_t *value) {
  struct platform *platform = hart->platform;
  struct snitch_core *core = &platform->snitch->core[hart->index];
  struct target target = resolve(platform, address, VIEW_CORE);
  uint8_t *memory = address % 4 ? NULL : memory_at(platform, address, 4, 1);
  uint64_t extra = (uint64_t)platform->config.scoreboard_atomic_extra;
  uint32_t result;
  int is_store = op != OP_lr_w, succeeds = op != OP_sc_w || core->reserved == address;
  platform->running = hart;
  if (!memory) return access_settle(hart, address % 4 ? access_misaligned(hart, address, 4, 1, " that is atomic and not aligned")
                                               : access_nowhere(hart, address, 4, 1));
  if (target.window->place == PLACE_L1) {
    core->answer = snitch_ask_l1(hart, target.offset, 4, is_store) + extra;
    if (!platform->pool)
      platform->snitch->bank_free[target.offset >> 3 & ((uint32_t)platform->config.memory_l1_banks - 1)] += extra;
  } else {
    core->answer = hart->now + (uint64_t)platform->config.memory_l2_latency + extra;
  }
  observe_access(hart, target, 4, 0, 0, 0);
  if (is_store && succeeds) observe_access(hart, target, 4, 0, 1, 0);
  memcpy(value, memory, 4);
  result = combine(op, *value, operand);
  if (op == OP_sc_w) *value = !succeeds;
  if (op == OP_lr_w) {
    core->reserved = address;
  } else if (succeeds) {
    drop_reservations(platform, address);
    memcpy(memory, &result, 4);
  }
  if (op == OP_sc_w) core->reserved = 0;
  return access_settle(hart, ACCESS_OK);
}
