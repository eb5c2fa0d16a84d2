/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads and stores. The fast path is the memory one cycle away (L1, or L2 for the controller) inside one word;
 * everything else goes through memory_access. Included inside execute(). */

/* One access per bank and cycle, first come first served. */
#define TAKE_BANK()                                                            \
  do {                                                                         \
    if (h->bank_free) {                                                        \
      uint64_t *free_ = &h->bank_free[(offset >> 2) & h->bank_mask];           \
      if (UNLIKELY(now < *free_)) {                                            \
        h->count.l1_conflict += *free_ - now;                                  \
        now = *free_;                                                          \
      }                                                                        \
      *free_ = now + 1;                                                        \
    }                                                                          \
  } while (0)

/* Inside the fast memory and inside one word. For words one comparison does both: rotating brings misaligned bits
 * to the top. */
#define IS_FAST(type)                                                                                 \
  (sizeof(type) == 4 ? (offset >> 2 | offset << 30) < h->fast_words                                   \
                     : (offset >> 2) < h->fast_words && (offset & 3) <= 4 - sizeof(type))

/* The slow path has a variable of its own: one whose address is taken would live in memory on the fast path too. */
#define LOAD_VALUE(type, address_)                                                                    \
  uint32_t address = (address_), value;                                                               \
  uint32_t offset = address - h->fast_base;                                                           \
  if (UNLIKELY(now > limit)) goto yield;                                                              \
  if (LIKELY(IS_FAST(type))) {                                                                        \
    type loaded_;                                                                                     \
    TAKE_BANK();                                                                                      \
    CHECK_RACE(sizeof(type), 0);                                                                      \
    OBSERVE_ACCESS(sizeof(type), 0);                                                                  \
    memcpy(&loaded_, h->fast_memory + offset, sizeof(type));                                          \
    value = (uint32_t)(int32_t)loaded_;                                                               \
    now += 1;                                                                                         \
  } else {                                                                                            \
    uint32_t got_;                                                                                    \
    if (UNLIKELY(now > limit - h->slack)) goto yield;                                                 \
    ACCESS_ELSEWHERE(type, 0, got_);                                                                  \
    value = (uint32_t)(int32_t)(type)got_;                                                            \
    now = h->now;                                                                                     \
  }                                                                                                   \
  if (UNLIKELY(ip->cost != 1)) {                                                                      \
    KEEP_BRANCH();                                                                                    \
    now += ip->cost - 1;                                                                              \
    h->count.load_use += ip->stall;                                                                   \
  }                                                                                                   \
  h->count.loads++

/* `increment` happens before the result is written: with rd = rs1 the loaded value stays. */
#define LOAD(name, type, address_, increment) \
  op_##name : {                               \
    LOAD_VALUE(type, address_);               \
    increment;                                \
    RD = value;                               \
    NEXT_AFTER_ACCESS();                      \
  }

  LOAD(p_elw, int32_t, S1 + (uint32_t)ip->imm, (void)0)

#define STORE_VALUE(name, type, address_, source, increment)                                          \
  op_##name : {                                                                                       \
    uint32_t address = (address_);                                                                    \
    uint32_t offset = address - h->fast_base;                                                         \
    if (UNLIKELY(now > limit)) goto yield;                                                            \
    if (LIKELY(IS_FAST(type))) {                                                                      \
      type stored_ = (type)(source);                                                                  \
      TAKE_BANK();                                                                                    \
      CHECK_RACE(sizeof(type), 1);                                                                    \
      OBSERVE_ACCESS(sizeof(type), 1);                                                                \
      memcpy(h->fast_memory + offset, &stored_, sizeof(type));                                        \
      now += 1;                                                                                       \
    } else {                                                                                          \
      uint32_t given_ = (source);                                                                     \
      if (UNLIKELY(now > limit - h->slack)) goto yield;                                               \
      ACCESS_ELSEWHERE(type, 1, given_);                                                              \
      now = h->now;                                                                                   \
    }                                                                                                 \
    h->count.stores++;                                                                                \
    increment;                                                                                        \
    NEXT_AFTER_ACCESS();                                                                              \
  }

#define STORE(name, type, address, increment) STORE_VALUE(name, type, address, S2, increment)
#define XPULP_ADDRESSES
#include "access_forms.h"

op_flw: {
  if (UNLIKELY(!h->has_float)) goto op_illegal;
  LOAD_VALUE(int32_t, S1 + (uint32_t)ip->imm);
  h->f[ip->rd] = value;
  NEXT_SLOT();
  DISPATCH();
}

  STORE_VALUE(fsw_checked, uint32_t, S1 + (uint32_t)ip->imm, h->f[ip->rs2], (void)0)

op_fsw:
  if (UNLIKELY(!h->has_float)) goto op_illegal;
  goto op_fsw_checked;
