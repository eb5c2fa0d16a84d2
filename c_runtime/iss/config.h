/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything about the simulated system that is a number. All are given by name; none has a value here. Times are in
 * cycles of the clock of the core or engine they belong to. */
#ifndef ISS_CONFIG_H
#define ISS_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "config_fields.h"

/* Memories that code can run from. */
enum { REGION_L1, REGION_L2, REGION_COUNT };

struct config {
#define CONFIG_FIELD(name, least, most) int64_t name;
  CONFIG_FIELDS(CONFIG_FIELD)
#undef CONFIG_FIELD
};

/* 0, or -1 with one sentence that says which number is unknown, missing or cannot be simulated. */
int config_read(struct config *config, const char *const *names, const int64_t *values, size_t count, char *error,
                size_t error_bytes);

#endif /* ISS_CONFIG_H */
