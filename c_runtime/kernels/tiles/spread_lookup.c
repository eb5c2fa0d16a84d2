/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes through a table, eight at a time. A table of 256 bytes lies in the banks of four tiles, and where hundreds of
 * cores read one they wait for each other there; of several, which follow each other around the banks, the cores of a
 * tile read such that lie in different groups, so that they leave their tile by different ways. */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/tiles.h"
#include "tvm_pulp/work_share.h"

enum { ENTRIES = 256, TOGETHER = 8, TILE_CORES = 4 };

#ifdef TVM_PULP_XPULP_NATIVE
#define BYTES_OF(word, a, b, c, d) XP_BYTE_0(a, word) XP_BYTE_1(b, word) XP_BYTE_2(c, word) XP_BYTE_3(d, word)
#define ENTRY_OF(v) XP_LBUX(v, v, "%[table]")
#define LOOK_UP(a, b, c, d) ENTRY_OF(a) ENTRY_OF(b) ENTRY_OF(c) ENTRY_OF(d)

/* Words of x are asked for before the eight results of others are, and these before the first is used; none behind x. */
static void look_up(const uint8_t *x, const uint8_t *table, uint8_t *y, const uint8_t *end) {
  const uint8_t *const x_end = x + (end - y);
  uint32_t v, w;
  __asm__ volatile("lw %[v],0(%[x])\n.balign 32\n"
                   "1:\nlw %[w],4(%[x])\n" BYTES_OF("%[v]", "t0", "t1", "t2", "t3")
                   "addi %[x],%[x],8\nbeq %[x],%[x_end],2f\nlw %[v],0(%[x])\n"
                   "2:\n" LOOK_UP("t0", "t1", "t2", "t3") BYTES_OF("%[w]", "t4", "t5", "t6", "a6")
                   LOOK_UP("t4", "t5", "t6", "a6") XP_INSERT_1("t0", "t1") XP_INSERT_1("t2", "t3")
                   XP_INSERT_1("t4", "t5") XP_INSERT_1("t6", "a6") XP_PACK_H("t0", "t2", "t0") "addi %[y],%[y],8\n"
                   XP_PACK_H("t4", "t6", "t4") "sw t0,-8(%[y])\nsw t4,-4(%[y])\nbne %[y],%[end],1b\n"
                   : [x] "+r"(x), [y] "+r"(y), [v] "=&r"(v), [w] "=&r"(w)
                   : [table] "r"(table), [end] "r"(end), [x_end] "r"(x_end)
                   : "memory", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a6");
}
#else
TVM_PULP_INLINE uint32_t word_of(uint32_t a, uint32_t b, uint32_t c, uint32_t d) { return a | b << 8 | c << 16 | d << 24; }

static void look_up(const uint8_t *x, const uint8_t *table, uint8_t *y, const uint8_t *end) {
  const uint32_t *from = (const uint32_t *)(const void *)x;
  uint32_t v = from[0];
  for (; y != end; from += 2, y += TOGETHER) {
    uint32_t *const to = (uint32_t *)(void *)y;
    const uint32_t w = from[1];
    const uint32_t a = table[v & 255u], b = table[v >> 8 & 255u], c = table[v >> 16 & 255u], d = table[v >> 24];
    if (y + TOGETHER != end) v = from[2];
    const uint32_t e = table[w & 255u], f = table[w >> 8 & 255u], g = table[w >> 16 & 255u], h = table[w >> 24];
    to[0] = word_of(a, b, c, d);
    to[1] = word_of(e, f, g, h);
  }
}
#endif

TVM_PULP_KERNEL(spread_lookup) {
  const struct tvm_pulp_spread_lookup_args own = *args;
  const struct tvm_pulp_range share = tvm_pulp_share((own.count + TOGETHER - 1u) / TOGETHER, core, cores);
  const uint32_t begin = TOGETHER * share.begin, end = TOGETHER * share.end < own.count ? TOGETHER * share.end : own.count;
  const uint32_t whole = begin + ((end - begin) & ~(TOGETHER - 1u));
  const uint32_t mine = (core % TILE_CORES * (own.tables / TILE_CORES) + core / TILE_CORES) % own.tables;
  const uint8_t *const table = own.table + ENTRIES * mine;
  if (begin != whole) look_up(own.x + begin, table, own.y + begin, own.y + whole);
  for (uint32_t i = whole; i < end; i++) own.y[i] = table[own.x[i]];
}
