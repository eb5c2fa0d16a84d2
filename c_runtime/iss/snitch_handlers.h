/* SPDX-License-Identifier: Apache-2.0
 *
 * RV32IMA and Xdma. Included inside snitch_execute(). */

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

/* One multiplier and one divider for all cores, first come first served; a request waits in a register of its core. */
#define OFFLOAD(unit, expression, distance, occupied)                    \
  do {                                                                   \
    uint64_t granted;                                                    \
    ISSUE();                                                             \
    STALL_UNTIL(c->offload_free, multiply_divide);                       \
    IN_TURN();                                                           \
    granted = p->snitch->unit > now ? p->snitch->unit : now;             \
    p->snitch->unit = granted + (occupied);                              \
    c->offload_free = granted;                                           \
    c->multiplications++;                                                \
    RD = (expression);                                                   \
    snitch_expect(c, ip->rd, granted + (distance), now);                 \
    NEXT();                                                              \
  } while (0)

#define MULTIPLY(name, expression) \
  op_##name:                       \
  OFFLOAD(multiplier_free, expression, (uint64_t)p->config.scoreboard_multiply, 1);

  MULTIPLY(mul, S1 *S2)
  MULTIPLY(mulh, (uint32_t)(((int64_t)(int32_t)S1 * (int32_t)S2) >> 32))
  MULTIPLY(mulhsu, (uint32_t)(((int64_t)(int32_t)S1 * (int64_t)(uint64_t)S2) >> 32))
  MULTIPLY(mulhu, (uint32_t)(((uint64_t)S1 * S2) >> 32))

#define OVERFLOWS (a == 0x80000000u && b == 0xffffffffu)
#define MAGNITUDE(v) ((int32_t)(v) < 0 ? 0u - (v) : (v))
#define DIVIDE(name, magnitude_a, magnitude_b, expression)                                        \
  op_##name : {                                                                                   \
    uint32_t a = S1, b = S2;                                                                      \
    uint64_t steps = divide_steps(magnitude_a, magnitude_b);                                      \
    OFFLOAD(divider_free, expression, steps, steps > 3 ? steps - 3 : 1);                          \
  }

  DIVIDE(div, MAGNITUDE(a), MAGNITUDE(b),
         b == 0 ? 0xffffffffu : OVERFLOWS ? a : (uint32_t)((int32_t)a / (int32_t)b))
  DIVIDE(divu, a, b, b == 0 ? 0xffffffffu : a / b)
  DIVIDE(rem, MAGNITUDE(a), MAGNITUDE(b), b == 0 ? a : OVERFLOWS ? 0 : (uint32_t)((int32_t)a % (int32_t)b))
  DIVIDE(remu, a, b, b == 0 ? a : a % b)

#define BRANCH(name, condition)        \
  op_##name : {                        \
    ISSUE();                           \
    h->count.branches++;               \
    now += 1;                          \
    if (condition) {                   \
      h->count.taken_branches++;       \
      ip += ip->imm;                   \
      ENTER_BLOCK(1);                  \
    }                                  \
    ip += 2;                           \
    ENTER_BLOCK(0);                    \
  }

  BRANCH(beq, S1 == S2)
  BRANCH(bne, S1 != S2)
  BRANCH(blt, (int32_t)S1 < (int32_t)S2)
  BRANCH(bge, (int32_t)S1 >= (int32_t)S2)
  BRANCH(bltu, S1 < S2)
  BRANCH(bgeu, S1 >= S2)

op_jal:
  ISSUE_AND_WRITE();
  RD = PC + 4;
  h->count.jumps++;
  now += 1;
  OBSERVE_JUMP(ip + ip->imm, 0, RD);
  ip += ip->imm;
  ENTER_BLOCK(1);

op_jalr: {
  uint32_t target, link = PC + 4;
  struct slot *next;
  ISSUE_AND_WRITE();
  target = (S1 + (uint32_t)ip->imm) & ~1u;
  if (LIKELY(target - h->pc_base < h->code_bytes)) {
    next = h->slots + (target - h->pc_base) / 2;
  } else {
    SAVE();
    if (!platform_enter(h, target)) {
      platform_fault(p, FAULT_FETCH, h, target, "jump to an address that holds no code memory");
      goto suspended;
    }
    next = h->ip;
  }
  h->count.jumps++;
  now += 1;
  RD = link;
  OBSERVE_JUMP(next, ip->rs1, link);
  ip = next;
  ENTER_BLOCK(1);
}

