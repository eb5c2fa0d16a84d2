/* SPDX-License-Identifier: Apache-2.0
 *
 * What handlers_base.h asks of cores that wait for each result. Included inside execute(). */
#define ISSUE_AND_WRITE() (void)0
#define WAIT_FOR_MEMORY() (void)0
#define JUMP_CYCLES h->jump_cost

#define MULTIPLY(name, expression)            \
  op_##name : {                               \
    RD = (expression);                        \
    h->count.multiply_divide += ip->cost - 1; \
    ADVANCE(ip->cost);                        \
  }

/* Division takes as many steps as the divisor has leading zeros, see divide_cycles(). */
#define DIVIDE(name, magnitude_a, magnitude_b, expression) \
  op_##name : {                                            \
    uint32_t a = S1, b = S2;                               \
    uint64_t cycles = divide_cycles(p, magnitude_b);       \
    RD = (expression);                                     \
    h->count.multiply_divide += cycles - 1;                \
    ADVANCE(cycles);                                       \
  }

#define BRANCH(name, condition)  \
  op_##name : {                  \
    h->count.branches++;         \
    if (condition) {             \
      h->count.taken_branches++; \
      now += h->taken_cost;      \
      ip += ip->imm;             \
    } else {                     \
      now += 1;                  \
      NEXT_SLOT();               \
    }                            \
    ENTER_BLOCK(1);              \
  }

#define JUMP_REGISTER_STALL()                                                   \
  do {                                                                          \
    if (ip->mark & MARK_HAZARD) {                                               \
      now += (uint64_t)p->config.timing_jump_register_stall;                    \
      h->count.jump_register += (uint64_t)p->config.timing_jump_register_stall; \
    }                                                                           \
  } while (0)

#define ASK_HOST()                                          \
  do {                                                      \
    if (p->config.bare && is_semihosting_call(h)) {         \
      if (semihosting_call(h) != ACCESS_OK) goto suspended; \
      now += 1;                                             \
      NEXT_SLOT();                                          \
      ENTER_BLOCK(1);                                       \
    }                                                       \
  } while (0)

/* MIE takes back MPIE. */
#define LEAVE_HANDLER() (h->mstatus |= (h->mstatus >> 4) & 8)

/* Enabling an event counter may reset all slots, so nothing is read from this one afterwards. */
#define CSR(name, writes, new_value)                                          \
  op_##name : {                                                               \
    uint32_t number = (uint32_t)ip->imm, old = 0, source;                     \
    uint32_t destination = ip->rd, length = SLOT_LENGTH(ip), field = ip->rs1; \
    SAVE();                                                                   \
    if (csr_read(h, number, now, &old)) goto op_illegal;                      \
    source = ip->op >= OP_csrrwi ? field : S1;                                \
    if ((writes) && csr_write(h, number, now, (new_value))) goto op_illegal;  \
    h->x[destination] = old;                                                  \
    now += 1;                                                                 \
    ip += length;                                                             \
    DISPATCH();                                                               \
  }

#include "handlers_base.h"

op_wfi:
  if (UNLIKELY(now > limit)) goto yield;
  SAVE();
  if (wait_for_interrupt(h) == ACCESS_SLEEP) goto suspended;
  now = h->now;
  NEXT_SLOT();
  DISPATCH();
