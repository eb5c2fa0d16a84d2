/* SPDX-License-Identifier: Apache-2.0
 *
 * Fast for planes, four pixels of the result at a time, and for three interleaved channels. */
#include "tvm_pulp/plain/space_to_depth.h"
#include "tvm_pulp/xpulp.h"

/* Two lines of one plane: the lower halves of their words are one pixel's bytes, the upper halves the next one's. */
#define PLANE_LOOP(FLIP)                                                                                  \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[a]", 4, "%[p]") XP_LW("%[b]", 4, "%[q]")             \
                   XP_LW("%[c]", 4, "%[p]") XP_LW("%[d]", 4, "%[q]") FLIP                                 \
                   XP_PACK_H("%[e]", "%[b]", "%[a]") XP_PACK_H("%[f]", "%[d]", "%[c]")                    \
                   XP_SHUFFLE2_H("%[a]", "%[b]", "%[up]") XP_SHUFFLE2_H("%[c]", "%[d]", "%[up]")          \
                   XP_SWR("%[e]", "%[s]", "%[y]") XP_SWR("%[a]", "%[s]", "%[y]") XP_SWR("%[f]", "%[s]", "%[y]") \
                   XP_LOOP_END XP_SWR("%[c]", "%[s]", "%[y]") XP_END                                      \
                   : [p] "+r"(p), [q] "+r"(q), [y] "+r"(y), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d), \
                     [e] "=&r"(e), [f] "=&r"(f)                                                           \
                   : [n] "r"(args->width >> 2), [s] "r"(4u * args->channels), [up] "r"(0x00030001), [x] "r"(flip) \
                   : "memory")
#define PLANE_FLIP \
  "xor %[a],%[a],%[x]\nxor %[b],%[b],%[x]\nxor %[c],%[c],%[x]\nxor %[d],%[d],%[x]\n"

static void plane_line(const struct tvm_pulp_space_to_depth_args *args, uint32_t oy, uint32_t channel, uint32_t flip) {
  uint32_t width = 2u * args->width;
  const uint8_t *p = args->x + (channel * 2u * args->height + 2u * oy) * width, *q = p + width;
  uint8_t *y = args->y + 4u * (oy * args->width * args->channels + channel);
  int32_t a, b, c, d, e, f;
  if (flip) {
    PLANE_LOOP(PLANE_FLIP);
  } else {
    PLANE_LOOP("");
  }
}

/* Six bytes of each line make three words. */
#define TRIPLE_LOOP(FLIP)                                                                                 \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[a]", 4, "%[p]") XP_LH("%[b]", 2, "%[p]")             \
                   XP_LH("%[c]", 2, "%[q]") XP_LW("%[d]", 4, "%[q]") XP_PACK_H("%[b]", "%[c]", "%[b]") FLIP \
                   XP_SW("%[a]", 4, "%[y]") XP_SW("%[b]", 4, "%[y]") XP_LOOP_END XP_SW("%[d]", 4, "%[y]") XP_END \
                   : [p] "+r"(p), [q] "+r"(q), [y] "+r"(y), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d) \
                   : [n] "r"(args->width), [x] "r"(flip)                                                  \
                   : "memory")
#define TRIPLE_FLIP "xor %[a],%[a],%[x]\nxor %[b],%[b],%[x]\nxor %[d],%[d],%[x]\n"

static void triple_line(const struct tvm_pulp_space_to_depth_args *args, uint32_t oy, uint32_t flip) {
  uint32_t bytes = 6u * args->width;
  const uint8_t *p = args->x + 2u * oy * bytes, *q = p + bytes;
  uint8_t *y = args->y + 2u * oy * bytes;
  int32_t a, b, c, d;
  if (flip) {
    TRIPLE_LOOP(TRIPLE_FLIP);
  } else {
    TRIPLE_LOOP("");
  }
}

TVM_PULP_KERNEL(space_to_depth) {
  uint32_t flip = args->flip * 0x01010101u, channels = args->channels;
  struct tvm_pulp_range range = tvm_pulp_share(args->height, core, cores);
  for (uint32_t oy = range.begin; oy < range.end; ++oy) {
    if (args->is_planar) {
      for (uint32_t c = 0; c < channels && args->width >= 4u; ++c) plane_line(args, oy, c, flip);
      tvm_pulp_plain_block_line(args, oy, args->width & ~3u);
    } else if (channels == 3u) {
      triple_line(args, oy, flip);
    } else {
      tvm_pulp_plain_block_line(args, oy, 0);
    }
  }
}
