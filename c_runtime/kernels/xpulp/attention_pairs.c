/* SPDX-License-Identifier: Apache-2.0
 *
 * Two rows at a time go through every loop, and some pairs through one before the next, so that its instructions stay
 * in the private cache. A mask is looked at once for all heads: of most, such as causal ones, the first words are 0 and
 * the last hide their keys. */
#include "attention_pairs.h"

#include "attention_pairs_code.h"
#include "tile.h"
#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

enum { BATCH = 16, PAIRS = BATCH / 2 };

/* What the mask does to the whole words of a row's keys. The word between open and hidden ones, where there is just one
 * and each of its keys is open or hidden too, is `mixed`. */
struct seen {
  const int8_t *mask;
  uint32_t open;   /* words, from the first on, that the mask leaves as they are */
  uint32_t hidden; /* words, up to the last, whose mask values are -128 */
  uint32_t mixed;  /* the mask values of that word; 0: there is none */
  uint32_t other;  /* there are keys which none of these cover */
};

/* Two rows with the same mask, or one row twice. */
struct pair {
  const uint8_t *x[2];
  uint8_t *y[2];
  uint16_t *e[2]; /* exponentials */
  struct seen seen;
  int32_t best[2];    /* the last level of the largest logit */
  uint32_t sum[2];    /* of exponentials */
  uint32_t factor[2]; /* of the weights */
  uint32_t weighed;   /* words that may have a weight */
};

struct work {
  const struct tvm_pulp_attention_weights_args *args;
  const int8_t *probability; /* a copy of this core: most weights are 0, and all cores would wait for one bank */
  const uint16_t *table;     /* the exponential of level 0 where the best is 0 */
  int32_t shift, most;       /* what hidden keys lose, and the level that they reach at most */
  uint32_t least;            /* values that hidden keys count at least, in all lanes */
  uint32_t nothing;          /* what weights of 0 become, in all lanes */
  uint32_t pairs;
  struct pair pair[PAIRS];
};

static void look_at_mask(const struct tvm_pulp_attention_weights_args *args, const int8_t *mask, struct seen *seen) {
  uint32_t words = args->keys >> 2, open = 0, hidden = 0;
  *seen = (struct seen){.mask = mask, .other = args->keys & 3u};
  if (mask) {
    const int8_t *last = mask + 4u * words - 4u;
    while (open < words && tvm_pulp_xp_word(mask + 4u * open) == 0) ++open;
    while (open + hidden < words && tvm_pulp_xp_word(last - 4u * hidden) == (int32_t)0x80808080u) ++hidden;
    if (open + hidden + 1u == words && !seen->other) {
      uint32_t word = (uint32_t)tvm_pulp_xp_word(mask + 4u * open);
      if ((word & 0x7f7f7f7fu) == 0u) seen->mixed = word;
    }
    if (open + hidden + (seen->mixed != 0u) < words) seen->other = 1;
  } else {
    open = words;
  }
  seen->open = open;
  seen->hidden = hidden;
}

static inline int32_t level(const struct work *c, const struct pair *p, const uint8_t *x, uint32_t key) {
  const struct tvm_pulp_attention_weights_args *args = c->args;
  int32_t value = x[key] + (x[key] < 128u ? (int32_t)args->lift : 0);
  if (!p->seen.mask) return value;
  return tvm_pulp_clip(value + (int32_t)args->step * p->seen.mask[key], args->low, args->high);
}

/* All ones in the lanes that a mask hides. */
static inline uint32_t lanes_of(uint32_t mixed) { return (mixed >> 7) * 255u; }

/* The level of the largest byte of a word, whatever else is in its class. */
static inline int32_t last_level(const struct tvm_pulp_attention_weights_args *args, int32_t word) {
  int32_t best = (int32_t)tvm_pulp_largest_byte(word);
  if (best < 128) best += (int32_t)args->lift;
  return best | (int32_t)(args->step - 1u);
}

/* The best of a row, given that of its open words. */
static __attribute__((noinline)) int32_t any_best(const struct work *c, const struct pair *p, const uint8_t *x,
                                                  int32_t best) {
  const struct tvm_pulp_attention_weights_args *args = c->args;
  uint32_t words = args->keys >> 2, shown = 4u * (words - p->seen.hidden);
  for (uint32_t key = 4u * p->seen.open; key < shown; ++key) best = tvm_pulp_xp_max(best, level(c, p, x, key));
  if (p->seen.hidden && best < c->most) {
    int32_t word = 0;
    for (uint32_t key = shown; key < 4u * words; key += 4u) word = tvm_pulp_xp_maxu4(word, tvm_pulp_xp_word(x + key));
    word = (int32_t)tvm_pulp_largest_byte(word) - c->shift;
    best = tvm_pulp_xp_max(best, tvm_pulp_xp_max(word, args->low));
  }
  for (uint32_t key = 4u * words; key < args->keys; ++key) best = tvm_pulp_xp_max(best, level(c, p, x, key));
  return best | (int32_t)(args->step - 1u);
}

