/* SPDX-License-Identifier: Apache-2.0
 *
 * Hostile guests for the simulator, built with address and undefined-behaviour checks: accesses to every peripheral in
 * any order with any values, random instructions, code that changes itself, absurd settings, a debugger that interferes.
 * Arguments: first case, number of cases, models of the accelerators NEUREKA, ITA and QVanilla. Every case ends by
 * itself, with a fault that has a sentence, or in a description that is refused with one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "guests.h"

enum { LIMIT = 30000, WARM_UP = 64, GROWTH_KIB = 65536, KINDS = 4, MACHINES = 3, SECONDS_EACH = 20 };

static const struct machine *const machines[MACHINES] = {&siracusa, &snitch, &mcu};

static void fill(const struct machine *machine, uint32_t core, uint32_t kind) {
  uint32_t count = 4 + below(24);
  code.count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (kind == 1) put(machine->instruction());
    else if (below(5) == 0) machine->put_sequence(core);
    else {
      int is_store = below(3) != 0;
      put_access(machine->address(is_store), machine->value(), is_store);
    }
    if (kind == 2 && below(3) == 0) {
      put_access(machine->code + 0x1000 * below(machine->cores) + (below(0x400) & (below(8) ? ~3u : ~0u)), machine->instruction(), 1);
      if (below(2)) put(0x0000100f); /* fence.i */
    }
  }
  machine->put_end();
}

/* What a debugger does between two stops. */
static void interfere(const struct machine *machine, struct platform *platform) {
  uint32_t core = below(machine->cores), got = 0;
  uint8_t bytes[16];
  switch (below(7)) {
    case 0: iss_step(platform, core); break;
    case 1: iss_set_break(platform, machine->code + 2 * below(0x4800), (int)below(2)); break;
    case 2: iss_watch(platform, machine->address((int)below(2)), below(64), 1 + below(7)); break;
    case 3: iss_read(platform, machine->value(), bytes, below(16)); break;
    case 4: memset(bytes, (int)below(256), sizeof bytes); iss_write(platform, machine->value(), bytes, below(16)); break;
    case 5: iss_set_register(platform, core, below(2) ? below(70) : 4096 + below(4200), machine->value()); break;
    default: iss_get_register(platform, core, below(8400)); iss_last_written(platform, machine->address(1), &got); break;
  }
}

static uint64_t streamed;
static void take(const struct trace_record *records, uint32_t count) {
  (void)records;
  streamed += count;
}

/* 0 ended, 1 fault, 2 refused, -1 wrong */
static int run_case(uint64_t number, char **models) {
  uint32_t which = (uint32_t)(number / KINDS % MACHINES), kind = (uint32_t)(number % KINDS), starts[64];
  const struct machine *machine = machines[which];
  char error[300] = "";
  struct platform *platform;
  int status = ISS_STOPPED;
  seed(number);
  platform = machine->create(kind == 3, error, sizeof error);
  if (!platform) return error[0] ? 2 : -1;
  if (iss_add_peripheral(platform, models[which], machine->engine, machine->event_line, (int)below(2), NULL, NULL, 0, error,
                         sizeof error)) {
    fprintf(stderr, "%s\n", error);
    iss_destroy(platform);
    return -1;
  }
  for (uint32_t core = 0; core < machine->cores; core++) {
    fill(machine, core, kind == 3 ? 0 : kind);
    if (iss_write(platform, machine->code + 0x1000 * core, (const uint8_t *)code.words, code.count * 4)) break;
  }
  for (uint32_t i = 0; i < 64; i++) starts[i] = machine->code + 0x200 * i;
  if (below(2)) iss_follow_calls(platform, starts, 64, below(64), (int)below(2));
  if (below(2)) iss_stream(platform, take);
  for (uint32_t core = 0; core < machine->cores; core++)
    if (core == 0 || below(2)) iss_start(platform, core, below(100) ? machine->code + 0x1000 * core : machine->value());
  for (uint32_t stops = 0; status == ISS_STOPPED && stops < 40; stops++) {
    if (stops || below(2)) interfere(machine, platform);
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

static volatile sig_atomic_t current;
static void hangs(int number) {
  (void)number;
  fprintf(stderr, "case %d hangs\n", (int)current);
  _exit(1);
}

static long peak_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 0, count = argc > 2 ? strtoull(argv[2], NULL, 0) : 100;
  unsigned long outcomes[3] = {0, 0, 0};
  const struct itimerval longest = {{0, 0}, {SECONDS_EACH, 0}};
  long warm = 0;
  if (argc != 3 + MACHINES) return 1;
  signal(SIGVTALRM, hangs);
  for (uint64_t i = 0; i < count; i++) {
    int outcome;
    if (getenv("ANNOUNCE")) fprintf(stderr, "case %llu\n", (unsigned long long)(first + i));
    current = (sig_atomic_t)(first + i);
    setitimer(ITIMER_VIRTUAL, &longest, NULL); /* of its own time: the machine may be busy */
    outcome = run_case(first + i, argv + 3);
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
