/* SPDX-License-Identifier: Apache-2.0
 *
 * RV32IM and control and status registers. Included inside execute(). */

#define ALU(name, expression) \
  op_##name : {               \
    RD = (expression);        \
    NEXT();                   \
  }

  ALU(lui, (uint32_t)ip->imm)
  ALU(auipc, PC + (uint32_t)ip->imm)
  ALU(addi, S1 + (uint32_t)ip->imm)
  ALU(slti, (int32_t)S1 < ip->imm)
  ALU(sltiu, S1 < (uint32_t)ip->imm)
  ALU(xori, S1 ^ (uint32_t)ip->imm)
  ALU(ori, S1 | (uint32_t)ip->imm)
  ALU(andi, S1 & (uint32_t)ip->imm)
  ALU(slli, S1 << ip->imm)
  ALU(srli, S1 >> ip->imm)
  ALU(srai, (uint32_t)((int32_t)S1 >> ip->imm))
  ALU(add, S1 + S2)
  ALU(sub, S1 - S2)
  ALU(sll, S1 << (S2 & 31))
  ALU(slt, (int32_t)S1 < (int32_t)S2)
  ALU(sltu, S1 < S2)
  ALU(xor, S1 ^ S2)
  ALU(srl, S1 >> (S2 & 31))
  ALU(sra, (uint32_t)((int32_t)S1 >> (S2 & 31)))
  ALU(or, S1 | S2)
  ALU(and, S1 & S2)

#define MULTIPLY(name, expression)                                       \
  op_##name : {                                                          \
    RD = (expression);                                                   \
    h->count.multiply_divide += ip->cost - 1;      \
    ADVANCE(ip->cost);                                                   \
  }

  MULTIPLY(mul, S1 *S2)
  MULTIPLY(mulh, (uint32_t)(((int64_t)(int32_t)S1 * (int32_t)S2) >> 32))
  MULTIPLY(mulhsu, (uint32_t)(((int64_t)(int32_t)S1 * (int64_t)(uint64_t)S2) >> 32))
  MULTIPLY(mulhu, (uint32_t)(((uint64_t)S1 * S2) >> 32))

/* Division takes as many steps as the divisor has leading zeros, see divide_cycles(). */
#define DIVIDE(name, magnitude, expression)                                    \
  op_##name : {                                                                \
    uint32_t a = S1, b = S2;                                                   \
    uint64_t cycles = divide_cycles(p, magnitude);                             \
    RD = (expression);                                                         \
    h->count.multiply_divide += cycles - 1;                                    \
    ADVANCE(cycles);                                               \
  }
#define OVERFLOWS (a == 0x80000000u && b == 0xffffffffu)
#define ABSOLUTE ((int32_t)b < 0 ? 0u - b : b)

  DIVIDE(div, ABSOLUTE, b == 0 ? 0xffffffffu : OVERFLOWS ? a : (uint32_t)((int32_t)a / (int32_t)b))
  DIVIDE(divu, b, b == 0 ? 0xffffffffu : a / b)
  DIVIDE(rem, ABSOLUTE, b == 0 ? a : OVERFLOWS ? 0 : (uint32_t)((int32_t)a % (int32_t)b))
  DIVIDE(remu, b, b == 0 ? a : a % b)

#define BRANCH(name, condition)        \
  op_##name : {                        \
    h->count.branches++;               \
    if (condition) {                   \
      h->count.taken_branches++;       \
      now += h->taken_cost;            \
      ip += ip->imm;                   \
    } else {                           \
      now += 1;                \
      NEXT_SLOT();                     \
    }                                  \
    ENTER_BLOCK();                     \
  }

  BRANCH(beq, S1 == S2)
  BRANCH(bne, S1 != S2)
  BRANCH(blt, (int32_t)S1 < (int32_t)S2)
  BRANCH(bge, (int32_t)S1 >= (int32_t)S2)
  BRANCH(bltu, S1 < S2)
  BRANCH(bgeu, S1 >= S2)

op_jal:
  RD = PC + SLOT_BYTES(ip);
  h->count.jumps++;
  now += h->jump_cost;
  OBSERVE_JUMP(ip + ip->imm, 0, RD);
  ip += ip->imm;
  ENTER_BLOCK();

op_jalr: {
  uint32_t target = (S1 + (uint32_t)ip->imm) & ~1u, link = PC + SLOT_BYTES(ip);
  uint32_t offset = target - h->pc_base;
  struct slot *next;
  if (LIKELY(offset < h->code_bytes)) {
    next = h->slots + offset / 2;
  } else {
    SAVE();
    if (!platform_enter(h, target)) {
      platform_fault(p, FAULT_FETCH, h, target, "jump to an address that holds no code memory");
      goto suspended;
    }
    next = h->ip;
  }
  if (ip->mark & MARK_HAZARD) {
    now += (uint64_t)p->config.timing_jump_register_stall;
    h->count.jump_register += (uint64_t)p->config.timing_jump_register_stall;
  }
  h->count.jumps++;
  now += h->jump_cost;
  RD = link;
  OBSERVE_JUMP(next, ip->rs1, link);
  ip = next;
  ENTER_BLOCK();
}

op_fence:
  NEXT();

op_fence_i:
  reset_slots(p);
  now += 1;
  ip += 2;
  DISPATCH();

op_ebreak:
  SAVE();
  if (p->config.bare && is_semihosting_call(h)) {
    if (semihosting_call(h) != ACCESS_OK) goto suspended;
    now += 1;
    NEXT_SLOT();
    ENTER_BLOCK();
  }
op_ecall:
  SAVE();
  platform_fault(p, FAULT_ENVIRONMENT, h, 0, "%s with no handler", ip->op == OP_ecall ? "ecall" : "ebreak");
  goto suspended;

op_mret:
  SAVE();
  h->mstatus |= (h->mstatus >> 4) & 8; /* MIE takes back MPIE */
  if (!platform_enter(h, h->mepc)) {
    platform_fault(p, FAULT_FETCH, h, h->mepc, "mret to an address that holds no code memory");
    goto suspended;
  }
  h->count.jumps++;
  now += h->jump_cost;
  ip = h->ip;
  ENTER_BLOCK();

op_wfi:
  if (UNLIKELY(now > limit)) goto yield;
  SAVE();
  if (wait_for_interrupt(h) == ACCESS_SLEEP) goto suspended;
  now = h->now;
  NEXT_SLOT();
  DISPATCH();

/* Enabling an event counter may reset all slots, so nothing is read from this one afterwards. */
#define CSR(name, writes, new_value)                                              \
  op_##name : {                                                                   \
    uint32_t number = (uint32_t)ip->imm, old = 0, source;                         \
    uint32_t destination = ip->rd, length = SLOT_LENGTH(ip), field = ip->rs1;          \
    SAVE();                                                                       \
    if (csr_read(h, number, now, &old)) goto op_illegal;                          \
    source = ip->op >= OP_csrrwi ? field : S1;                                    \
    if ((writes) && csr_write(h, number, now, (new_value))) goto op_illegal;      \
    h->x[destination] = old;                                                      \
    now += 1;                                                             \
    ip += length;                                                                 \
    DISPATCH();                                                                   \
  }

  CSR(csrrw, 1, source)
  CSR(csrrs, field != 0, old | source)
  CSR(csrrc, field != 0, old & ~source)
  CSR(csrrwi, 1, source)
  CSR(csrrsi, field != 0, old | source)
  CSR(csrrci, field != 0, old & ~source)
