/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of Snitch cores; interpreter.h has the rules, and `c` is the core's scoreboard. An
 * instruction waits until its registers are there, which costs one test as long as none is on its way. */
#include "interpreter.h"
#include "snitch.h"

/* Cycles of a division: as many steps as the quotient has bits. */
static uint64_t divide_steps(uint32_t a, uint32_t b) {
  int zeros_a = a ? __builtin_clz(a) : 32, zeros_b = b ? __builtin_clz(b) : 32;
  if (!b) return 37;
  return zeros_b >= zeros_a ? 5 + (uint64_t)(zeros_b - zeros_a) : 4;
}

#define SLOT_BYTES(which) 4u
#ifdef OBSERVED
#define EXECUTE snitch_execute_observed
#else
#define EXECUTE snitch_execute
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
#define SLOTS_OF_LINE SNITCH_LINE_SLOTS
#define FETCH_LINES(line, jumped) snitch_fetch(h, line, ip->lines, now, jumped)
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
#define HANDLERS p->snitch->handlers
#define OFFSETS offsets
#define TURN_CYCLE now
#define IS_OBSERVED_SLOT 1
#define DECODE_BLOCK() snitch_decode_block(h, ip)
#define RESUME_HART() (c = h->snitch_core, ip = h->ip, now = h->now)
#define BEGIN_HART RESUME_HART
#include "interpreter_loop.h"

op_wrapped: /* the first instruction behind a border: lines are asked for one stretch of code at a time */
  FETCH_BLOCK(0);
  DISPATCH_INNER();

#include "snitch_handlers.h"
#include "snitch_handlers_memory.h"
}
