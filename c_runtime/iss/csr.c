/* SPDX-License-Identifier: Apache-2.0
 *
 * Control and status registers: identity, cycle and event counters, hardware loops, floating-point state, and the
 * machine-mode registers that start-up code touches. Interrupts are not taken. */
#include "float_arithmetic.h"
#include "loops.h"
#include "snitch.h"

enum { EVENTS = 17, COMPRESSED_EVENT = 10 };

/* Count of event n since the hart started. */
static uint64_t event_count(const struct hart *hart, uint32_t n, uint64_t cycle) {
  const struct hart_counters *count = &hart->count;
  switch (n) {
    case 0: return active_cycles(hart, cycle);
    case 1: return instructions_retired(hart, cycle);
    case 2: return count->load_use;
    case 3: return count->jump_register;
    case 4: return count->icache;
    case 5: return count->loads;
    case 6: return count->stores;
    case 7: return count->jumps;
    case 8: return count->branches;
    case 9: return count->taken_branches;
    case COMPRESSED_EVENT: return count->compressed;
    case 11: return count->event_load + count->asleep;
    case 12: return count->external_loads;
    case 13: return count->external_stores;
    case 14: return count->external_load_cycles;
    case 15: return count->external_store_cycles;
    default: return count->l1_conflict;
  }
}

static int counts(const struct hart *hart, uint32_t n) { return (hart->pcmr & 1) && (hart->pcer >> n & 1); }

static uint32_t counter_value(const struct hart *hart, uint32_t n, uint64_t cycle) {
  uint64_t value = hart->pccr[n];
  if (n < EVENTS && counts(hart, n)) value += event_count(hart, n, cycle) - hart->pccr_base[n];
  if ((hart->pcmr & 2) && value > UINT32_MAX) return UINT32_MAX;
  return (uint32_t)value;
}

/* Before the enables change: bank what has been counted, and start anew from here. */
static void bank_counters(struct hart *hart, uint64_t cycle) {
  for (uint32_t n = 0; n < EVENTS; n++) {
    hart->pccr[n] = counter_value(hart, n, cycle);
    hart->pccr_base[n] = event_count(hart, n, cycle);
  }
}

static void enable_compressed(struct hart *hart) {
  if (hart->platform->count_compressed || !counts(hart, COMPRESSED_EVENT)) return;
  hart->platform->count_compressed = 1; /* from now on compressed instructions are wrapped by a counter */
  reset_slots(hart->platform);
}

static uint32_t *stored(struct hart *hart, uint32_t number) {
  switch (number) {
    case 0x300: return &hart->mstatus;
    case 0x304: return &hart->mie;
    case 0x305: return &hart->mtvec;
    case 0x340: return &hart->mscratch;
    case 0x341: return &hart->mepc;
    case 0x342: return &hart->mcause;
    default: return NULL;
  }
}

/* Registers that a Snitch core does not have read as 0 and take writes. */
static uint32_t snitch_read(const struct hart *hart, uint32_t number) {
  if (number == 0x301) return 1u << 30 | 1u << 12 | 1u << 8 | 1u; /* RV32IMA */
  return number == 0x344 ? hart->snitch_core->interrupts : 0;
}

int csr_read(struct hart *hart, uint32_t number, uint64_t cycle, uint32_t *value) {
  const uint32_t *word = stored(hart, number);
  if (word) { *value = *word; return 0; }
  switch (number) {
    case 0xf14: *value = hart->hart_id; return 0;
    case 0xb00: case 0xc00: *value = (uint32_t)cycle; return 0;
    case 0xb80: case 0xc80: *value = (uint32_t)(cycle >> 32); return 0;
    case 0xb02: case 0xc02: *value = (uint32_t)instructions_retired(hart, cycle); return 0;
    case 0xb82: case 0xc82: *value = (uint32_t)(instructions_retired(hart, cycle) >> 32); return 0;
    default: break;
  }
  if (hart->snitch_core) { *value = snitch_read(hart, number); return 0; }
  if (number >= 0x780 && number < 0x79f) { *value = counter_value(hart, number - 0x780, cycle); return 0; }
  switch (number) {
    case 0x001: case 0x002: case 0x003:
      if (!hart->has_float) return -1;
      float_collect_flags(hart);
      *value = number == 1 ? hart->fflags : number == 2 ? hart->frm : hart->frm << 5 | hart->fflags;
      return 0;
    case 0x014: *value = hart->hart_id; return 0;
    case 0x301: *value = 1u << 30 | 1u << 23 | 1u << 12 | 1u << 8 | 1u << 2 | (hart->has_float ? 1u << 5 : 0); return 0;
    case 0x79f: case 0xf11: case 0xf12: case 0xf13: *value = 0; return 0;
    case 0x7c0: case 0x7c4: *value = hart->loop[number == 0x7c4].start; return 0;
    case 0x7c1: case 0x7c5: *value = hart->loop[number == 0x7c5].end; return 0;
    case 0x7c2: case 0x7c6: *value = hart->loop[number == 0x7c6].count; return 0;
    case 0xcc0: *value = hart->pcer; return 0;
    case 0xcc1: *value = hart->pcmr; return 0;
    default: return -1;
  }
}

int csr_write(struct hart *hart, uint32_t number, uint64_t cycle, uint32_t value) {
  uint32_t *word = stored(hart, number);
  if (word) *word = number == 0x341 && !hart->snitch_core ? value & ~1u : value;
  if (word || hart->snitch_core) return 0;
  if (number >= 0x780 && number <= 0x79f) {
    bank_counters(hart, cycle);
    for (uint32_t n = 0; n < 31; n++)
      if (number == 0x79f || number == 0x780 + n) hart->pccr[n] = value;
    return 0;
  }
  switch (number) {
    case 0x001: case 0x002: case 0x003:
      if (!hart->has_float) return -1;
      float_collect_flags(hart);
      if (number == 1) hart->fflags = value & 31;
      if (number == 2) hart->frm = value & 7;
      if (number == 3) { hart->fflags = value & 31; hart->frm = value >> 5 & 7; }
      return 0;
    case 0x7c0: case 0x7c4: set_loop_start(hart, number == 0x7c4, value); return 0;
    case 0x7c1: case 0x7c5: set_loop_end(hart, number == 0x7c5, value); return 0;
    case 0x7c2: case 0x7c6: hart->loop[number == 0x7c6].count = value; return 0;
    case 0xcc0: bank_counters(hart, cycle); hart->pcer = value; enable_compressed(hart); return 0;
    case 0xcc1: bank_counters(hart, cycle); hart->pcmr = value & 3; enable_compressed(hart); return 0;
    default: return -1;
  }
}