static inline void find_best(const struct work *c, struct pair *p) {
  const struct tvm_pulp_attention_weights_args *args = c->args;
  uint32_t n = p->seen.open;
  const uint8_t *x = p->x[0], *x_next = p->x[1];
  int32_t best = 0, best_next = 0, w, w_next;
  if (n) LARGEST_OF_TWO;
  if (p->seen.mixed) {
    int32_t shown = ~(int32_t)lanes_of(p->seen.mixed);
    best = tvm_pulp_xp_maxu4(best, tvm_pulp_xp_word(x) & shown);
    best_next = tvm_pulp_xp_maxu4(best_next, tvm_pulp_xp_word(x_next) & shown);
  }
  best = last_level(args, best);
  best_next = last_level(args, best_next);
  uint32_t is_small = p->seen.hidden && (best < c->most || best_next < c->most);
  if (p->seen.other || is_small || (n == 0u && p->seen.mixed == 0u)) {
    best = any_best(c, p, p->x[0], n ? best : args->low);
    best_next = any_best(c, p, p->x[1], n ? best_next : args->low);
  }
  p->best[0] = best;
  p->best[1] = best_next;
}

/* Exponentials of what is neither open nor hidden, in two parts; they return the sum. */
static uint32_t other_exponentials(const struct work *c, const struct pair *p, uint32_t i, uint32_t key, uint32_t end) {
  const uint16_t *table = c->table - p->best[i];
  uint32_t sum = 0;
  for (; key < end; ++key) {
    uint16_t e = key < c->args->keys ? table[level(c, p, p->x[i], key)] : 0u;
    p->e[i][key] = e;
    sum += e;
  }
  return sum;
}

/* Of all that is not hidden. */
static inline void shown_exponentials(const struct work *c, struct pair *p) {
  const struct tvm_pulp_attention_weights_args *args = c->args;
  const uint16_t *table = c->table - p->best[0], *table_next = c->table - p->best[1];
  const uint8_t *x = p->x[0], *x_next = p->x[1];
  uint16_t *e = p->e[0], *e_next = p->e[1];
  uint32_t sum = 0, sum_next = 0, v0, v1, v2, v3, w, w_next, n = p->seen.open;
  if (n == 0u) {
    /* All are hidden, or mixed. */
  } else if (args->lift) {
    EXPONENTIALS_OF_TWO(LIFTED, 0x80808080u);
  } else {
    EXPONENTIALS_OF_TWO(AS_THEY_ARE, 0);
  }
  if (p->seen.mixed) {
    uint32_t least = c->least & lanes_of(p->seen.mixed), step = args->step;
    w = (uint32_t)tvm_pulp_xp_maxu4(tvm_pulp_xp_word(x), (int32_t)least);
    w_next = (uint32_t)tvm_pulp_xp_maxu4(tvm_pulp_xp_word(x_next), (int32_t)least);
    if (args->lift) {
      w += ~w >> 7 & 0x01010101u;
      w_next += ~w_next >> 7 & 0x01010101u;
    }
    EXPONENTIALS_OF_MIXED(p->seen.mixed, step);
  }
  p->sum[0] = sum;
  p->sum[1] = sum_next;
  if (p->seen.other) {
    uint32_t words = args->keys >> 2, end = 4u * (words - p->seen.hidden);
    for (uint32_t i = 0; i < 2u; ++i) {
      p->sum[i] += other_exponentials(c, p, i, 4u * p->seen.open, end);
      p->sum[i] += other_exponentials(c, p, i, 4u * words, args->stride);
    }
  }
}

/* Of hidden keys, and what the sums mean for the weights. */
static inline void hidden_exponentials(const struct work *c, struct pair *p) {
  const struct tvm_pulp_attention_weights_args *args = c->args;
  uint32_t sum = p->sum[0], sum_next = p->sum[1], n = p->seen.hidden, weighed = args->stride >> 2;
  uint32_t top = args->levels - 1u;
  if (n) {
    const uint16_t *table = c->table - p->best[0], *table_next = c->table - p->best[1];
    uint32_t most = table[c->most], most_next = table_next[c->most], rest = args->keys & 3u;
    if (most + most_next + rest != 0u) {
      uint32_t v0, v1, v2, v3, w, w_next, from = 4u * ((args->keys >> 2) - n);
      const uint8_t *x = p->x[0] + from, *x_next = p->x[1] + from;
      uint16_t *e = p->e[0] + from, *e_next = p->e[1] + from;
      table -= c->shift;
      table_next -= c->shift;
      EXPONENTIALS_OF_TWO(AT_LEAST, c->least);
    }
    /* None of them has a weight. */
    if (rest == 0u && top * most < sum && top * most_next < sum_next) weighed -= n;
  }
  p->weighed = weighed;
  p->factor[0] = tvm_pulp_weight_factor(top, sum);
  p->factor[1] = tvm_pulp_weight_factor(top, sum_next);
}

