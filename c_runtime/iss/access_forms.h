/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads and stores of every width and, with XpulpV2, of every way to name an address. An interpreter defines
 * LOAD(name, type, address, increment) and STORE(name, type, address, increment), `increment` after the access, and
 * before the result is written: with rd = rs1 the loaded value stays. */

#ifdef XPULP_ADDRESSES
/* The address of a post-increment is its base register; the third operand of register-offset stores sits in the rd
 * field. */
#define POST(step) h->x[ip->post] = address + (step)
#define FORMS(ACCESS, name, type, index)                        \
  ACCESS(name, type, S1 + (uint32_t)ip->imm, (void)0)           \
  ACCESS(p_##name##_post, type, S1, POST((uint32_t)ip->imm))    \
  ACCESS(p_##name##_reg, type, S1 + (index), (void)0)           \
  ACCESS(p_##name##_post_reg, type, S1, POST(index))
#else
#define FORMS(ACCESS, name, type, index) ACCESS(name, type, S1 + (uint32_t)ip->imm, (void)0)
#endif

  FORMS(LOAD, lb, int8_t, S2)
  FORMS(LOAD, lh, int16_t, S2)
  FORMS(LOAD, lw, int32_t, S2)
  FORMS(LOAD, lbu, uint8_t, S2)
  FORMS(LOAD, lhu, uint16_t, S2)
  FORMS(STORE, sb, uint8_t, h->x[ip->rd])
  FORMS(STORE, sh, uint16_t, h->x[ip->rd])
  FORMS(STORE, sw, uint32_t, h->x[ip->rd])
