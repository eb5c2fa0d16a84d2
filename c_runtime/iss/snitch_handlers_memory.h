/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores and atomics. The fast path is L1; everything else goes through snitch_load and snitch_store. Included
 * inside snitch_execute(). */

/* Room for another memory operation, and its turn. */
#define BEGIN_OPERATION(is_load, address_)                                                                   \
  uint64_t answer_;                                                                                          \
  uint32_t address, offset;                                                                                  \
  ISSUE();                                                                                                   \
  if (is_load) STALL_UNTIL(c->load_free, load_use);                                                          \
  STALL_UNTIL(c->operation[c->oldest], external_store_cycles);                                               \
  if (UNLIKELY(c->port_free > now + 1)) STALL_UNTIL(c->port_free - 1, l1_conflict);                          \
  IN_TURN();                                                                                                 \
  address = (address_);                                                                                      \
  offset = address - h->fast_base

/* Answers come in order. */
#define END_OPERATION()                                                                   \
  do {                                                                                    \
    if (UNLIKELY(answer_ <= c->answered)) answer_ = c->answered + 1;                      \
    c->answered = answer_;                                                                \
    c->operation[c->oldest] = answer_;                                                    \
    c->oldest = c->oldest + 1 == (uint32_t)p->config.scoreboard_memory_operations ? 0 : c->oldest + 1; \
  } while (0)

#define ASK_L1(bytes, is_write)                                                           \
  do {                                                                                    \
    uint64_t asked_ = c->port_free > now ? c->port_free : now;                            \
    uint64_t served_ = snitch_take_bank(p, offset, asked_);                               \
    if (UNLIKELY(p->peripherals.l1_claims))                                               \
      check_race(p, (int)h->index, TVM_PULP_PORT_L1, offset, bytes, is_write, now);       \
    c->congested += served_ - asked_;                                                     \
    c->port_free = served_ + 1;                                                           \
    answer_ = served_ + (uint64_t)p->config.scoreboard_load;                                \
  } while (0)

#define LOAD(name, type, address_, increment)                                             \
  op_##name : {                                                                           \
    BEGIN_OPERATION(1, address_);                                                         \
    if (LIKELY(IN_L1(type))) {                                                            \
      type loaded_;                                                                       \
      ASK_L1(sizeof(type), 0);                                                            \
      OBSERVE_ACCESS(sizeof(type), 0);                                                    \
      memcpy(&loaded_, h->fast_memory + offset, sizeof(type));                            \
      RD = (uint32_t)(int32_t)loaded_;                                                    \
    } else {                                                                              \
      uint64_t late_; /* one whose address is not taken stays in a register */            \
      uint32_t value;                                                                     \
      int status_;                                                                        \
      SAVE();                                                                             \
      status_ = snitch_load(h, address, sizeof(type), &value, &late_);                    \
      limit = p->limit;                                                                   \
      if (status_ != ACCESS_OK) goto suspended;                                           \
      answer_ = late_;                                                                    \
      RD = (uint32_t)(int32_t)(type)value;                                                \
    }                                                                                     \
    END_OPERATION();                                                                      \
    c->load_free = answer_;                                                               \
    snitch_expect(c, ip->rd, answer_, now);                                               \
    increment;                                                                            \
    h->count.loads++;                                                                     \
    NEXT();                                                                               \
  }

#define STORE(name, type, address_, increment)                                            \
  op_##name : {                                                                           \
    BEGIN_OPERATION(0, address_);                                                         \
    if (LIKELY(IN_L1(type))) {                                                            \
      type stored_ = (type)S2;                                                            \
      ASK_L1(sizeof(type), 1);                                                            \
      OBSERVE_ACCESS(sizeof(type), 1);                                                    \
      memcpy(h->fast_memory + offset, &stored_, sizeof(type));                            \
    } else {                                                                              \
      uint64_t late_;                                                                     \
      int status_;                                                                        \
      SAVE();                                                                             \
      status_ = snitch_store(h, address, sizeof(type), S2, &late_);                       \
      limit = p->limit;                                                                   \
      if (status_ != ACCESS_OK) goto suspended;                                           \
      answer_ = late_;                                                                    \
    }                                                                                     \
    END_OPERATION();                                                                      \
    increment;                                                                            \
    h->count.stores++;                                                                    \
    NEXT();                                                                               \
  }

#include "access_forms.h"

#define ATOMIC(name)                                                                      \
  op_##name : {                                                                           \
    uint32_t value;                                                                       \
    int status_;                                                                          \
    BEGIN_OPERATION(1, S1 + (uint32_t)ip->imm);                                           \
    SAVE();                                                                               \
    (void)offset;                                                                         \
    status_ = snitch_atomic(h, SNITCH_OP_##name, address, S2, &value, &answer_);          \
    limit = p->limit;                                                                     \
    if (status_ != ACCESS_OK) goto suspended;                                             \
    END_OPERATION();                                                                      \
    RD = value;                                                                           \
    c->load_free = answer_;                                                               \
    snitch_expect(c, ip->rd, answer_, now);                                               \
    h->count.loads++;                                                                     \
    NEXT();                                                                               \
  }

  ATOMIC_OPS(ATOMIC)
