/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores and atomics of Snitch cores. The fast path is L1; everything else goes through
 * memory_access. An interpreter says
 *   BEGIN_OPERATION(is_load)   waits for room for another memory operation, and for its turn
 *   ASK_L1(bytes, is_write)    sets answer_, when the access at `offset` is answered
 *   END_OPERATION(is_load)     keeps answer_ */
#define LOCATE(address_)              \
  uint32_t address = (address_);      \
  uint32_t offset = address - h->fast_base

#define LOAD(name, type, address_, increment)                                    \
  op_##name : {                                                                  \
    uint64_t answer_;                                                            \
    uint32_t value;                                                              \
    BEGIN_OPERATION(1);                                                          \
    LOCATE(address_);                                                            \
    if (LIKELY(IN_L1(type))) {                                                   \
      type loaded_;                                                              \
      memcpy(&loaded_, h->fast_memory + offset, sizeof(type));                   \
      value = (uint32_t)(int32_t)loaded_;                                        \
      ASK_L1(sizeof(type), 0);                                                   \
    } else {                                                                     \
      uint32_t got_;                                                             \
      ACCESS_ELSEWHERE(type, 0, got_);                                           \
      answer_ = c->answer;                                                       \
      value = (uint32_t)(int32_t)(type)got_;                                     \
    }                                                                            \
    END_OPERATION(1);                                                            \
    increment;                                                                   \
    RD = value;                                                                  \
    EXPECT(ip->rd, answer_);                                                     \
    h->count.loads++;                                                            \
    NEXT();                                                                      \
  }

#define STORE(name, type, address_, increment)                                   \
  op_##name : {                                                                  \
    uint64_t answer_;                                                            \
    BEGIN_OPERATION(0);                                                          \
    LOCATE(address_);                                                            \
    if (LIKELY(IN_L1(type))) {                                                   \
      type stored_ = (type)S2;                                                   \
      memcpy(h->fast_memory + offset, &stored_, sizeof(type));                   \
      ASK_L1(sizeof(type), 1);                                                   \
    } else {                                                                     \
      uint32_t given_ = S2;                                                      \
      ACCESS_ELSEWHERE(type, 1, given_);                                         \
      answer_ = c->answer;                                                       \
    }                                                                            \
    END_OPERATION(0);                                                            \
    increment;                                                                   \
    h->count.stores++;                                                           \
    NEXT();                                                                      \
  }

#include "access_forms.h"

#define ATOMIC(name, flags)                                                      \
  op_##name : {                                                                  \
    uint64_t answer_;                                                            \
    uint32_t value;                                                              \
    int status_;                                                                 \
    BEGIN_OPERATION(1);                                                          \
    SAVE();                                                                      \
    status_ = snitch_atomic(h, OP_##name, S1, S2, &value);                       \
    limit = p->limit;                                                            \
    if (status_ != ACCESS_OK) goto suspended;                                    \
    answer_ = c->answer;                                                         \
    END_OPERATION(1);                                                            \
    RD = value;                                                                  \
    EXPECT(ip->rd, answer_);                                                     \
    h->count.loads++;                                                            \
    NEXT();                                                                      \
  }

  ATOMIC_OPS(ATOMIC)
