/* SPDX-License-Identifier: Apache-2.0
 *
 * A cluster of Snitch cores: workers and, with the highest number, a core that commands the DMA. Cores issue one
 * instruction per cycle and go on while results of loads and of the shared multiplier are on their way. What they
 * compute is known when they issue; only its time is kept: which register can be read when, which results still need
 * the one write port of the register file.
 *
 * Memory operations of a core are answered in order, up to four are under way, one of them a load. */
#ifndef ISS_SNITCH_H
#define ISS_SNITCH_H

#include "platform.h"

enum { SNITCH_CORES = 256, SNITCH_RESULTS = 8, SNITCH_OPERATIONS = 8, SNITCH_LINE_SLOTS = 16, SNITCH_TRANSFERS = 16,
       SNITCH_COUNTERS = 16, SNITCH_SUPERBANKS = 4, SNITCH_BARRIER = 0x7c2, SNITCH_WRITES = 256 };

/* A result that waits for the write port. */
struct snitch_result {
  uint64_t cycle; /* in which it is written, if no instruction that is issued then writes a register */
  uint32_t rd;
};

struct snitch_core {
  uint32_t busy; /* registers whose result may still be on its way; others can be read */
  uint32_t result_count;
  uint64_t next_result;   /* the earliest of `result`, NEVER without any */
  uint64_t latest;        /* not before any of `result` */
  uint64_t ready[34];     /* first cycle in which a register can be read */
  struct snitch_result result[SNITCH_RESULTS];
  uint64_t load_free;     /* when the next load may be issued */
  uint64_t port_free;     /* when the port to L1 can take another request */
  uint64_t answered;      /* when the newest memory operation is answered */
  uint64_t operation[SNITCH_OPERATIONS]; /* when those under way are answered, a ring */
  uint32_t oldest;
  uint64_t offload_free;  /* when the register of offloaded instructions is free */
  uint32_t interrupts;    /* pending, by cause */
  uint32_t reserved;      /* L1 or external address of a load-reserved, 0: none */
  uint64_t congested, multiplications, l0_misses;
  uint64_t answer;        /* when an access outside the fast path is answered that was just made */
};

/* A transfer: rows of a beat of 64 bytes per cycle. Nobody holds the DMA up, so all its times are known at once. */
struct snitch_transfer {
  uint32_t id, rows, bytes, beats; /* bytes and beats of a row */
  uint64_t source, target;
  uint32_t source_stride, target_stride;
  uint64_t start, end; /* of beats; `end` is also when it is complete */
};

struct snitch_dma {
  uint64_t source, target;
  uint32_t source_stride, target_stride, rows;
  struct snitch_transfer transfer[SNITCH_TRANSFERS];
  uint32_t first, count; /* those not complete yet */
  uint32_t next_id, completed;
  uint64_t busy_until;   /* end of the newest */
  uint64_t recent[8];    /* starts of the newest, a ring: when a place in the queue became free */
  uint32_t newest;
  uint64_t bursts, beats, bytes;
};

struct snitch_counter {
  uint32_t enable, hart;
  uint64_t value, base; /* what was counted, and the metric when counting began */
};

/* A store on its way to an accelerator. */
struct snitch_write {
  uint64_t cycle; /* of its arrival */
  uint32_t address, value, hart;
};

struct snitch {
  struct snitch_core core[SNITCH_CORES];
  uint64_t bank_free[64];
  uint64_t multiplier_free, divider_free;
  struct snitch_dma dma;
  struct snitch_counter counter[SNITCH_COUNTERS];
  uint32_t arrived; /* at the barrier, by core */
  uint32_t tohost, fromhost;
  uint32_t software_interrupts, cluster_interrupts;
  struct snitch_write write[SNITCH_WRITES]; /* a ring */
  uint32_t first_write, writes;
  uint64_t last_arrival;
  uint32_t l1_turn; /* way that is replaced next */
};

/* snitch.c */
int snitch_create(struct platform *platform);
int snitch_arrive(struct hart *hart); /* at the barrier; the hart sleeps afterwards */
void snitch_interrupt(struct platform *platform, uint32_t hart, uint32_t cause, int level, uint64_t cycle);
int snitch_wait_for_interrupt(struct hart *hart);

/* What happens by itself: transfers end, stores arrive at accelerators. */
uint64_t snitch_next(const struct platform *platform);
void snitch_advance(struct platform *platform, uint64_t cycle);

