/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's machine in tests: every access goes through a function pointer. */
#ifndef ITA_CUSTOM_PLATFORM_H
#define ITA_CUSTOM_PLATFORM_H

#include <stdint.h>

struct driver_hooks {
  uint32_t (*read)(uint32_t offset);
  void (*write)(uint32_t offset, uint32_t value);
  void (*sleep)(void);
};

extern struct driver_hooks driver_hooks;

static inline uint32_t ita_read(uint32_t offset) { return driver_hooks.read(offset); }
static inline void ita_write(uint32_t offset, uint32_t value) { driver_hooks.write(offset, value); }
static inline void ita_sleep(void) { driver_hooks.sleep(); }

#endif /* ITA_CUSTOM_PLATFORM_H */
