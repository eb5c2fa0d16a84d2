/* SPDX-License-Identifier: Apache-2.0 */
#include "loops.h"

#include <string.h>

#include "memory.h"

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

static struct slot *slot_at(const struct hart *hart, uint32_t pc) {
  uint32_t offset = pc - hart->pc_base;
  return offset < hart->code_bytes ? hart->slots + offset / 2 : NULL;
}

void set_loop_start(struct hart *hart, uint32_t loop, uint32_t pc) {
  struct slot *ip = slot_at(hart, pc);
  if (hart->loop[loop].start_ip != ip) hart->loop[loop].warm_epoch = NEVER;
  hart->loop[loop].start = pc;
  hart->loop[loop].start_ip = ip;
}

/* Wrap the slot at the loop end, and let no straight-line block run past it: the loop usually jumps back there. */
static void mark_loop_end(struct hart *hart, struct slot *end) {
  struct code_region *region = &hart->platform->region[hart->region];
  uint32_t last = (uint32_t)(end - hart->slots);
  uint32_t first = last - last % BOUNDARY_SLOTS;
  uint32_t last_line = (last + (SLOT_LENGTH(end) == 2)) / LINE_SLOTS;
  end->wrap |= WRAP_LOOP_END;
  end->mark &= (uint8_t)~MARK_ACCESS;
  part_runs(hart, end);
  if (end->op != OP_decode) end->handler = hart->platform->handlers[OP_wrapped];
  if (last < region->low) region->low = last;
  if (last + 2 > region->high) region->high = last + 2;
  for (uint32_t index = first; index <= last; index++) {
    struct slot *slot = hart->slots + index;
    uint32_t lines = last_line - index / LINE_SLOTS + 1;
    if (slot->lines > lines) slot->lines = (uint8_t)lines;
  }
}

void set_loop_end(struct hart *hart, uint32_t loop, uint32_t pc) {
  struct slot *ip = slot_at(hart, pc);
  hart->loop[loop].end = pc;
  hart->loop[loop].end_ip = ip;
  if (ip && !(ip->wrap & WRAP_LOOP_END)) mark_loop_end(hart, ip);
}

static int ends_active_loop(const struct hart *hart, const struct slot *end) {
  return (hart->loop[0].end_ip == end && hart->loop[0].count > 1) ||
         (hart->loop[1].end_ip == end && hart->loop[1].count > 1);
}

enum tail_status build_tail(struct hart *hart, struct slot *end) {
  struct slot *tail = hart->tail;
  const int32_t *handlers = hart->platform->handlers;
  uint32_t flags = op_flags[end->op];
  if (flags & JUMPS) {
    if (!ends_active_loop(hart, end) || end->op == OP_illegal) return TAIL_JUMP;
    hart->resume = end->inner;
    platform_fault(hart->platform, FAULT_ILLEGAL, hart, 0, "a hardware loop ends with a jump or branch");
    return TAIL_FAULT;
  }
  memset(hart->tail, 0, sizeof hart->tail);
  tail[0] = *end;
  tail[0].handler = end->inner;
  tail[0].wrap = 0;
  if (end->op == OP_auipc) { /* its address is not that of the copy */
    tail[0].op = OP_lui;
    tail[0].imm = (int32_t)(hart->pc_base + (uint32_t)((end - hart->slots) * 2) + (uint32_t)end->imm);
    tail[0].handler = tail[0].inner = handlers[OP_lui];
  }
  /* In a loop the instruction after a load at the end is the first of the body. */
  if ((flags & (LOADS_X | LOADS_F)) && hart->loop[0].end_ip == end && hart->loop[0].start_ip &&
      hart->loop[0].start_ip->op != OP_decode) {
    uint32_t stall = op_reads(hart->loop[0].start_ip, end->rd, (flags & LOADS_F) != 0)
                         ? (uint32_t)hart->platform->config.timing_load_use_stall : 0;
    tail[0].cost += (stall - end->stall);
    tail[0].stall = (uint16_t)stall;
  }
  tail[SLOT_LENGTH(end)].op = OP_loop_edge;
  tail[SLOT_LENGTH(end)].step = sizeof(struct slot);
  tail[SLOT_LENGTH(end)].handler = tail[SLOT_LENGTH(end)].inner = handlers[OP_loop_edge];
  hart->tail_ip = end;
  hart->tail_valid = 1;
  return TAIL_READY;
}

uint64_t divide_cycles(const struct platform *platform, uint32_t divisor_magnitude) {
  if (!platform->config.timing_divide_steps) return (uint64_t)platform->config.timing_divide_base;
  uint64_t zeros = divisor_magnitude ? (uint64_t)__builtin_clz(divisor_magnitude) : 32;
  return zeros + (uint64_t)platform->config.timing_divide_base;
}

/* The controller wakes on a pending unmasked interrupt, a cluster core on a pending unmasked event. */
int wait_for_interrupt(struct hart *hart) {
  struct platform *platform = hart->platform;
  const struct core_events *events = &platform->events.core[hart->index % 16];
  int pending = hart->is_controller ? (platform->interrupt_pending & platform->interrupt_mask) != 0
                                    : (events->buffer & (events->mask | events->irq_mask)) != 0;
  if (hart->wait.ready) {
    hart->wait.ready = 0;
    return ACCESS_OK;
  }
  if (pending) {
    hart->now += 1;
    return ACCESS_OK;
  }
  hart->wait.kind = WAIT_INTERRUPT;
  hart_sleep(hart);
  return ACCESS_SLEEP;
}
