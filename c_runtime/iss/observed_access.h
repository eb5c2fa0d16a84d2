/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of execute_observed() that run for every instruction or access. */
#ifndef ISS_OBSERVED_ACCESS_H
#define ISS_OBSERVED_ACCESS_H

#include <string.h>

#include "platform.h"

/* Whether somebody wants to look before the instruction at ip. */
static inline int observer_looks(const struct hart *hart, const struct slot *ip) {
  const struct observer *observer = &hart->platform->observer;
  return observer->attention | __atomic_load_n(&observer->interrupted, __ATOMIC_RELAXED) | hart->notes[ip - hart->slots];
}

/* Whether an access to the fast memory needs a second look; marks what is written. */
static inline int access_is_noted(struct hart *hart, uint32_t offset, uint32_t bytes, int is_write) {
  const struct observer *observer = &hart->platform->observer;
  int noted = hart->fast_base + offset - observer->low < observer->span;
  if (hart->written) {
    static const uint32_t all = 0x01010101u;
    uint8_t *written = hart->written + offset;
    if (is_write) memcpy(written, &all, bytes);
    else noted |= memcmp(written, &all, bytes) != 0;
  }
  return noted;
}

/* An access that has to be looked at; `hart->ip` and `hart->now` are saved. */
void note_access(struct hart *hart, uint32_t address, uint32_t bytes, int is_write);

#endif /* ISS_OBSERVED_ACCESS_H */
