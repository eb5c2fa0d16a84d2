/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ISS_DECODE_XPULP_H
#define ISS_DECODE_XPULP_H

#include "platform.h"

enum op decode_register_load(uint32_t word, int post); /* opcodes 0x03 and 0x0B, f3 = 7 */
enum op decode_post_load(uint32_t word);               /* opcode 0x0B */
enum op decode_register_store(uint32_t word, int post); /* opcode 0x23, f3 = 4..6 */
enum op decode_post_store(uint32_t word);              /* opcode 0x2B */
enum op decode_hardware_loop(uint32_t word, struct slot *slot); /* opcode 0x7B */
enum op decode_scalar(uint32_t word, struct slot *slot);        /* opcode 0x33, f7 not of RV32IM */
enum op decode_multiply(uint32_t word, struct slot *slot);      /* opcode 0x5B */
enum op decode_simd(uint32_t word, struct slot *slot);          /* opcode 0x57 */

#endif /* ISS_DECODE_XPULP_H */
