/* SPDX-License-Identifier: Apache-2.0
 *
 * Every decoded operation, with what it reads. One X-macro list keeps decoder, handlers and hazard checks in step.
 * The first entry must stay `decode`: a zeroed slot is an instruction that has not been decoded yet. */
#ifndef ISS_OPS_H
#define ISS_OPS_H

enum {
  READS_1 = 1 << 0,  /* integer rs1 */
  READS_2 = 1 << 1,  /* integer rs2 */
  READS_D = 1 << 2,  /* integer register in the rd field: accumulators, inserts, third operand of stores */
  LOADS_X = 1 << 3,  /* result arrives one cycle late in an integer register */
  LOADS_F = 1 << 4,  /* the same in a floating-point register */
  READS_F1 = 1 << 5, /* floating-point rs1, rs2, rs3 */
  READS_F2 = 1 << 6,
  READS_F3 = 1 << 7,
  JUMPS = 1 << 8,    /* ends a straight-line block */
  MULTIPLIES = 1 << 9,
  WRITES_X = 1 << 10,
  USES_PC = 1 << 11,
  FP_OP = 1 << 12,
  ACCESSES = 1 << 13 /* memory, and nothing happens before its turn comes */
};

#define R1 (READS_1 | WRITES_X)
#define R12 (READS_1 | READS_2 | WRITES_X)
#define R12D (READS_1 | READS_2 | READS_D | WRITES_X)
#define R1D (READS_1 | READS_D | WRITES_X)
#define BR (READS_1 | READS_2 | JUMPS)

