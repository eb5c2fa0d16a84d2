/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks that run for every instruction or access in the interpreters that observe; nothing in the others. */
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

/* Inside an interpreter, with its locals and its SAVE(). */
#ifdef OBSERVED
#define OBSERVE_ACCESS(bytes, is_write)                                           \
  do {                                                                            \
    if (UNLIKELY(access_is_noted(h, offset, bytes, is_write))) {                  \
      SAVE();                                                                     \
      note_access(h, h->fast_base + offset, bytes, is_write);                     \
    }                                                                             \
  } while (0)
#define OBSERVE_JUMP(target, source, link)                                        \
  do {                                                                            \
    if (p->calls.harts) calls_jump(h, target, ip->rd, source, link, now);         \
  } while (0)
#else
#define OBSERVE_ACCESS(bytes, is_write) (void)0
#define OBSERVE_JUMP(target, source, link) (void)0
#endif

#endif /* ISS_OBSERVED_ACCESS_H */
