/* SPDX-License-Identifier: Apache-2.0
 *
 * RV32F. Included inside execute(). */

#define FA h->f[ip->rs1]
#define FB h->f[ip->rs2]
#define FC_ h->f[ip->post] /* rs3 */

/* Units that cores share are taken in order of time. */
#define TAKE_UNIT(unit)                                                 \
  do {                                                                  \
    uint64_t *unit_ = (unit);                                           \
    if (!unit_) break;                                                  \
    if (UNLIKELY(now > limit - h->slack)) goto yield;                   \
    if (now < *unit_) {                                                 \
      h->count.multiply_divide += *unit_ - now;                         \
      now = *unit_;                                                     \
    }                                                                   \
    *unit_ = now + ip->cost;                                            \
  } while (0)

/* `statement` may clear `legal`; more than one cycle counts as multiply and divide time. */
#define FLOAT_IN(unit, name, statement)                                 \
  op_##name : {                                                         \
    int legal = 1;                                                      \
    if (UNLIKELY(!h->has_float)) goto op_illegal;                       \
    TAKE_UNIT(unit);                                                    \
    statement;                                                          \
    if (UNLIKELY(!legal)) goto op_illegal;                              \
    h->count.multiply_divide += ip->cost - 1;                           \
    ADVANCE(ip->cost);                                                  \
  }
#define FLOAT(name, statement) FLOAT_IN(h->float_unit, name, statement)
#define COMPUTE_IN(unit, name, operation, a, b, c)                                                         \
  FLOAT_IN(unit, name, uint32_t value = float_compute(h, operation, a, b, c, (uint32_t)ip->imm, &legal);   \
           if (legal) h->f[ip->rd] = value)
#define FLOAT_ARITHMETIC(name, operation, a, b, c) COMPUTE_IN(h->float_unit, name, operation, a, b, c)

  FLOAT_ARITHMETIC(fadd_s, FLOAT_ADD, FA, FB, 0)
  FLOAT_ARITHMETIC(fsub_s, FLOAT_SUB, FA, FB, 0)
  FLOAT_ARITHMETIC(fmul_s, FLOAT_MUL, FA, FB, 0)
  COMPUTE_IN(h->float_divider, fdiv_s, FLOAT_DIV, FA, FB, 0)
  COMPUTE_IN(h->float_divider, fsqrt_s, FLOAT_SQRT, FA, 0, 0)
  FLOAT_ARITHMETIC(fmadd_s, FLOAT_FMADD, FA, FB, FC_)
  FLOAT_ARITHMETIC(fmsub_s, FLOAT_FMSUB, FA, FB, FC_)
  FLOAT_ARITHMETIC(fnmsub_s, FLOAT_FNMSUB, FA, FB, FC_)
  FLOAT_ARITHMETIC(fnmadd_s, FLOAT_FNMADD, FA, FB, FC_)
  FLOAT_ARITHMETIC(fcvt_s_w, FLOAT_FROM_SIGNED, S1, 0, 0)
  FLOAT_ARITHMETIC(fcvt_s_wu, FLOAT_FROM_UNSIGNED, S1, 0, 0)
  FLOAT(fcvt_w_s, uint32_t value = float_to_integer(h, FA, 0, (uint32_t)ip->imm, &legal); if (legal) RD = value)
  FLOAT(fcvt_wu_s, uint32_t value = float_to_integer(h, FA, 1, (uint32_t)ip->imm, &legal); if (legal) RD = value)
  FLOAT(fsgnj_s, h->f[ip->rd] = (FA & 0x7fffffff) | (FB & 0x80000000))
  FLOAT(fsgnjn_s, h->f[ip->rd] = (FA & 0x7fffffff) | (~FB & 0x80000000))
  FLOAT(fsgnjx_s, h->f[ip->rd] = FA ^ (FB & 0x80000000))
  FLOAT(fmin_s, h->f[ip->rd] = float_minimum(h, FA, FB, 0))
  FLOAT(fmax_s, h->f[ip->rd] = float_minimum(h, FA, FB, 1))
  FLOAT(feq_s, RD = float_equal(h, FA, FB))
  FLOAT(flt_s, RD = float_less(h, FA, FB, 0))
  FLOAT(fle_s, RD = float_less(h, FA, FB, 1))
  FLOAT(fclass_s, RD = float_classify(FA))
  FLOAT(fmv_x_w, RD = FA)
  FLOAT(fmv_w_x, h->f[ip->rd] = S1)