/* Results on their way to the registers. */
uint64_t snitch_wait(struct snitch_core *core, uint32_t registers, uint64_t cycle);
void snitch_push_results(struct snitch_core *core, uint64_t cycle);
void snitch_expect_behind(struct snitch_core *core, uint32_t rd, uint64_t ready);

/* An instruction that writes a register is issued and takes the write port. */
static inline void snitch_take_port(struct snitch_core *core, uint64_t cycle) {
  if (LIKELY(cycle < core->next_result)) return;
  if (core->latest < cycle) { /* all are in */
    core->result_count = 0;
    core->next_result = NEVER;
  } else if (LIKELY(core->result_count == 1 && core->result[0].cycle == cycle)) { /* the only one waits a cycle */
    core->result[0].cycle = core->next_result = core->latest = cycle + 1;
    core->ready[core->result[0].rd] = cycle + 2;
  } else {
    snitch_push_results(core, cycle);
  }
}

/* A result of what is issued at `cycle` can be read from `ready` on, if the port is free. */
static inline void snitch_expect(struct snitch_core *core, uint32_t rd, uint64_t ready, uint64_t cycle) {
  if (UNLIKELY(core->latest >= cycle || rd >= 32)) {
    snitch_expect_behind(core, rd, ready);
    return;
  }
  core->result[0] = (struct snitch_result){ready - 1, rd}; /* all before are in */
  core->result_count = 1;
  core->next_result = core->latest = ready - 1;
  core->ready[rd] = ready;
  core->busy |= 1u << rd;
}

/* snitch_execute.c, once without and once with the hooks of observer.h; used as execute() and execute_observed() */
void snitch_execute(struct platform *platform);
void snitch_execute_observed(struct platform *platform);

/* snitch_decode.c: the operation of a word that PULP cores take for `op` */
enum op snitch_decode(const struct platform *platform, uint32_t word, enum op op);
/* The mask of registers that an instruction reads or writes. */
uint32_t snitch_registers(const struct slot *slot);

/* snitch_caches.c: stall cycles until the lines are there */
uint64_t snitch_fetch(struct hart *hart, uint32_t line, uint32_t count, uint64_t cycle, int jumped);

/* snitch_memory.c: take a bank for an access, returns when it is answered; stores that tell the host; accesses of
 * accelerators; and bring stores that have arrived there. */
uint64_t snitch_ask_l1(struct hart *hart, uint32_t offset, uint32_t size, int is_write);
void snitch_tell_host(struct hart *hart, uint32_t address, uint32_t value);
int snitch_engine_access(struct hart *hart, uint32_t address, int is_write, uint32_t *value);
void snitch_deliver(struct platform *platform, uint64_t cycle);
uint64_t snitch_take_banks(struct platform *platform, uint32_t address, uint32_t bytes, uint64_t cycle);

/* snitch_atomic.c: as memory_access */
int snitch_atomic(struct hart *hart, uint32_t op, uint32_t address, uint32_t operand, uint32_t *value);

/* snitch_registers.c */
int snitch_register_access(struct hart *hart, uint32_t offset, int is_write, uint32_t *value);
int snitch_software_interrupts(struct hart *hart, int is_write, uint32_t *value);

/* snitch_dma.c */
void snitch_dma_create(struct platform *platform);
/* The cycle in which a transfer is taken, not before `cycle`; 0 after a fault. */
uint64_t snitch_dma_start(struct hart *hart, uint32_t bytes, uint32_t configuration, uint64_t cycle, uint32_t *id);
uint32_t snitch_dma_status(const struct platform *platform, uint32_t number, uint64_t cycle);
void snitch_dma_advance(struct platform *platform, uint64_t cycle);
uint64_t snitch_dma_next(const struct platform *platform);
/* First cycle from `cycle` on in which no beat has the superbank. */
uint64_t snitch_dma_avoid(const struct platform *platform, uint32_t superbank, uint64_t cycle);

/* The cycle in which a bank of L1 serves an access that is asked for at `cycle`. */
static inline uint64_t snitch_take_bank(struct platform *platform, uint32_t offset, uint64_t cycle) {
  struct snitch *snitch = platform->snitch;
  uint64_t *bank = &snitch->bank_free[offset >> 3 & ((uint32_t)platform->config.memory_l1_banks - 1)];
  if (!platform->config.memory_l1_conflicts) return cycle;
  if (cycle < *bank) cycle = *bank;
  if (UNLIKELY(cycle < snitch->dma.busy_until))
    cycle = snitch_dma_avoid(platform, offset >> 6 & (SNITCH_SUPERBANKS - 1), cycle);
  *bank = cycle + 1;
  return cycle;
}

#endif /* ISS_SNITCH_H */
