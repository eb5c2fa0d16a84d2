/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of the same operation. Kernels are full of dot products; two or four in a row have a handler of their own. Only
 * the first slot of a run knows: whoever jumps into its middle, or resumes there, finds plain slots. */
#ifndef ISS_RUNS_H
#define ISS_RUNS_H

#include "platform.h"

/* Of the decoded slots from `first` to `last`, which is none's first half-word necessarily. */
void join_runs(const struct platform *platform, struct slot *first, const struct slot *last);

/* The slot is the last of a loop from now on: no run may pass it. */
void part_runs(const struct hart *hart, struct slot *end);

#endif /* ISS_RUNS_H */