op_fence:
  STALL_UNTIL(c->answered, load_use);
  NEXT();

op_fence_i:
  reset_slots(p);
  now += 1;
  ip += 2;
  DISPATCH();

op_ecall:
op_ebreak:
  SAVE();
  platform_fault(p, FAULT_ENVIRONMENT, h, 0, "%s with no handler", ip->op == OP_ecall ? "ecall" : "ebreak");
  goto suspended;

op_mret:
  SAVE();
  if (!platform_enter(h, h->mepc)) {
    platform_fault(p, FAULT_FETCH, h, h->mepc, "mret to an address that holds no code memory");
    goto suspended;
  }
  h->count.jumps++;
  now += 1;
  ip = h->ip;
  ENTER_BLOCK(1);

op_wfi:
  IN_TURN();
  SAVE();
  if (snitch_wait_for_interrupt(h) == ACCESS_SLEEP) goto suspended;
  now = h->now;
  NEXT();

#define CSR(name, writes, new_value)                                                           \
  op_##name : {                                                                                \
    uint32_t number = (uint32_t)ip->imm, old = 0, field = ip->rs1, source;                     \
    ISSUE_AND_WRITE();                                                                         \
    source = ip->op >= OP_csrrwi ? field : S1;                                                 \
    if (number == SNITCH_BARRIER) {                                                            \
      IN_TURN();                                                                               \
      SAVE();                                                                                  \
      if (snitch_arrive(h) == ACCESS_SLEEP) goto suspended;                                    \
      now = h->now;                                                                            \
    } else {                                                                                   \
      snitch_csr(h, number, now, &old, 0, 0);                                                  \
      if (writes) snitch_csr(h, number, now, &old, 1, (new_value));                            \
    }                                                                                          \
    RD = old;                                                                                  \
    NEXT();                                                                                    \
  }

  CSR(csrrw, 1, source)
  CSR(csrrs, field != 0, old | source)
  CSR(csrrc, field != 0, old & ~source)
  CSR(csrrwi, 1, source)
  CSR(csrrsi, field != 0, old | source)
  CSR(csrrci, field != 0, old & ~source)

/* Only the last core commands the DMA. */
#define DMA_OP(name, action)                                                   \
  op_##name : {                                                                \
    struct snitch_dma *dma = &p->snitch->dma;                                  \
    if (UNLIKELY(h->index != (uint32_t)p->config.cluster_cores)) goto op_illegal;      \
    ISSUE();                                                                   \
    action;                                                                    \
    NEXT();                                                                    \
  }

  DMA_OP(dmsrc, dma->source = S1 | (uint64_t)S2 << 32)
  DMA_OP(dmdst, dma->target = S1 | (uint64_t)S2 << 32)
  DMA_OP(dmstr, (dma->source_stride = S1, dma->target_stride = S2))
  DMA_OP(dmrep, dma->rows = S1)

#define DMA_COPY(name, configuration)                                                        \
  op_##name : {                                                                              \
    uint64_t taken;                                                                          \
    uint32_t id = 0;                                                                         \
    if (UNLIKELY(h->index != (uint32_t)p->config.cluster_cores)) goto op_illegal;                    \
    ISSUE();                                                                                 \
    IN_TURN();                                                                               \
    SAVE();                                                                                  \
    p->running = h;                                                                          \
    taken = snitch_dma_start(h, S1, (configuration), now, &id);                              \
    if (!taken) goto suspended;                                                              \
    update_device_cycle(p);                                                                  \
    update_limit(p);                                                                         \
    limit = p->limit;                                                                        \
    STALL_UNTIL(taken, blocked);                                                             \
    RD = id;                                                                                 \
    snitch_expect(c, ip->rd, now + (uint64_t)p->config.scoreboard_offload, now);               \
    NEXT();                                                                                  \
  }

  DMA_COPY(dmcpyi, ip->rs2)
  DMA_COPY(dmcpy, S2)

#define DMA_STATUS(name, number)                                                             \
  op_##name : {                                                                              \
    if (UNLIKELY(h->index != (uint32_t)p->config.cluster_cores)) goto op_illegal;                    \
    ISSUE();                                                                                 \
    IN_TURN();                                                                               \
    RD = snitch_dma_status(p, (number), now);                                                \
    snitch_expect(c, ip->rd, now + (uint64_t)p->config.scoreboard_offload, now);               \
    NEXT();                                                                                  \
  }

  DMA_STATUS(dmstati, ip->rs2)
  DMA_STATUS(dmstat, S2)
