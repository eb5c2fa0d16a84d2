/* SPDX-License-Identifier: Apache-2.0
 *
 * Hardware-loop registers and other helpers of the interpreter that need more than its locals. */
#ifndef ISS_LOOPS_H
#define ISS_LOOPS_H

#include "platform.h"

void set_loop_start(struct hart *hart, uint32_t loop, uint32_t pc);
void set_loop_end(struct hart *hart, uint32_t loop, uint32_t pc);

enum tail_status { TAIL_READY, TAIL_JUMP, TAIL_FAULT };
/* Prepare `hart->tail` for the loop-end slot `end`. TAIL_JUMP: a jump that ends no active loop, run it in place. */
enum tail_status build_tail(struct hart *hart, struct slot *end);

uint64_t divide_cycles(const struct platform *platform, uint32_t divisor_magnitude);
int wait_for_interrupt(struct hart *hart);

/* Runs of the same operation. Kernels are full of dot products; two or four in a row have a handler of their own. Only
 * the first slot of a run knows: whoever jumps into its middle, or resumes there, finds plain slots. */
/* Of the decoded slots from `first` to `last`, which is none's first half-word necessarily. */
void join_runs(const struct platform *platform, struct slot *first, const struct slot *last);

/* The slot is the last of a loop from now on: no run may pass it. */
void part_runs(const struct hart *hart, struct slot *end);

#endif /* ISS_LOOPS_H */
