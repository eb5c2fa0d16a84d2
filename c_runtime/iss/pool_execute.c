/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of Snitch cores in tiles; snitch_interpreter.h has the rules. Results of loads and of the unit for
 * products and packed operations have a write port of their own, so that only their times count. */
#include "pool.h"
#include "simd.h"
#include "snitch_interpreter.h"

#ifdef OBSERVED
#define EXECUTE pool_execute_observed
#else
#define EXECUTE pool_execute
#endif
#define ISSUE_AND_WRITE() ISSUE()
/* A result can be read from `cycle_` on. */
#define EXPECT(rd_, cycle_)                          \
  do {                                               \
    c->ready[rd_] = (cycle_);                        \
    c->busy |= (uint32_t)((rd_) < 32) << ((rd_)&31); \
  } while (0)

/* The first call of a platform publishes the offsets of the handlers; what has none is illegal here. */
void EXECUTE(struct platform *p) {
#define OFFSET_OF(name) [OP_##name] = (int32_t)((char *)&&op_##name - (char *)&&op_decode),
#define OWN_OFFSET(name) [SNITCH_OP_##name] = (int32_t)((char *)&&op_##name - (char *)&&op_decode),
#define SIX_FORMS(X, name) X(name##_h) X(name##_b) X(name##_sc_h) X(name##_sc_b) X(name##_sci_h) X(name##_sci_b)
#define ACCESS_FORMS(X, name) X(name) X(p_##name##_post) X(p_##name##_reg) X(p_##name##_post_reg)
#define OPS_OF_THE_BASE(X)                                                                                      \
  X(illegal) X(wrapped) X(lui) X(auipc) X(jal) X(jalr) X(beq) X(bne) X(blt) X(bge) X(bltu) X(bgeu)              \
  X(addi) X(slti) X(sltiu) X(xori) X(ori) X(andi) X(slli) X(srli) X(srai) X(add) X(sub) X(sll) X(slt) X(sltu)   \
  X(xor) X(srl) X(sra) X(or) X(and) X(mul) X(mulh) X(mulhsu) X(mulhu) X(div) X(divu) X(rem) X(remu)             \
  X(fence) X(fence_i) X(ecall) X(ebreak) X(wfi) X(mret) X(csrrw) X(csrrs) X(csrrc) X(csrrwi) X(csrrsi)          \
  X(csrrci) ACCESS_FORMS(X, lb) ACCESS_FORMS(X, lh) ACCESS_FORMS(X, lw) ACCESS_FORMS(X, lbu)                    \
  ACCESS_FORMS(X, lhu) ACCESS_FORMS(X, sb) ACCESS_FORMS(X, sh) ACCESS_FORMS(X, sw)
#define OPS_OF_XPULPIMG(X)                                                                                      \
  X(p_beqimm) X(p_bneimm) X(p_abs) X(p_slet) X(p_sletu) X(p_min) X(p_minu) X(p_max) X(p_maxu) X(p_exths)        \
  X(p_exthz) X(p_extbs) X(p_extbz) X(p_clip) X(p_clipu) X(p_clipr) X(p_clipur) X(p_mac) X(p_msu)                \
  SIX_FORMS(X, pv_add) SIX_FORMS(X, pv_sub) SIX_FORMS(X, pv_avg) SIX_FORMS(X, pv_avgu) SIX_FORMS(X, pv_min)     \
  SIX_FORMS(X, pv_minu) SIX_FORMS(X, pv_max) SIX_FORMS(X, pv_maxu) SIX_FORMS(X, pv_srl) SIX_FORMS(X, pv_sra)    \
  SIX_FORMS(X, pv_sll) SIX_FORMS(X, pv_or) SIX_FORMS(X, pv_xor) SIX_FORMS(X, pv_and) SIX_FORMS(X, pv_dotup)     \
  SIX_FORMS(X, pv_dotusp) SIX_FORMS(X, pv_dotsp) SIX_FORMS(X, pv_sdotup) SIX_FORMS(X, pv_sdotusp)               \
  SIX_FORMS(X, pv_sdotsp) X(pv_abs_h) X(pv_abs_b) X(pv_extract_h) X(pv_extract_b) X(pv_extractu_h)              \
  X(pv_extractu_b) X(pv_insert_h) X(pv_insert_b) X(pv_shuffle2_h) X(pv_shuffle2_b) X(pv_pack_h) X(pv_packhi_b)
#define OPS_OF_ATOMICS(X)                                                                                       \
  X(lr_w) X(sc_w) X(amoswap_w) X(amoadd_w) X(amoxor_w) X(amoand_w) X(amoor_w) X(amomin_w) X(amomax_w)           \
  X(amominu_w) X(amomaxu_w)
  static const int32_t offsets[SNITCH_OP_COUNT] = {OPS_OF_THE_BASE(OFFSET_OF) OPS_OF_XPULPIMG(OFFSET_OF)
                                                       OPS_OF_ATOMICS(OWN_OFFSET)};
  struct hart *h;
  struct snitch_core *c;
  struct slot *ip;
  uint64_t now, limit;
#define SCHEDULE pool_schedule
#define QUEUE_INSERT pool_insert
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

#include "pool_handlers.h"
#include "pool_handlers_memory.h"
}
