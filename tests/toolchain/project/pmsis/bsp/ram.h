/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for the SDK's external memory. */
#ifndef BSP_RAM_H
#define BSP_RAM_H

#include "pmsis.h"

typedef struct {
  uint32_t is_started;
} pi_cl_ram_req_t;
void pi_cl_ram_read(struct pi_device *device, uint32_t pi_ram_addr, void *addr, uint32_t size, pi_cl_ram_req_t *req);
void pi_cl_ram_write(struct pi_device *device, uint32_t pi_ram_addr, void *addr, uint32_t size, pi_cl_ram_req_t *req);
void pi_cl_ram_read_wait(pi_cl_ram_req_t *req);
void pi_cl_ram_write_wait(pi_cl_ram_req_t *req);

#endif /* BSP_RAM_H */
