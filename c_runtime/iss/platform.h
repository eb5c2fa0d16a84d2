/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated system: harts, memories, devices, and the order in which they act: by time, at equal times harts in the
 * order of scheduler.h, then devices. */
#ifndef ISS_PLATFORM_H
#define ISS_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#include "address_map.h"
#include "calls.h"
#include "config.h"
#include "dma.h"
#include "event_unit.h"
#include "hyperbus.h"
#include "iss.h"
#include "observer.h"
#include "ops.h"
#include "peripherals.h"
#include "timer.h"
#include "trace.h"
#include "written.h"

enum { MAX_CORES = 16, WHEEL_SIZE = 64, QUEUE_WORDS = 4 };
#define NEVER UINT64_MAX
#define NO_SOC_EVENT 0xffffffffu
#define DISCARD 32 /* register index that takes writes to x0 */

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

struct platform;
struct snitch;
struct pool;
struct snitch_core;

/* One predecoded instruction. There is one slot per half-word of code memory. */
struct slot {
  int32_t handler; /* offset of the handler's code from that of `decode` */
  int32_t inner;   /* the instruction's own handler, when `handler` is the wrapper */
  int32_t imm;
  uint32_t cost; /* cycles; for loads and multiplications, stall on dependent successor included */
  uint8_t rd, rs1, rs2, step; /* step: bytes to the next slot */
  uint8_t wrap;    /* WRAP_* */
  uint8_t lines;   /* cache lines from here to the end of the straight-line block */
  uint8_t mark;    /* MARK_* */
  uint8_t post;    /* post-increment: rs1 as a destination, DISCARD for x0 */
  uint16_t op;
  uint16_t stall; /* dependent-successor stall that `cost` contains */
  uint32_t word;  /* as fetched */
};

/* Slots, that is half-words, of the instruction. */
#define SLOT_LENGTH(which) ((uint32_t)((which)->step / sizeof(struct slot)))

enum { WRAP_BOUNDARY = 1, WRAP_COMPRESSED = 2, WRAP_LOOP_END = 4 };
/* A jalr whose source the instruction before it produces; an access to memory that is not wrapped. */
enum { MARK_HAZARD = 1, MARK_ACCESS = 2 };
enum { LINE_SLOTS = 8, BOUNDARY_SLOTS = 256 };

/* A memory that code can run from. */
struct code_region {
  struct slot *slots;
  uint8_t *memory;
  uint32_t base, bytes;
  uint32_t low, high; /* slot range touched since the last reset of the slots */
};

struct hardware_loop {
  uint32_t start, end, count;
  struct slot *start_ip, *end_ip;
  uint64_t warm_epoch; /* L0 epoch in which every line of the body was seen resident */
};

enum hart_state { HART_OFF, HART_READY, HART_ASLEEP, HART_BLOCKED };

/* Cumulative event counts of one hart. Cycles of every cause except plain issue are counted, so the number of
 * instructions follows: instructions = active cycles - the sum of all stall causes. */
#define HART_COUNTERS(X)                                                                                     \
  X(load_use) X(jump_register) X(multiply_divide) X(l1_conflict)                                             \
  X(external_load_cycles) X(external_store_cycles) X(misaligned) X(icache) X(event_load) X(asleep)           \
  X(blocked) X(loads) X(stores) X(jumps) X(branches) X(taken_branches) X(compressed) X(external_loads)       \
  X(external_stores)

struct hart_counters {
#define HART_COUNTER(name) uint64_t name;
  HART_COUNTERS(HART_COUNTER)
#undef HART_COUNTER
};

