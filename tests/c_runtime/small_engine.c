/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest engine on tvm_pulp/job_queue.h: a job of two words adds the second to the word of L1 that the first names.
 * How many contexts it has and how long jobs take are parameters, so that tests see that the front end is data. */
#include <stdlib.h>

#include "tvm_pulp/job_queue.h"

enum { ADDRESS, ADDEND, WORDS };

struct engine {
  struct job_queue queue;
  uint32_t cycles;
};

static bool start(void *self, const uint32_t *words, uint64_t cycle) {
  struct engine *engine = self;
  engine->queue.job_end = cycle + engine->cycles;
  return job_queue_claim(&engine->queue, "sum", TVM_PULP_PORT_L1, words[ADDRESS], 4, true);
}

static bool finish(void *self) {
  struct engine *engine = self;
  const uint32_t *words = engine->queue.words[engine->queue.running_context];
  struct tvm_pulp_system *system = &engine->queue.system;
  uint32_t sum;
  uint8_t *place = system->memory(system->context, TVM_PULP_PORT_L1, words[ADDRESS], 4);
  memcpy(&sum, place, 4);
  sum += words[ADDEND];
  memcpy(place, &sum, 4);
  return true;
}

static const struct job_queue_rules RULES = {
    .name = "small", .job_words = WORDS, .ticket_bits = 4, .gap_cycles = 2, .start = start, .finish = finish};

static void *create(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *parameters, size_t count,
                    char *error, size_t error_bytes) {
  uint32_t contexts = 1, cycles = 10;
  const struct parameter_rule rules[] = {{"contexts", &contexts, 1, JOB_QUEUE_CONTEXTS}, {"cycles", &cycles, 1, 1000}};
  if (!set_parameters("small", rules, 2, parameters, count, error, error_bytes)) return NULL;
  struct engine *engine = calloc(1, sizeof *engine);
  if (engine == NULL) return NULL;
  engine->queue = (struct job_queue){.system = *system, .rules = &RULES, .contexts = contexts};
  engine->cycles = cycles;
  return engine;
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) {
  static const struct tvm_pulp_peripheral TABLE = JOB_QUEUE_PERIPHERAL("small", 0x400, create, free, job_queue_reset);
  return &TABLE;
}
