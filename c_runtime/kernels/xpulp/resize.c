/* SPDX-License-Identifier: Apache-2.0
 *
 * Fast with two by two taps of small weights: four channels of the four pixels are turned, so that each channel's
 * result is one dot product. Neighbours in the result that read the same columns share the turned pixels. */
#include "tvm_pulp/plain/im2col.h"
#include "tvm_pulp/plain/resize.h"
#include "tvm_pulp/xpulp.h"

enum { MOST_WEIGHT_BITS = 6 };

/* A word that may stand anywhere, of memory that the loop does not write. */
TVM_PULP_INLINE int32_t word_at(const uint8_t *p) {
#ifdef TVM_PULP_XPULP_NATIVE
  int32_t d;
  __asm__("lw %0,0(%1)" : "=r"(d) : "r"(p), "m"(*(const uint8_t(*)[4])p));
  return d;
#else
  return tvm_pulp_xp_word(p);
#endif
}

/* What all pixels have in common; sums are those of the dot product plus `start`. */
struct common {
  int32_t start;
  int32_t mask;
  uint32_t fraction;
  int32_t mul;
  int32_t low, high;
  const float *values;     /* by stored byte */
  const float *thresholds; /* by result */
  uint32_t flip;
};

/* Four weights in the order of the taps, as bytes and as floats. */
struct weights {
  int32_t bytes;
  float real[4];
};

/* A sum that is a tie, so a multiple of one: as it is, or less where the sum of floats stays below the threshold. */
#if defined(TVM_PULP_XPULP_NATIVE) && defined(__riscv_flen)
/* Ties come at random, one in thirteen: written out, the call keeps nearly all registers of the loop around it. The sum
 * is in a0, the taps in a1, `struct common` at a2, `struct weights` at a3. */
_Static_assert(__builtin_offsetof(struct common, fraction) == 8, "offset");
_Static_assert(__builtin_offsetof(struct common, values) == 24, "offset");
_Static_assert(__builtin_offsetof(struct common, thresholds) == 28, "offset");
_Static_assert(__builtin_offsetof(struct common, flip) == 32, "offset");
_Static_assert(__builtin_offsetof(struct weights, real) == 4, "offset");
__asm__(
    ".pushsection .text.tvm_pulp_resize_decide,\"ax\",@progbits\n"
    ".balign 4\n"
    "tvm_pulp_resize_decide:\n"
    "lw t3,32(a2)\nlw t4,24(a2)\nlw t5,8(a2)\nxor t3,a1,t3\nlw t6,28(a2)\n"
    "sra t5,a0,t5\nslli t5,t5,2\nadd t5,t5,t6\nandi t6,t3,255\nflw ft4,-4(t5)\n"
    "slli t6,t6,2\nadd t6,t6,t4\nsrli t5,t3,6\nflw ft0,0(t6)\nandi t5,t5,1020\nadd t5,t5,t4\n"
    "srli t6,t3,14\nflw ft1,0(t5)\nandi t6,t6,1020\nadd t6,t6,t4\nsrli t5,t3,24\nflw ft2,0(t6)\n"
    "slli t5,t5,2\nadd t5,t5,t4\nflw ft5,4(a3)\nflw ft3,0(t5)\n"
    "fmul.s ft0,ft0,ft5\nflw ft5,8(a3)\nflw ft6,12(a3)\nfmul.s ft1,ft1,ft5\nflw ft5,16(a3)\nfmul.s ft2,ft2,ft6\n"
    "fmul.s ft3,ft3,ft5\nfadd.s ft0,ft0,ft1\nfadd.s ft0,ft0,ft2\nfadd.s ft0,ft0,ft3\n"
    "flt.s t5,ft0,ft4\nsub a0,a0,t5\nret\n"
    ".popsection\n");

TVM_PULP_INLINE int32_t decide(const struct common *k, const struct weights *w, int32_t taps, int32_t sum) {
  register int32_t result __asm__("a0") = sum;
  register int32_t bytes __asm__("a1") = taps;
  register const struct common *common __asm__("a2") = k;
  register const struct weights *weights __asm__("a3") = w;
  __asm__ volatile("jal ra,tvm_pulp_resize_decide"
                   : "+r"(result)
                   : "r"(bytes), "r"(common), "r"(weights)
                   : "ra", "t3", "t4", "t5", "t6", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "memory");
  return result;
}
#else
static __attribute__((noinline)) int32_t decide(const struct common *k, const struct weights *w, int32_t taps,
                                                int32_t sum) {
  uint32_t bytes = (uint32_t)taps ^ k->flip;
  float real = w->real[0] * k->values[bytes & 0xFFu] + w->real[1] * k->values[bytes >> 8 & 0xFFu];
  real += w->real[2] * k->values[bytes >> 16 & 0xFFu];
  real += w->real[3] * k->values[bytes >> 24];
  return real < k->thresholds[(sum >> k->fraction) - 1] ? sum - 1 : sum;
}
#endif

