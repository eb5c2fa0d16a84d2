/* SPDX-License-Identifier: Apache-2.0
 *
 * Eight cores and a controller: event unit, DMA, timers, caches, L3, the accelerator NEUREKA. */
#include "guests.h"

enum { L1 = 0x10000000, CLUSTER = 0x10200000, ENGINE = 0x10201000, APB = 0x1a100000, L2 = 0x1c000000, L2_BYTES = 0x20000 };

static uint32_t value(void) {
  static const uint32_t borders[] = {0,       1,          0x7fffffff, 0x80000000, 0xffffffff, 0xffff,     0x10000,
                                     L1,      L1 + 0x3ff, 0x1003ffff, 0x10040000, L2,         0x1c01fffe, 0x1c020000,
                                     CLUSTER, APB,        0x10400000, 0x40000000, 0xfffffffc, 0x00ff00ff, 0x160040};
  return any_of(borders, COUNT(borders), L1, 0x40000);
}

static uint32_t address(int is_store) {
  static const struct range ranges[] = {
      {CLUSTER + 0x00, 1, 1, 1},    {CLUSTER + 0x08, 1, 1, 1},    {CLUSTER + 0x10, 1, 1, 0},    {CLUSTER + 0x40, 8, 1, 1},
      {CLUSTER + 0x400, 6, 1, 1},   {CLUSTER + 0x400, 10, 1, 0},  {CLUSTER + 0x800, 8, 1, 1},   {CLUSTER + 0xc00, 4, 1, 0},
      {CLUSTER + 0xe00, 8, 1, 0},   {CLUSTER + 0xf00, 1, 0, 1},   {CLUSTER + 0x1400, 2, 1, 0},  {CLUSTER + 0x1800, 2, 1, 1},
      {CLUSTER + 0x4000, 6, 1, 1},  {CLUSTER + 0x4028, 1, 1, 0},  {CLUSTER + 0x4038, 2, 0, 1},  {CLUSTER + 0x4080, 2, 1, 1},
      {CLUSTER + 0x40c0, 16, 1, 1}, {CLUSTER + 0x4100, 8, 1, 0},  {CLUSTER + 0x4200, 64, 0, 1}, {CLUSTER + 0x4200, 1, 1, 0},
      {CLUSTER + 0x420c, 2, 1, 0},  {CLUSTER + 0x4400, 2, 1, 1},  {ENGINE, 1, 1, 0},            {ENGINE + 4, 5, 0, 1},
      {ENGINE + 0x14, 1, 1, 0},     {ENGINE + 0x20, 24, 1, 1},    {ENGINE + 0x20, 24, 1, 1},    {APB + 0x2000, 1, 1, 1},
      {APB + 0x2080, 16, 1, 1},     {APB + 0x4004, 1, 1, 1},      {APB + 0x6000, 1, 1, 0},      {APB + 0x8800, 1, 1, 1},
      {APB + 0x9800, 9, 1, 0},      {APB + 0x9800, 1, 0, 1},      {APB + 0xb000, 6, 1, 1},      {APB + 0xb800, 10, 1, 0},
      {APB + 0xf000, 1024, 1, 0},   {L1, 0x10000, 1, 1},          {L1 + 0x100000, 0x1000, 1, 1}, {L2 + 0xa000, 0x1000, 1, 1},
      {0, 0x100, 1, 1},             {0x10400000, 0x1000, 1, 1}};
  return below(2000) ? any_in(ranges, COUNT(ranges), is_store) : value();
}

/* A wait for an event, a transfer or a job. */
static void put_sequence(uint32_t core) {
  if (below(4) == 0 && core < 8) {
    put_sleeping_load(CLUSTER + 0x4000 + 4 * below(0x100));
  } else if (core < 8 && below(2)) {
    uint32_t port = CLUSTER + 0x4400;
    put_access(port, 0, 0);
    put_access(port, (below(4) ? 0x160000 : draw()) | below(0x10000), 1);
    for (uint32_t i = 0; i < 4; i++) put_access(port, i == 1 ? L2 + below(L2_BYTES) : value(), 1);
  } else {
    put_access(ENGINE + 4, 0, 0);
    for (uint32_t i = 0; i < 24; i++)
      if (below(6)) put_access(ENGINE + 0x20 + 4 * i, below(2) ? 0 : below(3) ? below(128) : value(), 1);
    put_access(ENGINE, 0, 1);
  }
}

static uint32_t instruction(void) {
  static const uint8_t opcodes[] = {0x03, 0x07, 0x0b, 0x0f, 0x13, 0x17, 0x23, 0x27, 0x2b, 0x33, 0x37, 0x43, 0x53,
                                    0x57, 0x5b, 0x63, 0x67, 0x6f, 0x73, 0x7b, 0x01, 0x02, 0x00};
  return (draw() & ~0x7fu) | opcodes[below(sizeof opcodes)];
}

static void put_end(void) {
  put_access(APB + 0x40a0, below(2) ? 0x80000000 | below(256) : value(), 1);
  put(below(2) ? 0x0000006f : 0x10500073); /* j . or wfi */
}

static struct platform *create(int is_absurd, char *error, size_t error_bytes) {
  static const char *const names[] = {
      "memory_l2_size", "memory_weight_size", "memory_l3_size", "memory_l2_private_bytes", "observe", "check_reads",
      "trace", "memory_l1_conflicts", "timing_ordering_slack", "memory_l1_banks", "cluster_cores",
      "icache_private_sets", "dma_bytes_per_cycle", "soc_clock_numerator", "dma_startup", "cluster_float_units",
      "icache_shared_banks", "memory_l3_read_setup", "memory_l1_size", "memory_l2_latency"};
  int64_t values[] = {L2_BYTES, 0x10000, 0x10000, 0x8000, below(2), below(2), below(2), below(2), below(3) * 4,
                      16, 8, 8, 8, 1 + below(2), 1, 4, 8, 64, 0x40000, 15};
  return create_with(names, values, COUNT(values), is_absurd, error, error_bytes);
}

const struct machine siracusa = {9, L2, ENGINE, 12, create, value, address, put_sequence, instruction, put_end};
