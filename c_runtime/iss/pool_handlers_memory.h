/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores and atomics. The fast path is L1; everything else goes through pool_load and pool_store. Included inside
 * pool_execute(). */

/* A place for the answer of a load: any that is free, else the first that will be. */
#define FIND_LOAD(place_)                                                     \
  do {                                                                        \
    uint64_t *loads_ = p->pool->load[h->index];                               \
    (place_) = &loads_[c->oldest];                                            \
    if (UNLIKELY(*(place_) > now)) {                                          \
      for (uint32_t i_ = 0; i_ < (uint32_t)p->config.scoreboard_memory_operations; i_++) \
        if (loads_[i_] < *(place_)) (place_) = &loads_[i_];                   \
      STALL_UNTIL(*(place_), load_use);                                       \
    }                                                                         \
    c->oldest = c->oldest + 1 == (uint32_t)p->config.scoreboard_memory_operations ? 0 : c->oldest + 1; \
  } while (0)

#define ASK_L1(bytes, is_write)                                               \
  do {                                                                        \
    uint64_t left_ = pool_ask(p, h->index, offset, now, &answer_);            \
    if (UNLIKELY(p->peripherals.l1_claims))                                   \
      check_race(p, (int)h->index, TVM_PULP_PORT_L1, offset, bytes, is_write, now); \
    OBSERVE_ACCESS(bytes, is_write);                                          \
    STALL_UNTIL(left_, l1_conflict);                                          \
  } while (0)

#define LOAD(name, type, address_, increment)                                 \
  op_##name : {                                                               \
    uint64_t answer_, *place_;                                                \
    uint32_t address, offset, value;                                          \
    ISSUE();                                                                  \
    if (UNLIKELY(now > limit)) goto yield;                                    \
    FIND_LOAD(place_);                                                        \
    IN_TURN();                                                                \
    address = (address_);                                                     \
    offset = address - h->fast_base;                                          \
    if (LIKELY(IN_L1(type))) {                                                \
      type loaded_;                                                           \
      memcpy(&loaded_, h->fast_memory + offset, sizeof(type));                \
      value = (uint32_t)(int32_t)loaded_;                                     \
      ASK_L1(sizeof(type), 0);                                                \
    } else {                                                                  \
      uint64_t late_; /* one whose address is not taken stays in a register */ \
      uint32_t got_;                                                          \
      int status_;                                                            \
      SAVE();                                                                 \
      status_ = pool_load(h, address, sizeof(type), &got_, &late_);           \
      limit = p->limit;                                                       \
      if (status_ != ACCESS_OK) goto suspended;                               \
      answer_ = late_;                                                        \
      value = (uint32_t)(int32_t)(type)got_;                                  \
    }                                                                         \
    *place_ = answer_;                                                        \
    if (answer_ > c->answered) c->answered = answer_;                         \
    increment;                                                                \
    RD = value;                                                               \
    EXPECT(ip->rd, answer_);                                                  \
    h->count.loads++;                                                         \
    NEXT();                                                                   \
  }

#define STORE(name, type, address_, increment)                                \
  op_##name : {                                                               \
    uint64_t answer_;                                                         \
    uint32_t address, offset;                                                 \
    ISSUE();                                                                  \
    IN_TURN();                                                                \
    address = (address_);                                                     \
    offset = address - h->fast_base;                                          \
    if (LIKELY(IN_L1(type))) {                                                \
      type stored_ = (type)S2;                                                \
      memcpy(h->fast_memory + offset, &stored_, sizeof(type));                \
      ASK_L1(sizeof(type), 1);                                                \
    } else {                                                                  \
      uint64_t late_;                                                         \
      int status_;                                                            \
      SAVE();                                                                 \
      status_ = pool_store(h, address, sizeof(type), S2, &late_);             \
      limit = p->limit;                                                       \
      if (status_ != ACCESS_OK) goto suspended;                               \
      answer_ = late_;                                                        \
    }                                                                         \
    if (answer_ > c->answered) c->answered = answer_;                         \
    h->count.stores++;                                                        \
    increment;                                                                \
    NEXT();                                                                   \
  }

#define XPULP_ADDRESSES
#include "access_forms.h"

#define ATOMIC(name)                                                          \
  op_##name : {                                                               \
    uint64_t answer_, *place_;                                                \
    uint32_t value;                                                           \
    int status_;                                                              \
    ISSUE();                                                                  \
    if (UNLIKELY(now > limit)) goto yield;                                    \
    FIND_LOAD(place_);                                                        \
    IN_TURN();                                                                \
    SAVE();                                                                   \
    status_ = snitch_atomic(h, SNITCH_OP_##name, S1, S2, &value, &answer_);   \
    limit = p->limit;                                                         \
    if (status_ != ACCESS_OK) goto suspended;                                 \
    *place_ = answer_;                                                        \
    if (answer_ > c->answered) c->answered = answer_;                         \
    RD = value;                                                               \
    EXPECT(ip->rd, answer_);                                                  \
    h->count.loads++;                                                         \
    NEXT();                                                                   \
  }

  ATOMIC_OPS(ATOMIC)
