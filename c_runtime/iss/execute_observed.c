/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter once more, for debuggers, profiles, traces and checks of reads; nothing of that costs anything in
 * execute.c. */
#define OBSERVED
#include "execute.c" /* NOLINT */
