/* SPDX-License-Identifier: Apache-2.0
 *
 * Eight Snitch workers and the core that commands the DMA: counters, interrupts, barrier, atomics, the accelerator ITA,
 * calls of the host by `tohost`. */
#include "guests.h"

enum { L1 = 0x10000000, REGISTERS = 0x10020000, ZEROS = 0x10030000, ENGINE = 0x10040000, L2_BYTES = 0x20000 };
#define L2 0x80000000u
#define CLINT 0xffff0000u
#define TO_HOST (L2 + 0xc000)

static uint32_t value(void) {
  static const uint32_t borders[] = {0,          1,         0x7fffffff, 0x80000000, 0xffffffff, 0xffff,      0x10000,
                                     L1,         L1 + 64,   0x1001ffff, 0x10020000, L2 + 64,    L2 + 0x1fffc, L2 + L2_BYTES,
                                     REGISTERS,  ZEROS,     ENGINE,     0x18000000, 0xfffffffc, TO_HOST,     0x1007};
  return any_of(borders, COUNT(borders), L1, 0x20000);
}

static uint32_t address(int is_store) {
  static const struct range ranges[] = {
      {REGISTERS, 32, 1, 1},          {REGISTERS + 0x80, 32, 1, 1}, {REGISTERS + 0x100, 32, 1, 1}, {REGISTERS + 0x180, 1, 1, 1},
      {REGISTERS + 0x188, 1, 1, 1},   {REGISTERS + 0x190, 1, 0, 1}, {REGISTERS + 0x198, 1, 1, 1},  {REGISTERS + 0x1a0, 4, 0, 1},
      {ZEROS, 0x4000, 1, 1},          {ENGINE, 1, 1, 0},            {ENGINE + 4, 5, 0, 1},         {ENGINE + 0x14, 1, 1, 0},
      {ENGINE + 0x20, 17, 1, 1},      {CLINT, 1, 1, 1},             {TO_HOST + 8, 2, 1, 1},        {L1, 0x8000, 1, 1},
      {L1 + 0x08000000, 0x8000, 1, 1}, {L2 + 0xa000, 0x4000, 1, 1}};
  return below(2000) ? any_in(ranges, COUNT(ranges), is_store) : value();
}

/* Of the DMA's instructions: dmsrc, dmdst, dmcpyi, dmcpy, dmstati, dmstat, dmstr, dmrep. */
static uint32_t dma_instruction(uint32_t function, uint32_t rd, uint32_t rs1, uint32_t rs2) {
  return function << 25 | rs2 << 20 | rs1 << 15 | rd << 7 | 0x2b;
}

static void put_transfer(void) {
  load_constant(5, below(8) ? (below(2) ? L1 + below(0x20000) : L2 + below(L2_BYTES)) : value());
  load_constant(6, below(8) ? (below(2) ? L1 + below(0x20000) : L2 + below(L2_BYTES)) : value());
  load_constant(7, below(4) ? below(256) : value());
  load_constant(28, below(4) ? below(256) : value());
  load_constant(29, below(4) ? below(16) : value());
  put(dma_instruction(0, 0, 5, below(16) ? 0 : 5));
  put(dma_instruction(1, 0, 6, 0));
  put(dma_instruction(6, 0, 7, 28));
  put(dma_instruction(7, 0, 29, 0));
  load_constant(30, below(8) ? 1 + below(512) : value());
  put(below(2) ? dma_instruction(2, 10, 30, below(4)) : dma_instruction(3, 10, 30, 29));
  put(below(2) ? dma_instruction(4, 11, 0, below(6)) : dma_instruction(5, 11, 0, 29));
}

/* A transfer, a job of the accelerator, a call of the host. */
static void put_sequence(uint32_t core) {
  switch (below(3)) {
    case 0:
      if (core == 8) put_transfer();
      break;
    case 1:
      put_access(ENGINE + 4, 0, 0);
      for (uint32_t i = 0; i < 17; i++)
        if (below(6)) put_access(ENGINE + 0x20 + 4 * i, below(2) ? L1 + below(0x1000) : below(3) ? below(256) : value(), 1);
      put_access(ENGINE, below(4) ? 0 : value(), 1);
      break;
    default:
      put_access(L2 + 0xd000, below(16) ? 64 : value(), 1);
      put_access(L2 + 0xd010, below(4) ? L2 + below(L2_BYTES) : value(), 1);
      put_access(L2 + 0xd018, below(4) ? below(0x10000) : value(), 1);
      put_access(TO_HOST, below(16) ? L2 + 0xd000 : value(), 1);
  }
}

static uint32_t instruction(void) {
  static const uint8_t opcodes[] = {0x03, 0x0f, 0x13, 0x17, 0x23, 0x2b, 0x2f, 0x33, 0x37, 0x63, 0x67, 0x6f, 0x73, 0x2f, 0x0b};
  uint32_t made = (draw() & ~0x7fu) | opcodes[below(sizeof opcodes)];
  if ((made & 0x7f) == 0x2f && below(8)) made = (made & ~0x7000u) | 0x2000; /* an atomic of words */
  if ((made & 0x7f) == 0x2b && below(8)) made &= ~0x7000u & ~0xf0000000u;
  if ((made & 0x7f) == 0x73 && below(2)) made = 0x7c202073; /* the barrier */
  return made;
}

static void put_end(void) {
  put_access(TO_HOST, below(8) ? 1 | below(256) << 1 : value(), 1);
  put(below(2) ? 0x0000006f : 0x10500073); /* j . or wfi */
}

static struct platform *create(int is_absurd, char *error, size_t error_bytes) {
  static const char *const names[] = {
      "core_is_snitch", "cluster_isa_xpulp", "cluster_isa_single_float", "memory_l1_size", "memory_l1_banks",
      "memory_l2_base", "memory_l2_size", "memory_l2_private_bytes", "observe", "check_reads", "trace",
      "memory_l1_conflicts", "cluster_cores", "icache_private_sets", "icache_private_ways", "icache_shared_sets",
      "icache_shared_ways", "icache_shared_banks", "dma_bytes_per_cycle", "dma_burst_bytes", "dma_startup",
      "memory_l2_latency", "scoreboard_load", "scoreboard_multiply", "scoreboard_offload", "scoreboard_engine_load",
      "scoreboard_engine_store_interval", "scoreboard_engine_store_delay", "scoreboard_memory_operations",
      "scoreboard_barrier_exit", "scoreboard_atomic_extra", "scoreboard_next_line", "scoreboard_jump_line",
      "scoreboard_dma_next", "scoreboard_dma_row", "scoreboard_boot", "memory_weight_size", "memory_l3_size",
      "icache_refill"};
  int64_t values[] = {1, 0, 0, 0x20000, 32, L2, L2_BYTES, 0, below(2), below(2), below(2), below(4) != 0, 8, 1, 8, 128, 2, 1,
                      64, 4096, 10, 12, 4, 4, 4, 13, 6, 8, 4, 2, 2, 4, 8, 6, 1, 174, 0, 0, 45};
  struct platform *made = create_with(names, values, COUNT(values), is_absurd, error, error_bytes);
  if (made) iss_set_host_words(made, below(16) ? TO_HOST : value(), below(4) ? TO_HOST + 8 : value());
  return made;
}

const struct machine snitch = {9, L2, ENGINE, 0, create, value, address, put_sequence, instruction, put_end};