/* Four channels of one pixel of the result; taps[i] holds channel i of the four pixels. */
TVM_PULP_INLINE int32_t near(const struct common *k, const struct weights *w, const int32_t *taps, uint32_t is_signed,
                             uint32_t clips) {
  int32_t weights = w->bytes, mask = k->mask, sums[4], least = mask;
  for (uint32_t i = 0; i < 4u; ++i) {
    sums[i] = is_signed ? tvm_pulp_xp_sdotsp4(k->start, taps[i], weights) : tvm_pulp_xp_sdotusp4(k->start, taps[i], weights);
    least = tvm_pulp_xp_min(least, sums[i] & mask);
  }
  if (least == 0) {
    for (uint32_t i = 0; i < 4u; ++i) {
      if ((sums[i] & mask) == 0) sums[i] = decide(k, w, taps[i], sums[i]);
    }
  }
  for (uint32_t i = 0; i < 4u; ++i) {
    sums[i] >>= k->fraction;
    if (clips) sums[i] = tvm_pulp_xp_max(tvm_pulp_xp_min(sums[i], k->high), k->low);
  }
  return tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, sums[1], sums[0]), sums[3], sums[2]);
}

/* As above, of another scale: the upper half of the product is shifted. */
TVM_PULP_INLINE int32_t scaled(const struct common *k, const struct weights *w, const int32_t *taps, uint32_t is_signed) {
  int32_t half = 1 << (k->fraction - 1u), result[4];
  for (uint32_t i = 0; i < 4u; ++i) {
    int32_t sum = is_signed ? tvm_pulp_xp_sdotsp4(k->start, taps[i], w->bytes)
                            : tvm_pulp_xp_sdotusp4(k->start, taps[i], w->bytes);
    int32_t high = (int32_t)((int64_t)sum * k->mul >> 32);
    int32_t value = tvm_pulp_xp_add_shift(high, half + k->mask, (int32_t)k->fraction);
    result[i] = tvm_pulp_xp_max(tvm_pulp_xp_min(value, k->high), k->low);
  }
  return tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, result[1], result[0]), result[3], result[2]);
}

TVM_PULP_INLINE struct weights weights_of(const struct tvm_pulp_resize_args *a, uint32_t oy, uint32_t ox) {
  const int32_t *down = a->row_weights + 2u * oy, *across = a->column_weights + 2u * ox;
  struct weights w = {0};
  w.bytes = (int32_t)((uint32_t)(down[0] * across[0]) | (uint32_t)(down[0] * across[1]) << 8 |
                      (uint32_t)(down[1] * across[0]) << 16 | (uint32_t)(down[1] * across[1]) << 24);
  if (a->thresholds) {
    for (uint32_t i = 0; i < 4u; ++i) w.real[i] = a->real_rows[2u * oy + (i >> 1)] * a->real_columns[2u * ox + (i & 1u)];
  }
  return w;
}

/* One pixel of the result, and two that read the same four pixels. */
#define TAPS                                                                                            \
  int32_t taps[4] = {word_at(p0 + c), word_at(p1 + c), word_at(p2 + c), word_at(p3 + c)};               \
  tvm_pulp_xp_transpose4(taps)
#define ONE_PIXEL(RESULT)                                                                               \
  for (uint32_t c = 0; c < channels; c += 4u) {                                                         \
    TAPS;                                                                                               \
    tvm_pulp_xp_put_word(y + c, RESULT(&first));                                                        \
  }
#define TWO_PIXELS(RESULT)                                                                              \
  for (uint32_t c = 0; c < channels; c += 4u) {                                                         \
    TAPS;                                                                                               \
    tvm_pulp_xp_put_word(y + c, RESULT(&first));                                                        \
    tvm_pulp_xp_put_word(y + channels + c, RESULT(&second));                                            \
  }

