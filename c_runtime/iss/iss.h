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
/* Registers 0..31 are x, 32..63 f, 64 the program counter. */
ISS_EXPORT uint32_t iss_get_register(const struct platform *platform, uint32_t core, uint32_t number);
ISS_EXPORT int iss_set_register(struct platform *platform, uint32_t core, uint32_t number, uint32_t value);

/* Run until the program ends (0), faults (1). `max_cycle` 0: no limit. */
ISS_EXPORT int iss_run(struct platform *platform, uint64_t max_cycle);
ISS_EXPORT uint32_t iss_exit_code(const struct platform *platform);
ISS_EXPORT uint64_t iss_cycles(const struct platform *platform);

struct iss_fault {
  uint32_t kind;
  int32_t core;
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

struct iss_span {
  uint64_t start, end;
  uint32_t kind, track;
  uint64_t amount;
};
ISS_EXPORT uint64_t iss_trace(const struct platform *platform, const struct iss_span **spans);

#endif /* ISS_ISS_H */
