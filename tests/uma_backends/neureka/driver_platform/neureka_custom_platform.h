/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's machine in tests: every access goes through a function pointer. */
#ifndef NEUREKA_CUSTOM_PLATFORM_H
#define NEUREKA_CUSTOM_PLATFORM_H

#include <stdint.h>

struct driver_hooks {
  uint32_t (*read)(uint32_t offset);
  void (*write)(uint32_t offset, uint32_t value);
  void (*set_priority)(uint32_t accelerator_wins, uint32_t max_stall);
  void (*unmask_event)(void);
  void (*sleep)(void);
};

extern struct driver_hooks driver_hooks;

static inline uint32_t neureka_read(uint32_t offset) { return driver_hooks.read(offset); }
static inline void neureka_write(uint32_t offset, uint32_t value) { driver_hooks.write(offset, value); }
static inline void neureka_set_priority(uint32_t accelerator_wins, uint32_t max_stall) {
  driver_hooks.set_priority(accelerator_wins, max_stall);
}
static inline void neureka_unmask_event(void) { driver_hooks.unmask_event(); }
static inline void neureka_sleep(void) { driver_hooks.sleep(); }

#endif /* NEUREKA_CUSTOM_PLATFORM_H */
