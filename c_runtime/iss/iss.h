/* SPDX-License-Identifier: Apache-2.0
 *
 * The exported interface of the simulator, called through ctypes. Calls are coarse: create, load, run, read back. */
#ifndef ISS_ISS_H
#define ISS_ISS_H

#include <stddef.h>
#include <stdint.h>

#include "tvm_pulp/peripheral.h"

#define ISS_EXPORT __attribute__((visibility("default")))

struct platform;

/* Increased when this interface changes; the Python side refuses any other value. */
ISS_EXPORT uint32_t iss_version(void);

/* A system with the named settings; NULL with the reason in `error`. */
ISS_EXPORT struct platform *iss_create(const char *const *names, const int64_t *values, size_t count, char *error,
                                       size_t error_bytes);
ISS_EXPORT void iss_destroy(struct platform *platform);

/* Memory as the SoC sees it; 0, or -1 when the range is not inside one memory. */
ISS_EXPORT int iss_read(struct platform *platform, uint32_t address, uint8_t *data, uint64_t bytes);
ISS_EXPORT int iss_write(struct platform *platform, uint32_t address, const uint8_t *data, uint64_t bytes);
ISS_EXPORT int iss_l3(struct platform *platform, uint32_t offset, uint8_t *data, uint64_t bytes, int is_write);

ISS_EXPORT int iss_add_peripheral(struct platform *platform, const char *path, uint32_t base, uint32_t event_line,
                                  int bank_port, const char *const *names, const int64_t *values, size_t count, char *error,
                                  size_t error_bytes);

/* Where a program without an exit register ends the run and prints: `tohost` and `fromhost`; -1: it has such registers. */
ISS_EXPORT int iss_set_host_words(struct platform *platform, uint32_t tohost, uint32_t fromhost);

/* Start a core (index = number of cores: the controller); 0, or -1 when it runs already or the address holds no code. */
ISS_EXPORT int iss_start(struct platform *platform, uint32_t core, uint32_t pc);
/* Registers 0..31 are x, 32..63 f, then the program counter; from ISS_REGISTER_CSR on control and status registers. */
enum { ISS_REGISTER_PC = 64, ISS_REGISTER_CSR = 4096 };
ISS_EXPORT uint32_t iss_get_register(struct platform *platform, uint32_t core, uint32_t number);
ISS_EXPORT int iss_set_register(struct platform *platform, uint32_t core, uint32_t number, uint32_t value);

/* Run until the program ends, faults, or is stopped for a debugger: then the next call goes on. `max_cycle` 0: no limit. */
enum { ISS_ENDED, ISS_FAULTED, ISS_STOPPED };
ISS_EXPORT int iss_run(struct platform *platform, uint64_t max_cycle);
ISS_EXPORT uint32_t iss_exit_code(const struct platform *platform);
ISS_EXPORT uint64_t iss_cycles(const struct platform *platform);

struct iss_fault {
  uint32_t kind; /* enum fault_kind */
  int32_t core;  /* -1: none (DMA, accelerator) */
  uint32_t pc, word, address;
  char text[400];
};
ISS_EXPORT void iss_fault(const struct platform *platform, struct iss_fault *fault);

ISS_EXPORT size_t iss_output(const struct platform *platform, const char **text);

/* Counters by name. `iss_counter_name` returns NULL past the last; values come in the same order. */
ISS_EXPORT const char *iss_core_counter_name(uint32_t number);
ISS_EXPORT void iss_core_counters(const struct platform *platform, uint32_t core, uint64_t *values);
ISS_EXPORT const char *iss_system_counter_name(uint32_t number);
ISS_EXPORT void iss_system_counters(const struct platform *platform, uint64_t *values);
ISS_EXPORT uint32_t iss_peripheral_count(const struct platform *platform);
ISS_EXPORT const char *iss_peripheral(const struct platform *platform, uint32_t number,
                                      struct tvm_pulp_peripheral_statistics *statistics);
ISS_EXPORT const char *iss_first_race(const struct platform *platform);

struct trace_span;
ISS_EXPORT uint64_t iss_trace(const struct platform *platform, const struct trace_span **spans);
ISS_EXPORT int iss_trace_is_complete(const struct platform *platform); /* 0: only the first spans had room */

/* What follows needs the setting `observe`. */

/* A breakpoint at an address of code; 0, or -1 when there is no code memory. */
ISS_EXPORT int iss_set_break(struct platform *platform, uint32_t address, int set);
/* Stop after accesses by anyone; `kinds` are of enum watch_kind. -1: too many, or no such. */
ISS_EXPORT int iss_watch(struct platform *platform, uint32_t address, uint32_t bytes, uint32_t kinds);
ISS_EXPORT int iss_unwatch(struct platform *platform, uint32_t address, uint32_t bytes, uint32_t kinds);
/* Stop before the next instruction but one of a core; stop soon (from any thread). */
ISS_EXPORT int iss_step(struct platform *platform, uint32_t core);
ISS_EXPORT void iss_interrupt(struct platform *platform);

struct iss_stop {
  uint32_t reason; /* enum stop_reason */
  uint32_t core, address;
};
ISS_EXPORT void iss_stop(const struct platform *platform, struct iss_stop *stop);
ISS_EXPORT uint32_t iss_core_state(const struct platform *platform, uint32_t core); /* enum hart_state */
ISS_EXPORT uint64_t iss_core_cycle(const struct platform *platform, uint32_t core);
/* Addresses of peripheral registers; -1 past the last space. */
ISS_EXPORT int iss_register_space(const struct platform *platform, uint32_t number, uint32_t *base, uint32_t *bytes);
/* What was last written to a peripheral register; -1: nothing. Reading one for real may have effects. */
ISS_EXPORT int iss_last_written(struct platform *platform, uint32_t address, uint32_t *value);

/* Follow calls of functions, whose starts are given in ascending order. Callees of number `tile_caller` are tiles of the
 * stream. With `logged`, the stream tells of every call and return. */
ISS_EXPORT int iss_follow_calls(struct platform *platform, const uint32_t *starts, uint32_t count, uint32_t tile_caller,
                                int logged);
struct call_node;
ISS_EXPORT uint32_t iss_call_nodes(const struct platform *platform, const struct call_node **nodes);
ISS_EXPORT const char *iss_cause_name(uint32_t number);

/* With the setting `check_reads`: reads of bytes of L1 and L2 that nobody wrote, the first of them kept. */
ISS_EXPORT int iss_undefine(struct platform *platform, uint32_t address, uint64_t bytes);
struct unwritten_read;
ISS_EXPORT uint64_t iss_unwritten_reads(const struct platform *platform, const struct unwritten_read **reads);

/* Hand on what happens in batches, see trace.h; needs no setting. */
struct trace_record;
ISS_EXPORT int iss_stream(struct platform *platform, void (*sink)(const struct trace_record *records, uint32_t count));

#endif /* ISS_ISS_H */
