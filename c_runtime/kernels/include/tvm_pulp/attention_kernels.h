/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments of the kernels of attention in the PULP dialect; kernels.h has the rules, and includes this file. */
#ifndef TVM_PULP_ATTENTION_KERNELS_H
#define TVM_PULP_ATTENTION_KERNELS_H

#include <stdint.h>

/* Attention of all heads: logits = requantize(q . k), then table (any function of the logit), then the mask, then
 * softmax with the exponentials of i_softmax, then the product with v, requantized.
 *
 *   logit = clip(table[requantize(q . k)] + mask, -128, 127)
 *
 * Fast where no mask value is positive, and fastest for heads of four elements with a table and 16-bit exponentials.
 * Strides reach head and position of each tensor, so that no transposed copy is needed. */
struct tvm_pulp_attention_args {
  const int8_t *q, *k, *v;
  const int8_t *mask;          /* [queries or 1][keys] or null */
  const uint8_t *table;        /* what a requantized product becomes, plus 128, from logit_requant.low to high; or null
                                  for itself, where that range is within int8 */
  uint32_t table_covers;       /* 1 promises that no product needs to be clipped to that range; 0: it is that of int8 */
  const uint32_t *exponential; /* as in i_softmax; null where the next is given */
  const uint16_t *small_exponential; /* 256 exponentials, the one of distance d at 255 - d, all shifted left by s so
                                        that the last, which is the largest, has 16 bits. Only with heads of four
                                        elements, four keys or more, a table and narrow requantization of the logits,
                                        where keys times the last is below 2^24 and keys times its square below
                                        2^(39 + s) */
  uint32_t skips_from; /* promises, with a small exponential: a query whose largest logit plus 128 is at least this
                          gives weight 0, and probability[0] is 0, to all keys with a mask value of -128; 256: no
                          promise */
  const int8_t *probability;   /* 256 entries: what a softmax weight becomes before the product with v; null: itself */
  void *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= (size + 5 n) * (keys rounded up to 4) for n queries at a time:
                       1 is enough, 16 is the most that is used and the fastest. Of one or two queries of heads of four
                       elements with a small exponential 20 + 3 (keys rounded up to 4). With fewer queries of heads
                       than cores the last cores need none there, nor without a small exponential */
  uint32_t scratch_stride;
  uint32_t heads, queries, keys;
  uint32_t size; /* of a head: a multiple of 4 */
  uint32_t q_head_stride, q_stride, k_head_stride, k_stride, v_head_stride, v_stride, y_head_stride, y_stride;
  uint32_t mask_stride; /* 0: one row for all queries */
  uint32_t levels;
  struct tvm_pulp_requant logit_requant; /* to int8 or the range of the table, per tensor */
  struct tvm_pulp_requant requant;       /* per tensor */
};

/* Weights of attention from logits that are there already: rows of a softmax with what precedes and follows it. A
 * logit is given in steps: `step` of them are one, and what the mask adds is whole logits.
 *
 *   level = clip(table[x] + step * mask, low, high)      exponential of the largest logit less floor(level / step)
 *
 * Where it comes from a division that rounds towards 0, values of x below 128 count one more.
 *
 * The result may lie where the logits do. */
struct tvm_pulp_attention_weights_args {
  const uint8_t *x;                  /* [rows][stride], word aligned; a word behind it is read */
  uint8_t *y;                        /* likewise; 0 behind the last key of a row */
  const int8_t *mask;                /* [queries or 1][keys] or null */
  const uint8_t *table;              /* 256 entries: what a value becomes; or null: itself. Only with steps of 1 */
  const uint32_t *exponential;       /* as in i_softmax; null where the next is given. Only with steps of 1 */
  const uint16_t *small_exponential; /* as in attention, whatever the size of heads, each `step` times */
  const int8_t *probability;         /* as in attention */
  uint8_t *scratch; /* word aligned; scratch_stride >= 4 n (keys rounded up to 4), plus 256 with a probability, for n
                       rows at a time: 1 is enough, 16 is the most that is used; half of that with small exponentials */
  uint32_t scratch_stride;
  uint32_t rows;    /* of all heads, one head after the other */
  uint32_t queries; /* rows of one head */
  uint32_t keys;
  uint32_t stride; /* keys rounded up to 4 */
  uint32_t mask_stride;
  uint32_t levels; /* even */
  uint32_t step;     /* a power of two, at most 8 */
  uint32_t lift;     /* what x below 128 counts more: 0, or 1 with steps of 2 and low = -128 */
  int32_t low, high; /* 256 * step levels; low is a multiple of step, -128 * step <= low <= 0 */
};

#endif /* TVM_PULP_ATTENTION_KERNELS_H */