/* Pixels [ox, end) of one row of the result. */
#define ROW(RESULT)                                                                                        \
  while (ox < end) {                                                                                    \
    const int32_t *columns = a->columns + 2u * ox;                                                      \
    uint32_t left = (uint32_t)columns[0] * channels, right = (uint32_t)columns[1] * channels;           \
    const uint8_t *p0 = upper + left, *p1 = upper + right, *p2 = lower + left, *p3 = lower + right;     \
    uint32_t count = ox + 1u < end && columns[2] == columns[0] && columns[3] == columns[1] ? 2u : 1u;   \
    const struct weights first = weights_of(a, oy, ox);                                                 \
    if (count == 2u) {                                                                                  \
      const struct weights second = weights_of(a, oy, ox + 1u);                                         \
      TWO_PIXELS(RESULT)                                                                                \
    } else {                                                                                            \
      ONE_PIXEL(RESULT)                                                                                 \
    }                                                                                                   \
    ox += count;                                                                                        \
    y += count * channels;                                                                              \
  }

static __attribute__((noinline)) void resize_row(const struct tvm_pulp_resize_args *a, const struct common *common,
                                                 uint32_t oy, uint32_t ox, uint32_t end, uint8_t *y) {
  uint32_t channels = a->channels, is_signed = a->x_type == TVM_PULP_INT8, line = a->width * channels;
  const uint8_t *upper = a->x + ((uint32_t)a->rows[2u * oy] - a->first_row) * line;
  const uint8_t *lower = a->x + ((uint32_t)a->rows[2u * oy + 1u] - a->first_row) * line;
  const struct common k = *common;
  uint32_t clips = k.low != (is_signed ? -128 : 0) || k.high != (is_signed ? 127 : 255) || a->y_type != a->x_type ||
                   a->requant.zero_point != a->zero_point;
#define SCALED(w) scaled(&k, w, taps, is_signed)
#define CLIPPED(w) near(&k, w, taps, is_signed, 1)
#define SIGNED(w) near(&k, w, taps, 1, 0)
#define UNSIGNED(w) near(&k, w, taps, 0, 0)
  if (!a->thresholds) {
    ROW(SCALED)
  } else if (clips) {
    ROW(CLIPPED)
  } else if (is_signed) {
    ROW(SIGNED)
  } else {
    ROW(UNSIGNED)
  }
}

static struct common common_of(const struct tvm_pulp_resize_args *a) {
  const struct tvm_pulp_requant *r = &a->requant;
  int32_t one = 1 << a->fraction;
  struct common k = {0};
  k.low = r->low;
  k.high = r->high;
  if (a->thresholds) {
    k.start = (one >> 1) + (r->zero_point - a->zero_point) * one;
    k.mask = one - 1;
    k.fraction = a->fraction;
    k.values = a->values;
    k.thresholds = a->thresholds + (a->y_type == TVM_PULP_INT8 ? 128 : 0);
    k.flip = a->x_type == TVM_PULP_INT8 ? 0x80808080u : 0u;
  } else {
    k.start = -a->zero_point * one;
    k.mul = r->mul[0];
    k.fraction = (uint32_t)r->add[0] - 32u;
    k.mask = r->zero_point * (1 << k.fraction);
  }
  return k;
}

static void copy_pixels(const struct tvm_pulp_resize_args *a, uint32_t oy, uint32_t ox, uint32_t end, uint8_t *y) {
  for (; ox < end; ++ox) y = tvm_pulp_copy_bytes(y, tvm_pulp_resize_tap(a, oy, 0, ox, 0), a->channels);
}

TVM_PULP_KERNEL(resize) {
  const struct tvm_pulp_requant *r = &args->requant;
  uint32_t few = args->column_weights && args->row_taps == 2u && args->column_taps == 2u && args->middle == 0u &&
                 args->fraction <= MOST_WEIGHT_BITS && args->channels % 4u == 0u;
  uint32_t exact = args->thresholds && args->slack == 0;
  few = few && (exact || (!args->thresholds && r->kind == TVM_PULP_REQUANT_HALF_UP && r->add[0] >= 33 && r->add[0] <= 50));
  if (args->column_weights && !few) {
    tvm_pulp_plain_resize(args, core, cores);
    return;
  }
  struct tvm_pulp_range range = tvm_pulp_share(args->out_height * args->out_width, core, cores);
  uint32_t oy = range.begin / args->out_width, ox = range.begin - oy * args->out_width;
  uint8_t *y = args->y + range.begin * args->channels;
  struct common common = {0};
  if (few) common = common_of(args);
  for (uint32_t left = range.end - range.begin; left > 0u; ++oy, ox = 0) {
    uint32_t end = args->out_width - ox < left ? args->out_width : ox + left;
    left -= end - ox;
    if (args->column_weights) {
      resize_row(args, &common, oy, ox, end, y);
    } else {
      copy_pixels(args, oy, ox, end, y);
    }
    y += (end - ox) * args->channels;
  }
}
