/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of Snitch cores, built like execute.c: one label per operation, computed jumps between them. An
 * instruction waits until its registers are there, which costs one test as long as none is on its way. */
#include <string.h>

#include "memory.h"
#include "observed_access.h"
#include "scheduler.h"
#include "snitch.h"

/* Cycles of a division: as many steps as the quotient has bits. */
static uint64_t divide_steps(uint32_t a, uint32_t b) {
  int zeros_a = a ? __builtin_clz(a) : 32, zeros_b = b ? __builtin_clz(b) : 32;
  if (!b) return 37;
  return zeros_b >= zeros_a ? 5 + (uint64_t)(zeros_b - zeros_a) : 4;
}

#define RD h->x[ip->rd]
#define S1 h->x[ip->rs1]
#define S2 h->x[ip->rs2]
#define PC (h->pc_base + (uint32_t)((ip - h->slots) * 2))
#define DISPATCH_SLOT() goto *(void *)((char *)&&op_decode + ip->handler)
/* snitch_execute_observed.c includes this file with OBSERVED: the same interpreter with hooks, which are nothing here. */
#ifdef OBSERVED
#define EXECUTE snitch_execute_observed
#define DISPATCH() goto observe
#else
#define EXECUTE snitch_execute
#define DISPATCH() DISPATCH_SLOT()
#endif
#define NEXT()   \
  do {           \
    now += 1;    \
    ip += 2;     \
    DISPATCH();  \
  } while (0)
#define STALL_UNTIL(cycle_, counter)    \
  do {                                  \
    uint64_t until_ = (cycle_);         \
    if (UNLIKELY(now < until_)) {       \
      h->count.counter += until_ - now; \
      now = until_;                     \
    }                                   \
  } while (0)
/* Registers that are read or written; `cost` of the slot is their mask. */
#define ISSUE()                                                                              \
  do {                                                                                       \
    if (UNLIKELY(c->busy & ip->cost)) STALL_UNTIL(snitch_wait(c, ip->cost, now), load_use);  \
  } while (0)
#define ISSUE_AND_WRITE()                                             \
  do {                                                                \
    ISSUE();                                                          \
    snitch_take_port(c, now);                                         \
  } while (0)
#define FETCH_BLOCK(jumped)                                                             \
  do {                                                                                  \
    size_t line_ = (size_t)(ip - h->slots) / SNITCH_LINE_SLOTS;                         \
    uint64_t window_;                                                                   \
    memcpy(&window_, h->resident + line_ / 8, 8);                                       \
    if (UNLIKELY(~(window_ >> (line_ & 7)) & ((1ull << ip->lines) - 1)))                \
      now += snitch_fetch(h, (uint32_t)line_, ip->lines, now, jumped);                  \
  } while (0)
#define ENTER_BLOCK(jumped)                                        \
  do {                                                             \
    FETCH_BLOCK(jumped);                                           \
    if (UNLIKELY(now > limit + SPIN_QUANTUM)) goto yield_at_entry; \
    DISPATCH();                                                    \
  } while (0)
#define SAVE()             \
  do {                     \
    h->ip = ip;            \
    h->now = now;          \
    h->resume = ip->inner; \
  } while (0)
#define IN_TURN()                          \
  do {                                     \
    if (UNLIKELY(now > limit)) goto yield; \
  } while (0)

/* The first call of a platform publishes the offsets of the handlers. */
void EXECUTE(struct platform *p) {
#define OFFSET_OF(name) [OP_##name] = (int32_t)((char *)&&op_##name - (char *)&&op_decode),
#define OWN_OFFSET(name) [SNITCH_OP_##name] = (int32_t)((char *)&&op_##name - (char *)&&op_decode),
#define OPS_OF_THE_BASE(X)                                                                                      \
  X(illegal) X(wrapped) X(lui) X(auipc) X(jal) X(jalr) X(beq) X(bne) X(blt) X(bge) X(bltu) X(bgeu)              \
  X(addi) X(slti) X(sltiu) X(xori) X(ori) X(andi) X(slli) X(srli) X(srai) X(add) X(sub) X(sll) X(slt) X(sltu)   \
  X(xor) X(srl) X(sra) X(or) X(and) X(mul) X(mulh) X(mulhsu) X(mulhu) X(div) X(divu) X(rem) X(remu)             \
  X(fence) X(fence_i) X(ecall) X(ebreak) X(wfi) X(mret) X(csrrw) X(csrrs) X(csrrc) X(csrrwi) X(csrrsi)          \
  X(csrrci) X(lb) X(lh) X(lw) X(lbu) X(lhu) X(sb) X(sh) X(sw)
  static const int32_t offsets[SNITCH_OP_COUNT] = {OPS_OF_THE_BASE(OFFSET_OF) SNITCH_OPS(OWN_OFFSET)};
  struct hart *h;
  struct snitch_core *c;
  struct slot *ip;
  uint64_t now, limit;
  if (!p->snitch->handlers[OP_illegal]) {
    memcpy(p->snitch->handlers, offsets, sizeof offsets);
    return;
  }
#ifdef OBSERVED
  if (p->observer.stopped) { /* go on exactly where and with what the last call stopped */
    h = p->observer.stopped;
    c = h->snitch_core;
    limit = p->observer.limit;
    p->observer.stopped = NULL;
    ip = h->ip;
    now = h->now;
    goto *(void *)((char *)&&op_decode + h->resume);
  }
#endif

next_hart:
  h = schedule(p, &limit);
  if (!h) return;
  c = h->snitch_core;
  ip = h->ip;
  now = h->now;
#ifdef OBSERVED
  if (!h->observed) goto observe;
#endif
  goto *(void *)((char *)&&op_decode + h->resume);

#ifdef OBSERVED
observe: /* before each instruction */
  h->observed = 1;
  if (UNLIKELY(observer_looks(h, ip))) {
    SAVE();
    h->resume = ip->handler;
    if (observer_stops(h)) {
      p->observer.stopped = h;
      p->observer.limit = limit;
      return;
    }
  }
  DISPATCH_SLOT();
#endif

yield: /* another actor comes first; this instruction has not happened yet */
  SAVE();
  queue_insert(p, h, now);
  goto next_hart;

yield_at_entry: /* the same between two instructions */
  SAVE();
  h->resume = ip->handler;
  h->observed = 0;
  queue_insert(p, h, now);
  goto next_hart;

suspended:
  goto next_hart;

op_decode:
  snitch_decode_block(h, ip);
  if (!(ip->wrap & WRAP_BOUNDARY)) FETCH_BLOCK(1);
  DISPATCH_SLOT();

op_illegal:
  SAVE();
  platform_fault(p, FAULT_ILLEGAL, h, 0, "illegal instruction");
  goto suspended;

op_wrapped: /* the first instruction behind a border: lines are asked for one stretch of code at a time */
  FETCH_BLOCK(0);
  goto *(void *)((char *)&&op_decode + ip->inner);

#include "snitch_handlers.h"
#include "snitch_handlers_memory.h"
}
