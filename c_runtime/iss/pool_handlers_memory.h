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

#define IN_L1(type) ((offset >> 2) < h->fast_words && (offset & (sizeof(type) - 1)) == 0)

/* `increment` happens before the result is written: with rd = rs1 the loaded value stays. */
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

/* The address of a post-increment is its base register. */
#define POST(step) h->x[ip->post] = address + (step)
#define LOAD_FORMS(name, type)                                 \
  LOAD(name, type, S1 + (uint32_t)ip->imm, (void)0)            \
  LOAD(p_##name##_post, type, S1, POST((uint32_t)ip->imm))     \
  LOAD(p_##name##_reg, type, S1 + S2, (void)0)                 \
  LOAD(p_##name##_post_reg, type, S1, POST(S2))

  LOAD_FORMS(lb, int8_t)
  LOAD_FORMS(lh, int16_t)
  LOAD_FORMS(lw, int32_t)
  LOAD_FORMS(lbu, uint8_t)
  LOAD_FORMS(lhu, uint16_t)

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

/* The third operand of register-offset stores sits in the rd field. */
#define STORE_FORMS(name, type)                                \
  STORE(name, type, S1 + (uint32_t)ip->imm, (void)0)           \
  STORE(p_##name##_post, type, S1, POST((uint32_t)ip->imm))    \
  STORE(p_##name##_reg, type, S1 + h->x[ip->rd], (void)0)      \
  STORE(p_##name##_post_reg, type, S1, POST(h->x[ip->rd]))

  STORE_FORMS(sb, uint8_t)
  STORE_FORMS(sh, uint16_t)
  STORE_FORMS(sw, uint32_t)

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

  ATOMIC(lr_w)
  ATOMIC(sc_w)
  ATOMIC(amoswap_w)
  ATOMIC(amoadd_w)
  ATOMIC(amoxor_w)
  ATOMIC(amoand_w)
  ATOMIC(amoor_w)
  ATOMIC(amomin_w)
  ATOMIC(amomax_w)
  ATOMIC(amominu_w)
  ATOMIC(amomaxu_w)
