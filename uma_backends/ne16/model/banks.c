/* SPDX-License-Identifier: Apache-2.0
 *
 * What a job waits for its own accesses where a bank of L1 serves one a cycle, by the public simulator's rule: a beat's
 * requests start together, each takes its bank for a cycle, and the beat ends when its slowest one has been served. Its
 * stores are a request for every byte, so that pixels that follow each other meet in banks; loads are one for every
 * word, and only stream-in comes so soon behind a store that it waits. Cores and DMA are not in this. */
#include "engine.h"

enum { BEAT = 32, PAUSE = 60 /* a subtile's computing: all banks are free again */ };

static uint64_t request(struct ne16_banks *banks, uint32_t address) {
  uint64_t *free_at = &banks->free_at[address / 4 % NE16_BANKS];
  const uint64_t wait = *free_at > banks->now ? *free_at - banks->now : 0;
  *free_at = (wait != 0 ? *free_at : banks->now) + 1;
  return wait;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The beat is over, after a cycle and what it waited. */
static void end_beat(struct ne16_banks *banks, uint64_t wait) {
  banks->now += 1 + wait;
  banks->waited += wait;
}

static void load(struct ne16_banks *banks, uint32_t address) {
  uint64_t wait = 0;
  for (uint32_t word = 0; word <= BEAT / 4; word++) wait = larger(wait, request(banks, address / 4 * 4 + 4 * word));
  end_beat(banks, wait);
}

/* Waits count for every fourth byte. */
static uint64_t store(struct ne16_banks *banks, uint32_t address, uint32_t bytes) {
  uint64_t wait = 0;
  for (uint32_t byte = 0; byte < bytes; byte++) {
    const uint64_t mine = request(banks, address + byte);
    if (byte % 4 == 0) wait = larger(wait, mine);
  }
  return wait;
}

/* The last beat of a 1x1 subtile waits for the pipeline behind few values, or not at all behind many. */
static uint64_t last_wait(const struct array_job *job, uint64_t wait, uint32_t pixels) {
  const int64_t pipeline = 10 - (int64_t)pixels * job->output_bytes, both = pipeline + (int64_t)wait;
  return job->mode != ARRAY_1X1 ? wait : (uint64_t)((both > 0 ? both : 0) - (pipeline > 0 ? pipeline : 0));
}

void ne16_take_banks(struct ne16_banks *banks, const struct array_job *job, uint32_t a, uint32_t i, uint32_t j) {
  const uint32_t base = job->at.output + a * job->ko.full * job->output_bytes +
                        NE16_PATCH * (i * job->at.output_d2 + j * job->at.output_d1);
  const uint32_t k = array_dimension_size(&job->ko, a), ho = array_dimension_size(&job->ho, i);
  const uint32_t wo = array_dimension_size(&job->wo, j);
  const uint32_t beats = job->output_bytes == 1 ? 1 : (k + 7) / 8, step = array_output_step(job);
  for (uint32_t n = 0; job->stream_in && n < NE16_PATCH * NE16_PATCH * beats; n++) {
    const uint32_t pixel = n / beats, row = pixel / NE16_PATCH * job->at.output_d2;
    load(banks, base + row + pixel % NE16_PATCH * job->at.output_d1 + n % beats * job->at.output_d0);
  }
  banks->now += PAUSE;
  for (uint32_t n = 0; n < ((ho - 1) * NE16_PATCH + wo) * beats; n++) {
    const uint32_t y = n / beats / NE16_PATCH, x = n / beats % NE16_PATCH, beat = n % beats;
    const uint32_t left = k - 8 * beat, bytes = job->output_bytes == 1 ? k : 4 * (left < 8 ? left : 8);
    const bool written = x < wo && x % step == 0 && y % step == 0;
    const uint32_t address = base + y * job->at.output_d2 + x * job->at.output_d1 + beat * job->at.output_d0;
    const uint64_t wait = written ? store(banks, address, bytes) : 0;
    const bool last = n + 1 == ((ho - 1) * NE16_PATCH + wo) * beats;
    end_beat(banks, last ? last_wait(job, wait, ho * wo) : wait);
  }
}
