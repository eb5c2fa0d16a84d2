/* SPDX-License-Identifier: Apache-2.0
 *
 * One core by itself: flat memory, semihosting, the accelerator QVanilla at an address of its own. */
#include "guests.h"

enum { L2 = 0x01000000, L1 = 0x02000000, L1_BYTES = 0x10000, L2_BYTES = 0x20000, ENGINE = 0x70000000, TIMED = 0x2000 };
enum { BEFORE = 0x01f01013, EBREAK = 0x00100073, BEHIND = 0x40705013 };

static uint32_t value(void) {
  static const uint32_t borders[] = {0,          1,  0x7fffffff, 0x80000000,         0xffffffff, 0xffff, 0x10000,
                                     L1,         L2, L1 - 4,     L1 + L1_BYTES - 4,  L2 - 1,     ENGINE, 0xfffffffc,
                                     ENGINE + 4, 3,  0x7fff,     L2 + L2_BYTES - 4};
  return any_of(borders, COUNT(borders), L1, L1_BYTES);
}

static uint32_t address(int is_store) {
  static const struct range ranges[] = {{ENGINE, 12, 1, 1},         {ENGINE + 0x34, 1, 0, 1}, {ENGINE + TIMED, 12, 1, 1},
                                        {ENGINE + TIMED + 0x34, 1, 0, 1}, {ENGINE + TIMED + 0x38, 1, 1, 0}, {L1, L1_BYTES / 4, 1, 1}, {L2 + 0xa000, 0x1000, 1, 1}};
  return below(2000) ? any_in(ranges, COUNT(ranges), is_store) : value();
}

static void put_call(uint32_t operation, uint32_t argument) {
  load_constant(10, operation);
  load_constant(11, argument);
  put(BEFORE);
  put(EBREAK);
  put(below(32) ? BEHIND : draw());
}

static void put_job(uint32_t base) {
  static const uint32_t usual[] = {L1, L1 + 0x1000, L1 + 0x2000, L1 + 0x4000, 4, 6, 6, 4, 3, 3, 0, 0};
  for (uint32_t i = 0; i < 12; i++) put_access(base + 4 * i, below(24) ? usual[i] : below(2) ? value() : below(64), 1);
  if (base != ENGINE && below(2)) put_access(base + 0x38, below(4) ? below(4) : value(), 1);
  put_access(base + 0x30, below(16) ? 1 : value(), 1);
  put_access(base + 0x34, 0, 0);
}

/* A job of either variant, or a call of the host. */
static void put_sequence(uint32_t core) {
  static const uint32_t operations[] = {3, 4, 4, 0x18, 0x20, 5};
  (void)core;
  if (below(3)) put_job(ENGINE + (below(2) ? TIMED : 0));
  else put_call(below(8) ? operations[below(COUNT(operations))] : value(), value());
}

static uint32_t instruction(void) {
  static const uint8_t opcodes[] = {0x03, 0x0f, 0x13, 0x17, 0x23, 0x33, 0x37, 0x63, 0x67, 0x6f, 0x73, 0x01, 0x02, 0x00, 0x2b};
  return (draw() & ~0x7fu) | opcodes[below(sizeof opcodes)];
}

static void put_end(void) { put_call(below(2) ? 0x18 : 0x20, below(2) ? 0x20026 : value()); }

static struct platform *create(int is_absurd, char *error, size_t error_bytes) {
  static const char *const names[] = {
      "bare", "cluster_cores", "cluster_isa_xpulp", "cluster_isa_single_float", "memory_l1_base", "memory_l1_size",
      "memory_l1_conflicts", "memory_l2_base", "memory_l2_size", "memory_l2_private_bytes", "memory_l2_latency",
      "memory_weight_size", "memory_l3_size", "icache_ideal", "timing_divide_steps", "observe", "check_reads",
      "trace", "timing_peripheral"};
  int64_t values[] = {1, 1, 0, 0, L1, L1_BYTES, 0, L2, L2_BYTES, 0, 1, 0, 0, 1, 0, below(2), below(2), below(2), 1};
  return create_with(names, values, COUNT(values), is_absurd, error, error_bytes);
}

const struct machine mcu = {1, L2, ENGINE, 0, create, value, address, put_sequence, instruction, put_end};
