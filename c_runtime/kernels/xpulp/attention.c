/* SPDX-License-Identifier: Apache-2.0
 *
 * Heads of any size: one after the other, so that the values of a head are packed once; a few queries at a time, so
 * that the instructions of a loop stay in the cache for all of them. A query goes through loops over the keys: logits
 * (bytes, 128 added), exponentials and their sum, weights, the product with v. Heads of four elements have a file of
 * their own. */
#include "attention_four.h"
#include "attention_steps.h"
#include "pack_columns.h"
#include "softmax_row.h"
#include "tile.h"
#include "tvm_pulp/plain/attention.h"
#include "tvm_pulp/work_share.h"

/* Values of a head, packed like weights: four elements of the head by four keys. */
static void pack_values(const struct tvm_pulp_attention_core *c, uint32_t head) {
  const struct tvm_pulp_attention_args *args = c->args;
  const int8_t *v = args->v + head * args->v_head_stride;
  for (uint32_t i = 0; i < args->size; i += 4u) {
    tvm_pulp_pack_columns(c->values + i * (c->padded >> 2), v + i, args->keys, args->v_stride, 0);
  }
}

/* Weights times values, through the matrix engine. */
static void multiply_heads(struct tvm_pulp_attention_core *c, uint8_t *y, uint32_t count) {
  const struct tvm_pulp_attention_args *args = c->args;
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t *weights = c->logits + i * c->padded;
    tvm_pulp_normalize(c->exponentials + i * c->padded, weights, args->keys, c->reciprocal[i]);
    if (args->probability) {
      for (uint32_t key = 0; key < args->keys; ++key) weights[key] = (uint8_t)args->probability[weights[key]];
    }
  }
  for (uint32_t i = 0; i < count; i += 4u) {
    uint32_t rows = count - i < 4u ? count - i : 4u;
    tvm_pulp_tiles_run(&c->tiles, (const int8_t *)c->logits + i * c->padded, rows, 0, args->size >> 2,
                       y + i * args->y_stride, args->y_stride);
  }
}

/* Returns how many queries the scratch area has room for. */
static uint32_t prepare(struct tvm_pulp_attention_core *c, const struct tvm_pulp_attention_args *args, uint32_t core) {
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  c->args = args;
  c->padded = (args->keys + 3u) & ~3u;
  c->inverse = tvm_pulp_exact_inverse(args->levels - 1u);
  uint32_t batch = 1;
  while (batch < TVM_PULP_ATTENTION_BATCH &&
         (args->size + 5u * (batch + 1u)) * c->padded <= args->scratch_stride) ++batch;
  c->values = (int32_t *)(void *)scratch;
  c->logits = scratch + args->size * c->padded;
  c->exponentials = (uint32_t *)(void *)(c->logits + batch * c->padded);
  for (uint32_t i = 0; i < args->size; ++i) c->no_bias[i] = 0;
  tvm_pulp_tiles_prepare(&c->tiles, (const int8_t *)c->values, c->no_bias, args->size, c->padded,
                         args->probability ? TVM_PULP_INT8 : TVM_PULP_UINT8, &args->requant);
  return batch;
}

static uint32_t is_fast(const struct tvm_pulp_attention_args *args) {
  const struct tvm_pulp_requant *r = &args->logit_requant;
  return args->exponential && r->kind == TVM_PULP_REQUANT_PULP_NARROW && r->low == -128 && r->high == 127 &&
         !r->per_channel && !args->requant.per_channel && (args->size & 3u) == 0u && args->size <= 64u &&
         (args->levels & 1u) == 0u;
}

static __attribute__((noinline)) void heads_of_any_size(const struct tvm_pulp_attention_args *args, uint32_t core,
                                                        uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->heads * args->queries, core, cores);
  uint32_t left = range.end - range.begin;
  if (left == 0u) return;
  struct tvm_pulp_attention_core c;
  uint32_t batch = prepare(&c, args, core);
  uint32_t head = args->queries == 1u ? range.begin : range.begin / args->queries;
  uint32_t query = range.begin - head * args->queries, packed = args->heads;
  while (left > 0u) {
    uint32_t count = args->queries - query < left ? args->queries - query : left;
    if (count > batch) count = batch;
    if (packed != head) pack_values(&c, head);
    packed = head;
    const int8_t *mask = args->mask ? args->mask + query * args->mask_stride : 0;
    tvm_pulp_attention_logits(&c, args->q + head * args->q_head_stride + query * args->q_stride,
                              args->k + head * args->k_head_stride, mask, count);
    tvm_pulp_attention_exponentials(&c, count);
    multiply_heads(&c, (uint8_t *)args->y + head * args->y_head_stride + query * args->y_stride, count);
    left -= count;
    query += count;
    if (query == args->queries) {
      query = 0;
      ++head;
    }
  }
}

static __attribute__((noinline)) void other_heads(const struct tvm_pulp_attention_args *args, uint32_t core,
                                                  uint32_t cores) {
  if (is_fast(args)) {
    heads_of_any_size(args, core, cores);
  } else {
    tvm_pulp_plain_attention(args, core, cores);
  }
}

TVM_PULP_KERNEL(attention) {
  if (args->small_exponential && !tvm_pulp_attention_four(args, core, cores)) return;
  other_heads(args, core, cores);
}