struct hart {
  uint32_t x[34];
  struct slot *ip;
  uint64_t now;
  struct platform *platform;
  /* The memory one cycle away: L1 for cluster cores, L2 for the controller. */
  uint8_t *fast_memory;
  uint32_t fast_base, fast_words, bank_mask;
  uint64_t *bank_free; /* NULL: no conflicts */
  uint64_t *float_unit, *float_divider; /* when it is free again; NULL: a unit of its own */
  uint64_t slack;      /* cycles by which its L1 accesses may run ahead of others */
  uint64_t bit;        /* in a word of the run queue's masks */
  uint32_t index;      /* among the harts */
  int has_own_clock;
  struct snitch_core *snitch_core; /* what only such a core has, else NULL */
  /* Where it executes. */
  struct slot *slots;
  uint32_t pc_base, region, code_bytes;
  int32_t resume; /* handler to continue with */
  uint32_t taken_cost, jump_cost;
  const uint8_t *resident; /* bit per line of the region: in this hart's innermost instruction cache */
  uint64_t l0_epoch;
  struct hardware_loop loop[2];
  struct slot tail[4]; /* last loop instruction followed by the loop edge, see execute.c */
  struct slot *tail_ip;
  int tail_valid, has_float;
  struct hart_counters count;
  const uint8_t *notes; /* of its code region, see observer.h */
  uint8_t *written;     /* of its fast memory, see written.h; NULL: not checked */
  int observed;         /* the instruction at ip was looked at already */
  uint32_t f[32];
  uint32_t fflags, frm;
  uint32_t hart_id;
  int is_controller;
  enum hart_state state;
  uint64_t start_cycle, sleep_start;
  /* Control and status registers. */
  uint32_t pcer, pcmr, pccr[32];
  uint64_t pccr_base[32];
  uint32_t mstatus, mtvec, mepc, mcause, mscratch, mie;
  uint32_t boot_address;
  struct wait wait;
  /* Innermost instruction cache: L0 of a cluster core, the only cache of the controller. */
  uint32_t *cache_tags; /* line number + 1, 0 = empty */
  uint32_t cache_sets, cache_ways;
  uint8_t cache_random;
  uint8_t *resident_bits[REGION_COUNT];
};

enum fault_kind { FAULT_NONE, FAULT_ACCESS, FAULT_MISALIGNED, FAULT_ILLEGAL, FAULT_FETCH, FAULT_DEADLOCK, FAULT_CYCLES,
                  FAULT_PERIPHERAL, FAULT_ENVIRONMENT };

enum run_state { RUN_GOING, RUN_EXIT, RUN_FAULT };

enum { CACHE_BANKS = 64, CACHE_REFILLS = 16 };

struct shared_cache {
  uint32_t *tags;
  uint64_t *ready; /* cycle from which the line can be read */
  uint64_t refill[CACHE_BANKS][CACHE_REFILLS]; /* when the last refills of a bank started; it does one at a time */
  uint8_t random[CACHE_BANKS];
  int enabled;
};

struct output {
  char *text;
  size_t bytes, capacity;
  char *line[64][16]; /* partial lines by (cluster, core) */
  uint32_t line_bytes[64][16];
};

struct platform {
  struct config config;
  void (*run)(struct platform *); /* execute() or execute_observed() */
  int32_t handlers[OP_COUNT]; /* by operation: offset of its code from that of `decode` */
  struct snitch *snitch; /* what only a cluster of Snitch cores has, else NULL */
  struct pool *pool;     /* and what only one in tiles and groups has besides */
  struct hart *harts; /* cluster cores, then the controller */
  uint32_t hart_count;
  uint8_t *l1, *l2, *weight, *l3;
  struct code_region region[REGION_COUNT];
  uint32_t line_slots; /* of a line of its instruction caches */
  uint64_t l1_bank_free[64], l2_bank_free[64];
  uint64_t float_unit_free[MAX_CORES], float_divider_free[MAX_CORES];
  /* Run queue: harts of the present cycle, a wheel of the next 63 cycles, and a list of harts further away. */
  uint64_t wheel_base;     /* the present */
  uint64_t ready[QUEUE_WORDS]; /* bit n: hart (n + turn) % 64 of a word wants to run now; the lowest comes first */
  uint64_t wheel_occupied, quiet_until; /* see scheduler.h */
  uint32_t words, turn, ready_word; /* words of a mask; the first of `ready` that may hold any */
  uint32_t rotation_mask;  /* priority among harts at one cycle rotates by the cycle number & this */
  uint64_t far[QUEUE_WORDS], far_cycle;
  uint64_t wheel[WHEEL_SIZE * QUEUE_WORDS];
  uint64_t limit;      /* last cycle (of its own clock) at which the running hart comes before every other actor */
  uint64_t device_cycle; /* next cycle at which a device acts by itself */
  uint64_t max_cycle;
  struct hart *running, *float_owner;
  enum run_state state;
  uint32_t exit_code;
  uint64_t end_cycle; /* of the program; a core by itself ends it later than the scheduler last looked */
  struct iss_fault fault;
  struct event_unit events;
  struct dma dma;
  struct hyperbus hyperbus;
  struct timer timers[3]; /* cluster, controller 0, controller 1 */
  struct peripherals peripherals;
  struct trace trace;
  struct observer observer; /* and the other things that only execute_observed() cares for */
  struct calls calls;
  struct written written;
  struct shared_cache shared_cache;
  int controller_cache_enabled;
  int count_compressed;
  struct output output;
  uint32_t cluster_registers[16]; /* cluster control: end of computation, configuration, clock gate ... */
  uint32_t fetch_enable;
  uint32_t controller_boot_address, interrupt_mask, interrupt_pending, interrupt_ack;
  uint32_t event_fifo[16], event_fifo_count;
  struct address_map map;
};

