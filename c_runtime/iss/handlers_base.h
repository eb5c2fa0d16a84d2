/* SPDX-License-Identifier: Apache-2.0
 *
 * RV32IM and control and status registers, inside an interpreter of any kind. What differs between cores comes from it:
 *   ISSUE_AND_WRITE()      before an instruction that writes a register, NEXT() behind it
 *   MULTIPLY, DIVIDE, BRANCH, CSR   the handler of one such instruction
 *   JUMP_CYCLES, JUMP_REGISTER_STALL()   of jumps
 *   WAIT_FOR_MEMORY()      of a fence
 *   ASK_HOST()             of ebreak
 *   LEAVE_HANDLER()        of mret, before it jumps */

#define ALU(name, expression) \
  op_##name : {               \
    ISSUE_AND_WRITE();        \
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

  MULTIPLY(mul, S1 *S2)
  MULTIPLY(mulh, (uint32_t)(((int64_t)(int32_t)S1 * (int32_t)S2) >> 32))
  MULTIPLY(mulhsu, (uint32_t)(((int64_t)(int32_t)S1 * (int64_t)(uint64_t)S2) >> 32))
  MULTIPLY(mulhu, (uint32_t)(((uint64_t)S1 * S2) >> 32))

#define OVERFLOWS (a == 0x80000000u && b == 0xffffffffu)
#define MAGNITUDE(v) ((int32_t)(v) < 0 ? 0u - (v) : (v))

  DIVIDE(div, MAGNITUDE(a), MAGNITUDE(b),
         b == 0 ? 0xffffffffu : OVERFLOWS ? a : (uint32_t)((int32_t)a / (int32_t)b))
  DIVIDE(divu, a, b, b == 0 ? 0xffffffffu : a / b)
  DIVIDE(rem, MAGNITUDE(a), MAGNITUDE(b), b == 0 ? a : OVERFLOWS ? 0 : (uint32_t)((int32_t)a % (int32_t)b))
  DIVIDE(remu, a, b, b == 0 ? a : a % b)

  BRANCH(beq, S1 == S2)
  BRANCH(bne, S1 != S2)
  BRANCH(blt, (int32_t)S1 < (int32_t)S2)
  BRANCH(bge, (int32_t)S1 >= (int32_t)S2)
  BRANCH(bltu, S1 < S2)
  BRANCH(bgeu, S1 >= S2)

op_jal:
  ISSUE_AND_WRITE();
  RD = PC + SLOT_BYTES(ip);
  h->count.jumps++;
  now += JUMP_CYCLES;
  OBSERVE_JUMP(ip + ip->imm, 0, RD);
  ip += ip->imm;
  ENTER_BLOCK(1);

op_jalr: {
  uint32_t target = (S1 + (uint32_t)ip->imm) & ~1u, link = PC + SLOT_BYTES(ip);
  uint32_t offset = target - h->pc_base;
  struct slot *next;
  ISSUE_AND_WRITE();
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
  JUMP_REGISTER_STALL();
  h->count.jumps++;
  now += JUMP_CYCLES;
  RD = link;
  OBSERVE_JUMP(next, ip->rs1, link);
  ip = next;
  ENTER_BLOCK(1);
}

op_fence:
  WAIT_FOR_MEMORY();
  NEXT();

op_fence_i:
  reset_slots(p);
  now += 1;
  ip += 2;
  DISPATCH();

op_ebreak:
  SAVE();
  ASK_HOST();
op_ecall:
  SAVE();
  platform_fault(p, FAULT_ENVIRONMENT, h, 0, "%s with no handler", ip->op == OP_ecall ? "ecall" : "ebreak");
  goto suspended;

op_mret:
  SAVE();
  LEAVE_HANDLER();
  if (!platform_enter(h, h->mepc)) {
    platform_fault(p, FAULT_FETCH, h, h->mepc, "mret to an address that holds no code memory");
    goto suspended;
  }
  h->count.jumps++;
  now += JUMP_CYCLES;
  ip = h->ip;
  ENTER_BLOCK(1);

  CSR(csrrw, 1, source)
  CSR(csrrs, field != 0, old | source)
  CSR(csrrc, field != 0, old & ~source)
  CSR(csrrwi, 1, source)
  CSR(csrrsi, field != 0, old | source)
  CSR(csrrci, field != 0, old & ~source)
