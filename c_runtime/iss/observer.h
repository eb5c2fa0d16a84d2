/* SPDX-License-Identifier: Apache-2.0
 *
 * What a debugger asks of a run: stop before an instruction, after an access, after one instruction, or now. Works in
 * execute_observed() only. Stopping changes nothing: the run goes on with the same hart at the same limit. */
#ifndef ISS_OBSERVER_H
#define ISS_OBSERVER_H

#include <stdint.h>

#include "config.h"

struct hart;
struct platform;
struct slot;

enum { WATCHES = 64, REGISTERS = 4096, NOBODY = -1 };
/* Agents of accesses that are not harts. */
enum { AGENT_DMA = -1, AGENT_ENGINE = -2, AGENT_HYPERBUS = -3 };

enum watch_kind { WATCH_WRITE = 1, WATCH_READ = 2, WATCH_MARK = 4 };
enum stop_reason { STOP_NONE, STOP_STEP, STOP_BREAKPOINT, STOP_WRITE, STOP_READ, STOP_INTERRUPT };

struct watch {
  uint32_t address, bytes, kinds;
};

struct observer {
  int attention;   /* a step or an access that was watched: look before the next instruction */
  int interrupted; /* set by another thread */
  uint8_t *notes[REGION_COUNT]; /* per half-word of code: breakpoints that stand there */
  int32_t step; /* hart to stop before its next instruction, or NOBODY */
  struct watch watch[WATCHES];
  uint32_t watch_count;
  uint32_t low, span; /* addresses outside are watched by nobody */
  enum stop_reason hit; /* a watched access since the last look */
  uint32_t hit_address;
  uint32_t registers[REGISTERS][2]; /* address and value last written there, hashed */
  /* Why and where it stopped. */
  enum stop_reason reason;
  uint32_t address;
  struct hart *stopped;
  uint64_t limit;
};

int observer_create(struct platform *platform);
void observer_destroy(struct platform *platform);
/* Before an instruction that has a note or while something wants attention; 1: stop here. */
int observer_stops(struct hart *hart);
/* An access that nobody or somebody watches; `agent` is a hart's index or an AGENT_*. */
void observer_access(struct platform *platform, int agent, uint32_t address, uint32_t bytes, int is_write,
                     uint64_t cycle);
/* The same for an agent that is no hart, for written.h too. */
void agent_access(struct platform *platform, int agent, uint32_t address, uint32_t bytes, int is_write, uint64_t cycle);
/* A value written to a peripheral register. */
void observer_register(struct observer *observer, uint32_t address, uint32_t value);
void observer_range(struct observer *observer); /* after the watches changed */

#endif /* ISS_OBSERVER_H */