/* Two-operand SIMD operation: vector, scalar register and immediate second operand, halves and bytes. */
#define SIMD_FORMS(X, name, flags)                                                                       \
  X(name##_h, flags | READS_1 | READS_2 | WRITES_X)                                                      \
  X(name##_b, flags | READS_1 | READS_2 | WRITES_X)                                                      \
  X(name##_sc_h, flags | READS_1 | READS_2 | WRITES_X)                                                   \
  X(name##_sc_b, flags | READS_1 | READS_2 | WRITES_X)                                                   \
  X(name##_sci_h, flags | READS_1 | WRITES_X)                                                            \
  X(name##_sci_b, flags | READS_1 | WRITES_X)

#define HELPER_OPS(X)                                                                                    \
  X(decode, 0) X(loop_edge, JUMPS)                                                                       \
  X(sdotsp_b_twice, 0) X(sdotsp_b_four, 0) X(sdotusp_b_twice, 0) X(sdotusp_b_four, 0)

#define BASE_OPS(X)                                                                                      \
  X(illegal, JUMPS) X(wrapped, 0)                                                                        \
  X(lui, WRITES_X) X(auipc, WRITES_X | USES_PC) X(jal, WRITES_X | JUMPS | USES_PC)                       \
  X(jalr, R1 | JUMPS | USES_PC)                                                                          \
  X(beq, BR) X(bne, BR) X(blt, BR) X(bge, BR) X(bltu, BR) X(bgeu, BR)                                    \
  X(addi, R1) X(slti, R1) X(sltiu, R1) X(xori, R1) X(ori, R1) X(andi, R1) X(slli, R1) X(srli, R1)        \
  X(srai, R1) X(add, R12) X(sub, R12) X(sll, R12) X(slt, R12) X(sltu, R12) X(xor, R12) X(srl, R12)       \
  X(sra, R12) X(or, R12) X(and, R12)                                                                     \
  X(mul, R12 | MULTIPLIES) X(mulh, R12 | MULTIPLIES) X(mulhsu, R12 | MULTIPLIES)                         \
  X(mulhu, R12 | MULTIPLIES) X(div, R12) X(divu, R12) X(rem, R12) X(remu, R12)                           \
  X(fence, 0) X(fence_i, JUMPS) X(ecall, JUMPS) X(ebreak, JUMPS) X(wfi, JUMPS) X(mret, JUMPS)            \
  X(csrrw, R1) X(csrrs, R1) X(csrrc, R1) X(csrrwi, WRITES_X) X(csrrsi, WRITES_X) X(csrrci, WRITES_X)

#define LD (R1 | LOADS_X | ACCESSES)
#define LD2 (R12 | LOADS_X | ACCESSES)
#define ST (READS_1 | READS_2 | ACCESSES)
#define ST3 (READS_1 | READS_2 | READS_D | ACCESSES)

#define BASE_MEMORY_OPS(X)                                                                               \
  X(lb, LD) X(lh, LD) X(lw, LD) X(lbu, LD) X(lhu, LD) X(sb, ST) X(sh, ST) X(sw, ST)

#define XPULP_MEMORY_OPS(X)                                                                              \
  X(p_lb_post, LD) X(p_lh_post, LD) X(p_lw_post, LD) X(p_lbu_post, LD) X(p_lhu_post, LD)                 \
  X(p_lb_reg, LD2) X(p_lh_reg, LD2) X(p_lw_reg, LD2) X(p_lbu_reg, LD2) X(p_lhu_reg, LD2)                 \
  X(p_lb_post_reg, LD2) X(p_lh_post_reg, LD2) X(p_lw_post_reg, LD2) X(p_lbu_post_reg, LD2)               \
  X(p_lhu_post_reg, LD2)                                                                                 \
  X(p_sb_post, ST) X(p_sh_post, ST) X(p_sw_post, ST) X(p_sb_reg, ST3) X(p_sh_reg, ST3) X(p_sw_reg, ST3)  \
  X(p_sb_post_reg, ST3) X(p_sh_post_reg, ST3) X(p_sw_post_reg, ST3)

/* Xpulpimg, the part of XpulpV2 that the cores of pools have. */
#define XPULPIMG_OPS(X)                                                                                  \
  X(p_beqimm, READS_1 | JUMPS) X(p_bneimm, READS_1 | JUMPS)                                              \
  X(p_abs, R1) X(p_slet, R12) X(p_sletu, R12) X(p_min, R12) X(p_minu, R12) X(p_max, R12) X(p_maxu, R12)  \
  X(p_exths, R1) X(p_exthz, R1) X(p_extbs, R1) X(p_extbz, R1)                                            \
  X(p_clip, R1) X(p_clipu, R1) X(p_clipr, R12) X(p_clipur, R12) X(p_mac, R12D) X(p_msu, R12D)

#define XPULP_OPS(X)                                                                                     \
  X(p_elw, LD)                                                                                           \
  X(lp_starti, USES_PC) X(lp_endi, USES_PC) X(lp_count, READS_1) X(lp_counti, 0)                         \
  X(lp_setup, READS_1 | USES_PC) X(lp_setupi, USES_PC)                                                   \
  X(p_ror, R12) X(p_ff1, R1) X(p_fl1, R1) X(p_clb, R1) X(p_cnt, R1)                                      \
  X(p_extract, R1) X(p_extractu, R1) X(p_insert, R1D) X(p_bclr, R1) X(p_bset, R1)                        \
  X(p_extractr, R12) X(p_extractur, R12) X(p_insertr, R12D) X(p_bclrr, R12) X(p_bsetr, R12)              \
  X(p_muls, R12) X(p_mulhhs, R12) X(p_mulu, R12) X(p_mulhhu, R12)                                        \
  X(p_macs, R12D) X(p_machhs, R12D) X(p_macu, R12D) X(p_machhu, R12D)                                    \
  X(p_addn, R12) X(p_addun, R12) X(p_subn, R12) X(p_subun, R12)                                          \
  X(p_addnr, R12D) X(p_addunr, R12D) X(p_subnr, R12D) X(p_subunr, R12D)

/* Packed operations in the order of their numbers: name, kind of lanes, what becomes of lanes `a` and `b` (simd.h). Y
 * makes something of each, and is told X. */
#define PACKED_IMG_OPS(Y, X)                                                                             \
  Y(X, add, SIGNED_LANES, a + b) Y(X, sub, SIGNED_LANES, a - b)                                          \
  Y(X, avg, SIGNED_LANES, WRAP(a + b) >> 1) Y(X, avgu, UNSIGNED_LANES, UNSIGNED_WRAP(a + b) >> 1)        \
  Y(X, min, SIGNED_LANES, a < b ? a : b) Y(X, minu, UNSIGNED_LANES, a < b ? a : b)                       \
  Y(X, max, SIGNED_LANES, a > b ? a : b) Y(X, maxu, UNSIGNED_LANES, a > b ? a : b)                       \
  Y(X, srl, UNSIGNED_LANES, a >> (b & (LANE_BITS - 1)))                                                  \
  Y(X, sra, SIGNED_LANES, a >> (b & (LANE_BITS - 1)))                                                    \
  Y(X, sll, UNSIGNED_LANES, (unsigned)a << (b & (LANE_BITS - 1))) Y(X, or, BITWISE_LANES, x | y)         \
  Y(X, xor, BITWISE_LANES, x ^ y) Y(X, and, BITWISE_LANES, x & y)
#define PACKED_COMPARISONS(Y, X)                                                                         \
  Y(X, cmpeq, SIGNED_LANES, a == b ? -1 : 0) Y(X, cmpne, SIGNED_LANES, a != b ? -1 : 0)                  \
  Y(X, cmpgt, SIGNED_LANES, a > b ? -1 : 0) Y(X, cmpge, SIGNED_LANES, a >= b ? -1 : 0)                   \
  Y(X, cmplt, SIGNED_LANES, a < b ? -1 : 0) Y(X, cmple, SIGNED_LANES, a <= b ? -1 : 0)                   \
  Y(X, cmpgtu, UNSIGNED_LANES, a > b ? -1 : 0) Y(X, cmpgeu, UNSIGNED_LANES, a >= b ? -1 : 0)             \
  Y(X, cmpltu, UNSIGNED_LANES, a < b ? -1 : 0) Y(X, cmpleu, UNSIGNED_LANES, a <= b ? -1 : 0)
#define PACKED_OPS(Y, X) PACKED_IMG_OPS(Y, X) PACKED_COMPARISONS(Y, X)
#define PACKED_FORMS(X, name, kind, result) SIMD_FORMS(X, pv_##name, 0)

#define SIMD_IMG_OPS(X)                                                                                  \
  PACKED_IMG_OPS(PACKED_FORMS, X)                                                                        \
  SIMD_FORMS(X, pv_dotup, 0) SIMD_FORMS(X, pv_dotusp, 0) SIMD_FORMS(X, pv_dotsp, 0)                      \
  SIMD_FORMS(X, pv_sdotup, READS_D) SIMD_FORMS(X, pv_sdotusp, READS_D) SIMD_FORMS(X, pv_sdotsp, READS_D) \
  X(pv_abs_h, R1) X(pv_abs_b, R1) X(pv_extract_h, R1) X(pv_extract_b, R1) X(pv_extractu_h, R1)           \
  X(pv_extractu_b, R1) X(pv_insert_h, R1D) X(pv_insert_b, R1D)                                           \
  X(pv_shuffle2_h, R12D) X(pv_shuffle2_b, R12D) X(pv_pack_h, R12) X(pv_packhi_b, R12D)

#define SIMD_OPS(X)                                                                                      \
  PACKED_COMPARISONS(PACKED_FORMS, X)                                                                    \
  X(pv_shuffle_h, R12) X(pv_shuffle_b, R12) X(pv_shuffle_sci_h, R1) X(pv_shuffle_sci_b, R1)              \
  X(pv_packlo_b, R12D)

#define F1 (READS_F1 | FP_OP)
#define F12 (READS_F1 | READS_F2 | FP_OP)
#define F123 (READS_F1 | READS_F2 | READS_F3 | FP_OP)

#define FLOAT_OPS(X)                                                                                     \
  X(flw, READS_1 | LOADS_F) X(fsw, READS_1 | READS_F2)                                                   \
  X(fmadd_s, F123) X(fmsub_s, F123) X(fnmsub_s, F123) X(fnmadd_s, F123)                                  \
  X(fadd_s, F12) X(fsub_s, F12) X(fmul_s, F12) X(fdiv_s, F12) X(fsqrt_s, F1)                             \
  X(fsgnj_s, F12) X(fsgnjn_s, F12) X(fsgnjx_s, F12) X(fmin_s, F12) X(fmax_s, F12)                        \
  X(fcvt_w_s, F1 | WRITES_X) X(fcvt_wu_s, F1 | WRITES_X) X(fmv_x_w, F1 | WRITES_X)                       \
  X(fclass_s, F1 | WRITES_X) X(feq_s, F12 | WRITES_X) X(flt_s, F12 | WRITES_X) X(fle_s, F12 | WRITES_X)  \
  X(fcvt_s_w, READS_1 | FP_OP) X(fcvt_s_wu, READS_1 | FP_OP) X(fmv_w_x, READS_1 | FP_OP)

/* What Snitch cores have besides: atomics, and Xdma of the core that commands the DMA. */
#define ATOMIC_OPS(X)                                                                                    \
  X(lr_w, R12) X(sc_w, R12) X(amoswap_w, R12) X(amoadd_w, R12) X(amoxor_w, R12) X(amoand_w, R12)         \
  X(amoor_w, R12) X(amomin_w, R12) X(amomax_w, R12) X(amominu_w, R12) X(amomaxu_w, R12)
#define XDMA_OPS(X)                                                                                      \
  X(dmsrc, R12) X(dmdst, R12) X(dmcpyi, R1) X(dmcpy, R12) X(dmstati, R1) X(dmstat, R12) X(dmstr, R12)    \
  X(dmrep, R12)

/* Of cores that wait for each result, and of all. */
#define PULP_OPS(X)                                                                                      \
  HELPER_OPS(X) BASE_OPS(X) BASE_MEMORY_OPS(X) XPULP_MEMORY_OPS(X) XPULPIMG_OPS(X) XPULP_OPS(X)          \
  SIMD_IMG_OPS(X) SIMD_OPS(X) FLOAT_OPS(X)
#define ALL_OPS(X) PULP_OPS(X) ATOMIC_OPS(X) XDMA_OPS(X)

#define OP_ENUM(name, flags) OP_##name,
enum op { ALL_OPS(OP_ENUM) OP_COUNT };
#undef OP_ENUM

#endif /* ISS_OPS_H */
