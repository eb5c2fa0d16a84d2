/* SPDX-License-Identifier: Apache-2.0
 *
 * Constants that lie outside of the program's own memory, in L3 and in weight memory, and what they have to be: a
 * program that was compiled with --check-constants compares them before its first inference. Checksums are CRC-32 as
 * zlib computes it. */
#ifndef TVM_PULP_CHECK_CONSTANTS_H
#define TVM_PULP_CHECK_CONSTANTS_H

#include <stdint.h>

struct tvm_pulp_constant {
  const void *address; /* of the weight memory */
  uint32_t bytes, checksum;
};

struct tvm_pulp_l3_constant {
  uint32_t offset, bytes, checksum;
};

enum { TVM_PULP_CRC_ENTRIES = 16, TVM_PULP_CRC_START = -1 };

/* The remainders of four bits. A table on the caller's stack, where it is near. */
static inline void tvm_pulp_crc_table(uint32_t *table) {
  for (uint32_t value = 0; value < TVM_PULP_CRC_ENTRIES; value++) {
    uint32_t rest = value;
    for (uint32_t bit = 0; bit < 4u; bit++) rest = (rest >> 1) ^ ((rest & 1u) != 0u ? 0xEDB88320u : 0u);
    table[value] = rest;
  }
}

/* The checksum so far and these bytes; its complement is the checksum of all. */
static inline uint32_t tvm_pulp_crc(uint32_t crc, const uint32_t *table, const volatile uint8_t *data, uint32_t bytes) {
  uint32_t i = 0;
  if (((uintptr_t)data & 3u) == 0u) {
    for (; i + 4u <= bytes; i += 4u) {
      crc ^= *(const volatile uint32_t *)(uintptr_t)(data + i);
      for (uint32_t part = 0; part < 8u; part++) crc = (crc >> 4) ^ table[crc & 15u];
    }
  }
  for (; i < bytes; i++) {
    crc ^= data[i];
    for (uint32_t part = 0; part < 2u; part++) crc = (crc >> 4) ^ table[crc & 15u];
  }
  return crc;
}

#endif /* TVM_PULP_CHECK_CONSTANTS_H */
