/* SPDX-License-Identifier: Apache-2.0
 *
 * What accesses of all kinds have in common. */
#ifndef ISS_SNITCH_ACCESS_H
#define ISS_SNITCH_ACCESS_H

#include "snitch.h"

enum snitch_place { PLACE_NOWHERE, PLACE_L1, PLACE_REGISTER, PLACE_ZERO, PLACE_ENGINE, PLACE_OUTSIDE, PLACE_CLINT,
                    PLACE_CONSOLE };

/* What lies at an address, and the offset inside it. */
enum snitch_place snitch_resolve(struct platform *platform, uint32_t address, uint32_t *offset);
/* The one address of a byte that has several. */
uint32_t snitch_address(const struct platform *platform, uint32_t address);
/* Tell the observer of an access outside the fast path; `hart` has its program counter and time. */
void snitch_observe(struct hart *hart, uint32_t address, uint32_t size, int is_write, uint32_t value);
/* Take a bank for an access; when it is answered. */
uint64_t snitch_ask_l1(struct hart *hart, uint32_t offset, uint32_t size, int is_write);

#endif /* ISS_SNITCH_ACCESS_H */
