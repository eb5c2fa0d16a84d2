/* SPDX-License-Identifier: Apache-2.0
 *
 * Run recorded jobs on the model as a program of its own, so that it can be built with address checks.
 *
 * Standard input:  for every job 24 words, the bytes of L1, the offset and the bytes of its packed weights.
 * Standard output: for every job one byte (1 = fault) and the bytes of L1 after it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tvm_pulp/peripheral.h"

enum { JOB_WORDS = 24, L1_BYTES = 256 * 1024, WEIGHT_BYTES = 8 * 1024 * 1024, LARGEST_WEIGHTS = 1 << 20 };
#define L1_BASE 0x10000000u

struct memories {
  uint8_t *l1, *weight;
  int faulted;
};

static uint8_t *memory(void *context, enum tvm_pulp_port port, uint32_t address, uint32_t bytes) {
  struct memories *m = context;
  const uint64_t offset = port == TVM_PULP_PORT_L1 ? (uint64_t)address - L1_BASE : address;
  const uint64_t size = port == TVM_PULP_PORT_L1 ? L1_BYTES : WEIGHT_BYTES;
  if (offset > size || bytes > size - offset) return NULL;
  return (port == TVM_PULP_PORT_L1 ? m->l1 : m->weight) + offset;
}

static void claim(void *context, enum tvm_pulp_port port, uint32_t address, uint32_t bytes, int is_write,
                  uint64_t end_cycle) {
  (void)context, (void)port, (void)address, (void)bytes, (void)is_write, (void)end_cycle;
}

static void release(void *context) { (void)context; }

/* Access by access, every other one a cycle late. */
static uint64_t take_banks(void *context, uint32_t address, uint32_t bytes, uint64_t cycle) {
  (void)context, (void)bytes;
  return (address / 4 + cycle) % 2;
}

static void raise_event(void *context, uint64_t cycle) { (void)context, (void)cycle; }

static void fault(void *context, const char *reason) {
  (void)reason;
  ((struct memories *)context)->faulted = 1;
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

int main(void) {
  struct memories m = {malloc(L1_BYTES), calloc(1, WEIGHT_BYTES), 0};
  const struct tvm_pulp_system system = {&m, memory, claim, release, take_banks, raise_event, fault};
  const struct tvm_pulp_peripheral *neureka = tvm_pulp_peripheral();
  char error[128];
  void *self = neureka->create(&system, NULL, 0, error, sizeof error);
  if (m.l1 == NULL || m.weight == NULL || self == NULL) return 1;
  uint32_t words[JOB_WORDS], weights[2];
  uint64_t cycle = 0;
  while (fread(words, sizeof words, 1, stdin) == 1) {
    if (fread(m.l1, L1_BYTES, 1, stdin) != 1 || fread(weights, sizeof weights, 1, stdin) != 1) return 2;
    if (weights[1] > LARGEST_WEIGHTS || weights[0] > WEIGHT_BYTES - LARGEST_WEIGHTS) return 3;
    if (weights[1] != 0 && fread(m.weight + weights[0], weights[1], 1, stdin) != 1) return 4;
    m.faulted = 0;
    neureka->reset(self);
    if (neureka->read(self, 0x04, 0, cycle) != 0) return 5;
    for (uint32_t i = 0; i < JOB_WORDS; i++) neureka->write(self, 0x20 + 4 * i, words[i], 0, cycle);
    neureka->write(self, 0x00, 0, 0, cycle);
    for (uint64_t next; (next = neureka->next_event(self)) != TVM_PULP_NEVER;) neureka->advance(self, cycle = next);
    putchar(m.faulted);
    fwrite(m.l1, L1_BYTES, 1, stdout);
  }
  neureka->destroy(self);
  free(m.l1);
  free(m.weight);
  return 0;
}
