/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of QVanilla. QVANILLA_BASE comes from the SoC's description. */
#ifndef QVANILLA_H
#define QVANILLA_H

#include <stdint.h>

/* Which variant's registers, what the timed one is told to take, then the twelve parameters in their order. */
struct qvanilla_job {
  uint32_t offset, cycles_per_mac, input, weights, bias, result;
  uint32_t output_channels, width, height, channels, kernel_height, kernel_width;
  uint32_t input_zero_point, kernel_zero_point;
};

void qvanilla_init(void);
void qvanilla_submit(const struct qvanilla_job *job); /* starts a job; a running one is waited for */
void qvanilla_wait(void);                             /* polls until the engine is idle */

#endif /* QVANILLA_H */
