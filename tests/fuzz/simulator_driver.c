/* SPDX-License-Identifier: Apache-2.0
 *
 * Hostile guests for the simulator, built with address and undefined-behaviour checks: accesses to every peripheral in
 * any order with any values, random instructions, code that changes itself, absurd settings, a debugger that interferes.
 * Arguments: first case, number of cases, model of an accelerator. Every case ends by itself, with a fault that has a
 * sentence, or in a description that is refused with one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "iss.h"

enum { CORES = 8, CODE_WORDS = 1024, LIMIT = 30000, WARM_UP = 64, GROWTH_KIB = 65536 };
enum { L1 = 0x10000000, CLUSTER = 0x10200000, ENGINE = 0x10201000, APB = 0x1a100000, L2 = 0x1c000000, L2_BYTES = 0x20000 };

static uint64_t state;

static uint32_t draw(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ z >> 31) >> 16);
}

static uint32_t below(uint32_t limit) { return draw() % limit; }

/* Values that break things: borders of types and memories, small numbers, single bits. */
static uint32_t value(void) {
  static const uint32_t borders[] = {0,          1,          0x7fffffff, 0x80000000, 0xffffffff, 0xffff,     0x10000,
                                     L1,         L1 + 0x3ff, 0x1003ffff, 0x10040000, L2,         0x1c01fffe, 0x1c020000,
                                     CLUSTER,    APB,        0x10400000, 0x40000000, 0xfffffffc, 0x00ff00ff, 0x160040};
  switch (below(5)) {
    case 0: return draw();
    case 1: return below(64);
    case 2: return 1u << below(32);
    case 3: return L1 + below(0x40000);
    default: return borders[below(sizeof borders / sizeof borders[0])];
  }
}

/* Registers that exist, by where they can be reached and whether they are for stores; now and then something else. */
struct range {
  uint32_t first, words;
  int stores, loads;
};

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
  const struct range *range;
  if (!below(200)) return value();
  do range = &ranges[below(sizeof ranges / sizeof ranges[0])];
  while (is_store ? !range->stores : !range->loads);
  return range->first + 4 * below(range->words);
}

struct code {
  uint32_t words[CODE_WORDS];
  uint32_t count;
};

static void put(struct code *code, uint32_t word) {
  if (code->count < CODE_WORDS) code->words[code->count++] = word;
}

/* li */
static void load_constant(struct code *code, uint32_t reg, uint32_t constant) {
  put(code, ((constant + 0x800) & 0xfffff000) | reg << 7 | 0x37);
  put(code, (constant & 0xfff) << 20 | reg << 15 | reg << 7 | 0x13);
}

static void put_access(struct code *code, uint32_t where, uint32_t what, int is_store) {
  uint32_t width = below(200) ? 2 : below(3);
  load_constant(code, 5, where);
  load_constant(code, 6, what);
  if (is_store) put(code, 6u << 20 | 5u << 15 | width << 12 | 0x23);
  else put(code, 5u << 15 | (below(8) ? width : 6) << 12 | 7u << 7 | 0x03); /* 6: a load that may sleep */
}

/* A transfer or a job with one or two things wrong. */
static void put_sequence(struct code *code) {
  if (below(2)) {
    uint32_t port = CLUSTER + 0x4400;
    put_access(code, port, 0, 0);
    put_access(code, port, (below(4) ? 0x160000 : draw()) | below(0x10000), 1);
    for (uint32_t i = 0; i < 4; i++) put_access(code, port, i == 1 ? L2 + below(L2_BYTES) : value(), 1);
    return;
  }
  put_access(code, ENGINE + 4, 0, 0);
  for (uint32_t i = 0; i < 24; i++)
    if (below(6)) put_access(code, ENGINE + 0x20 + 4 * i, below(2) ? 0 : below(3) ? below(128) : value(), 1);
  put_access(code, ENGINE, 0, 1);
}

static uint32_t instruction(void) {
  static const uint8_t opcodes[] = {0x03, 0x07, 0x0b, 0x0f, 0x13, 0x17, 0x23, 0x27, 0x2b, 0x33, 0x37, 0x43, 0x53,
                                    0x57, 0x5b, 0x63, 0x67, 0x6f, 0x73, 0x7b, 0x01, 0x02, 0x00};
  return (draw() & ~0x7fu) | opcodes[below(sizeof opcodes)];
}

static void fill(struct code *code, uint32_t kind) {
  uint32_t count = 4 + below(24);
  code->count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (kind == 1) put(code, instruction());
    else if (below(5) == 0) put_sequence(code);
    else {
      int is_store = below(3) != 0;
      put_access(code, address(is_store), value(), is_store);
    }
    if (kind == 2 && below(3) == 0) {
      put_access(code, L2 + 0x1000 * below(CORES + 1) + below(0x400), instruction(), 1);
      if (below(2)) put(code, 0x0000100f); /* fence.i */
    }
  }
  put_access(code, APB + 0x40a0, below(2) ? 0x80000000 | below(256) : value(), 1);
  put(code, below(2) ? 0x0000006f : 0x10500073); /* j . or wfi */
}