static inline void weights(const struct work *c, struct pair *p) {
  uint32_t t0, t1, t2, t3, x0, x1, n = p->weighed, words = c->args->stride >> 2, m = p->factor[0], m_next = p->factor[1];
  const uint16_t *e = p->e[0], *e_next = p->e[1];
  uint8_t *y = p->y[0], *y_next = p->y[1];
  const int8_t *probability = c->probability;
  if (n == 0u) {
    /* All of the weight is hidden. */
  } else if (probability) {
    WEIGHTS_OF_TWO(LOOKUP);
  } else {
    WEIGHTS_OF_TWO("");
  }
  for (; n < words; ++n, y += 4, y_next += 4) {
    *(uint32_t *)(void *)y = c->nothing;
    *(uint32_t *)(void *)y_next = c->nothing;
  }
  if (c->args->keys & 3u) {
    tvm_pulp_clear_rest(c->args, p->y[0]);
    tvm_pulp_clear_rest(c->args, p->y[1]);
  }
}

static void run(struct work *c) {
  struct pair *end = c->pair + c->pairs;
  for (struct pair *p = c->pair; p != end; ++p) find_best(c, p);
  for (struct pair *p = c->pair; p != end; ++p) shown_exponentials(c, p);
  for (struct pair *p = c->pair; p != end; ++p) hidden_exponentials(c, p);
  for (struct pair *p = c->pair; p != end; ++p) weights(c, p);
  c->pairs = 0;
}

/* All rows of a core. Pairs are rows of one query, where a mask tells queries apart. */
static void all_rows(struct work *c, uint8_t *scratch, uint32_t room, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_attention_weights_args *args = c->args;
  uint32_t stride = args->stride, each = 2u * stride, batch = 1, used = 0, alone = 0, queries = args->queries;
  uint32_t rows = args->rows;
  struct seen seen;
  look_at_mask(args, 0, &seen);
  while (batch < BATCH && (batch + 1u) * each <= room) ++batch;
  /* In turn, another core first each time: causal masks leave the first queries less to do, and mix words of three
   * queries of four. */
  for (uint32_t first = 0, turn = core; first < queries; first += cores) {
    uint32_t query = first + turn;
    turn = turn + 1u == cores ? 0u : turn + 1u;
    if (query >= queries) continue;
    const int8_t *mask = args->mask ? args->mask + query * args->mask_stride : 0;
    if (mask) {
      look_at_mask(args, mask, &seen);
      alone = 0;
    }
    for (uint32_t row = query; row < rows; row += queries) {
      const uint8_t *x = args->x + row * stride;
      uint8_t *y = args->y + row * stride;
      if (used == batch || (!alone && c->pairs == PAIRS)) {
        run(c);
        used = alone = 0;
      }
      uint16_t *e = (uint16_t *)(void *)(scratch + used++ * each);
      struct pair *p = c->pair + c->pairs - alone;
      if (!alone) {
        p->x[0] = x;
        p->y[0] = y;
        p->e[0] = e;
        p->seen = seen;
        ++c->pairs;
      }
      p->x[1] = x;
      p->y[1] = y;
      p->e[1] = e;
      alone = !alone;
    }
  }
  if (c->pairs) run(c);
}

void tvm_pulp_attention_pairs(const struct tvm_pulp_attention_weights_args *args, uint32_t core, uint32_t cores) {
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  uint32_t room = args->scratch_stride;
  int32_t step = (int32_t)args->step;
  struct work c;
  c.args = args;
  c.probability = args->probability;
  c.table = args->small_exponential + 256 * step - 1;
  c.shift = 128 * step;
  c.most = 255 - c.shift;
  c.least = (uint32_t)(args->low + c.shift) * 0x01010101u;
  c.nothing = 0;
  c.pairs = 0;
  if (c.probability) {
    room -= 256u;
    tvm_pulp_copy_words(scratch, c.probability, 64);
    c.probability = (const int8_t *)scratch;
    c.nothing = (uint8_t)c.probability[0] * 0x01010101u;
    scratch += 256;
  }
  all_rows(&c, scratch, room, core, cores);
}
