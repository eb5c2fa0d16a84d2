/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of Snitch cores with a DMA core; snitch_interpreter.h has the rules. */
#include "snitch_interpreter.h"

#ifdef OBSERVED
#define EXECUTE snitch_execute_observed
#else
#define EXECUTE snitch_execute
#endif
#define ISSUE_AND_WRITE()                                             \
  do {                                                                \
    ISSUE();                                                          \
    snitch_take_port(c, now);                                         \
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
#define SCHEDULE schedule
#define QUEUE_INSERT queue_insert
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