static struct platform *create(int is_absurd, char *error, size_t error_bytes) {
  static const char *const names[] = {"l2_size", "weight_size", "l3_size", "l2_private_bytes", "observe", "check_reads",
                                      "trace", "l1_conflicts", "ordering_slack_cycles", "l1_banks", "cores", "l0_sets",
                                      "dma_bytes_per_cycle", "soc_clock_numerator", "dma_startup_cycles", "float_units",
                                      "shared_banks", "l3_read_setup", "l1_size", "core_l2_cycles"};
  int64_t values[] = {L2_BYTES, 0x10000, 0x10000, 0x8000, below(2), below(2), below(2), below(2), below(3) * 4,
                      16, 8, 8, 8, 1 + below(2), 1, 4, 8, 64, 0x40000, 15};
  size_t count = sizeof values / sizeof values[0];
  if (is_absurd)
    for (uint32_t i = 0; i < 2; i++)
      values[below((uint32_t)count)] = below(2) ? (int64_t)value() - (int64_t)below(3) : (int64_t)below(40);
  return iss_create(names, values, count, error, error_bytes);
}

/* What a debugger does between two stops. */
static void interfere(struct platform *platform) {
  uint32_t core = below(CORES + 1), got = 0;
  uint8_t bytes[16];
  switch (below(7)) {
    case 0: iss_step(platform, core); break;
    case 1: iss_set_break(platform, L2 + 2 * below(0x4800), (int)below(2)); break;
    case 2: iss_watch(platform, address((int)below(2)), below(64), 1 + below(7)); break;
    case 3: iss_read(platform, value(), bytes, below(16)); break;
    case 4: memset(bytes, (int)below(256), sizeof bytes); iss_write(platform, value(), bytes, below(16)); break;
    case 5: iss_set_register(platform, core, below(2) ? below(70) : 4096 + below(4200), value()); break;
    default: iss_get_register(platform, core, below(8400)); iss_last_written(platform, address(1), &got); break;
  }
}

static uint64_t streamed;
static void take(const struct trace_record *records, uint32_t count) {
  (void)records;
  streamed += count;
}

/* 0 ended, 1 fault, 2 refused, -1 wrong */
static int run_case(uint64_t number, const char *model) {
  uint32_t kind = (uint32_t)(number % 4), starts[64];
  char error[300] = "";
  struct platform *platform;
  struct code code;
  int status = ISS_STOPPED;
  state = number * 0x2545f4914f6cdd1du + 1;
  platform = create(kind == 3, error, sizeof error);
  if (!platform) return error[0] ? 2 : -1;
  if (iss_add_peripheral(platform, model, ENGINE, 12, (int)below(2), NULL, NULL, 0, error, sizeof error)) {
    fprintf(stderr, "%s\n", error);
    iss_destroy(platform);
    return -1;
  }
  for (uint32_t core = 0; core <= CORES; core++) {
    fill(&code, kind == 3 ? 0 : kind);
    if (iss_write(platform, L2 + 0x1000 * core, (const uint8_t *)code.words, code.count * 4)) break;
  }
  for (uint32_t i = 0; i < 64; i++) starts[i] = L2 + 0x200 * i;
  if (below(2)) iss_follow_calls(platform, starts, 64, below(64), (int)below(2));
  if (below(2)) iss_stream(platform, take);
  for (uint32_t core = 0; core <= CORES; core++)
    if (core == 0 || below(2)) iss_start(platform, core, below(100) ? L2 + 0x1000 * core : value());
  for (uint32_t stops = 0; status == ISS_STOPPED && stops < 40; stops++) {
    if (stops || below(2)) interfere(platform);
    status = iss_run(platform, LIMIT);
  }
  if (status == ISS_FAULTED) {
    struct iss_fault fault;
    iss_fault(platform, &fault);
    if (!fault.text[0]) status = -1;
  }
  iss_destroy(platform);
  return status == ISS_STOPPED ? 0 : status;
}

static long peak_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 0, count = argc > 2 ? strtoull(argv[2], NULL, 0) : 100;
  unsigned long outcomes[3] = {0, 0, 0};
  long warm = 0;
  for (uint64_t i = 0; i < count; i++) {
    int outcome;
    if (getenv("ANNOUNCE")) fprintf(stderr, "case %llu\n", (unsigned long long)(first + i));
    outcome = run_case(first + i, argv[3]);
    if (outcome < 0) {
      fprintf(stderr, "case %llu ended without a sentence\n", (unsigned long long)(first + i));
      return 1;
    }
    outcomes[outcome]++;
    if (i == WARM_UP) warm = peak_kib();
  }
  if (warm && peak_kib() - warm > GROWTH_KIB) {
    fprintf(stderr, "memory grew from %ld to %ld KiB\n", warm, peak_kib());
    return 1;
  }
  printf("%lu ended, %lu faulted, %lu refused\n", outcomes[0], outcomes[1], outcomes[2]);
  return 0;
}