/* A cycle of the hart's clock in cluster cycles. */
static inline uint64_t cluster_cycle(const struct hart *hart, uint64_t cycle) {
  const struct config *config = &hart->platform->config;
  if (LIKELY(!hart->has_own_clock)) return cycle;
  return cycle * (uint64_t)config->soc_clock_numerator / (uint64_t)config->soc_clock_denominator;
}

static inline uint32_t view_of(const struct hart *hart) { return hart->is_controller ? VIEW_CONTROLLER : VIEW_CORE; }

/* platform.c */
uint64_t local_cycle(const struct hart *hart, uint64_t cluster); /* first own cycle not before a cluster cycle */
void platform_start_hart(struct platform *platform, struct hart *hart, uint32_t pc, uint64_t cycle);
int platform_enter(struct hart *hart, uint32_t pc); /* sets ip; 0 when the address holds no code memory */
uint32_t hart_pc(const struct hart *hart);
void hart_sleep(struct hart *hart);
void hart_block(struct hart *hart);
/* Put a sleeping or blocked hart back into the run queue at a cluster cycle. */
void hart_wake(struct hart *hart, uint64_t cycle);
void reset_slots(struct platform *platform);
void raise_soc_event(struct platform *platform, uint32_t event);
void platform_exit(struct platform *platform, uint32_t code, uint64_t cycle);
uint64_t last_cycle(const struct platform *platform);
void update_device_cycle(struct platform *platform);
void run_devices(struct platform *platform, uint64_t until);
uint64_t active_cycles(const struct hart *hart, uint64_t cycle);
uint64_t instructions_retired(const struct hart *hart, uint64_t cycle);

/* fault.c */
void platform_fault(struct platform *platform, enum fault_kind kind, const struct hart *hart, uint32_t address,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
void report_deadlock(struct platform *platform);

/* execute.c: runs harts until the platform's state changes. The first call only publishes the handlers' offsets. */
void execute(struct platform *platform);
/* The same, looking between instructions and at accesses (observer.h); somewhat slower. */
void execute_observed(struct platform *platform);

/* decode.c */
void decode_block(struct hart *hart, struct slot *head);
void decode_word(const struct platform *platform, uint32_t word, struct slot *out);
int op_reads(const struct slot *slot, uint32_t reg, int is_float);
uint32_t expand_compressed(uint32_t half, int has_float);
extern const uint16_t op_flags[OP_COUNT];

/* caches.c */
void caches_create(struct platform *platform);
/* Lines of all regions in one number space; put one into a way of a hart's innermost cache. */
uint32_t cache_line(const struct platform *platform, uint32_t region, uint32_t line);
void cache_install(struct hart *hart, uint32_t way, uint32_t number);
void caches_destroy(struct platform *platform);
void caches_flush(struct platform *platform, int controller);
void caches_refresh(struct platform *platform); /* after enabling or disabling */
uint64_t fetch_lines(struct hart *hart, uint32_t line, uint32_t count, uint64_t cycle); /* stall cycles */

/* semihosting.c: how a core by itself prints and ends the run; the hart stands at an ebreak */
int is_semihosting_call(const struct hart *hart);
int semihosting_call(struct hart *hart); /* ACCESS_OK, or ACCESS_STOP at the end of the program */

/* csr.c: 0, or -1 for a register that does not exist */
int csr_read(struct hart *hart, uint32_t number, uint64_t cycle, uint32_t *value);
int csr_write(struct hart *hart, uint32_t number, uint64_t cycle, uint32_t value);

/* output.c */
void output_character(struct output *output, uint32_t cluster, uint32_t core, char character);
/* The same for a program that may print too much: a fault, of a hart or of nobody. */
void guest_prints(struct platform *platform, const struct hart *hart, uint32_t cluster, uint32_t core, char character);
int output_is_full(const struct output *output);
void output_flush(struct output *output);
void output_destroy(struct output *output);

#endif /* ISS_PLATFORM_H */
