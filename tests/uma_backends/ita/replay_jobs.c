/* SPDX-License-Identifier: Apache-2.0
 *
 * Run recorded jobs on the model as a program of its own, so that it can be built with address checks.
 *
 * Standard input:  for every list the number of its jobs, 17 words each, the bytes of L1.
 * Standard output: for every list one byte (1 = fault) and the bytes of L1 after it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tvm_pulp/peripheral.h"

enum { JOB_WORDS = 17, L1_BYTES = 256 * 1024, MOST_JOBS = 1024 };

struct memories {
  uint8_t *l1;
  int faulted;
};

static uint8_t *memory(void *context, enum tvm_pulp_port port, uint32_t address, uint32_t bytes) {
  struct memories *m = context;
  const uint64_t offset = address; /* pointers count from the start of L1 */
  if (port != TVM_PULP_PORT_L1 || offset > L1_BYTES || bytes > L1_BYTES - offset) return NULL;
  return m->l1 + offset;
}

static void claim(void *context, enum tvm_pulp_port port, uint32_t address, uint32_t bytes, int is_write,
                  uint64_t end_cycle) {
  (void)context, (void)port, (void)address, (void)bytes, (void)is_write, (void)end_cycle;
}

static void release(void *context) { (void)context; }

/* Beat by beat, every other one a cycle late. */
static uint64_t take_banks(void *context, uint32_t address, uint32_t bytes, uint64_t cycle) {
  (void)context, (void)bytes;
  return (address / 64 + cycle) % 2;
}

static void raise_event(void *context, uint64_t cycle) { (void)context, (void)cycle; }

static void fault(void *context, const char *reason) {
  (void)reason;
  ((struct memories *)context)->faulted = 1;
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

int main(void) {
  static uint32_t words[MOST_JOBS][JOB_WORDS];
  struct memories m = {malloc(L1_BYTES), 0};
  const struct tvm_pulp_system system = {&m, memory, claim, release, take_banks, raise_event, fault};
  const struct tvm_pulp_peripheral *ita = tvm_pulp_peripheral();
  char error[128];
  void *self = ita->create(&system, NULL, 0, error, sizeof error);
  if (m.l1 == NULL || self == NULL) return 1;
  uint32_t count;
  uint64_t cycle = 0;
  while (fread(&count, sizeof count, 1, stdin) == 1) {
    if (count > MOST_JOBS || fread(words, sizeof words[0], count, stdin) != count) return 2;
    if (fread(m.l1, L1_BYTES, 1, stdin) != 1) return 3;
    m.faulted = 0;
    ita->reset(self);
    uint32_t job = 0;
    do {
      /* As long as there are contexts. */
      while (job < count && ita->read(self, 0x04, 0, cycle) <= 0xFF && !m.faulted) {
        for (uint32_t i = 0; i < JOB_WORDS; i++) ita->write(self, 0x20 + 4 * i, words[job][i], 0, cycle);
        ita->write(self, 0x00, 0, 0, cycle);
        job++;
      }
      const uint64_t next = ita->next_event(self);
      if (next == TVM_PULP_NEVER) break;
      ita->advance(self, cycle = next);
    } while (!m.faulted);
    if (job < count && !m.faulted) return 4;
    putchar(m.faulted);
    fwrite(m.l1, L1_BYTES, 1, stdout);
  }
  ita->destroy(self);
  free(m.l1);
  return 0;
}
