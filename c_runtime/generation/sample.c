/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/sample.h"

/* 2^20 * 2^(-i / 256). */
static const uint32_t powers[256] = {
    1048576, 1045741, 1042913, 1040093, 1037281, 1034476, 1031679, 1028889, 1026107, 1023333, 1020566, 1017806,
    1015054, 1012309, 1009572, 1006842, 1004120, 1001405, 998697, 995997, 993303, 990618, 987939, 985268,
    982604, 979947, 977297, 974654, 972019, 969391, 966770, 964155, 961548, 958948, 956356, 953770,
    951191, 948619, 946054, 943496, 940944, 938400, 935863, 933332, 930809, 928292, 925782, 923278,
    920782, 918292, 915809, 913333, 910863, 908400, 905944, 903494, 901051, 898615, 896185, 893762,
    891345, 888935, 886532, 884134, 881744, 879360, 876982, 874611, 872246, 869887, 867535, 865189,
    862850, 860517, 858190, 855869, 853555, 851247, 848946, 846650, 844361, 842078, 839801, 837530,
    835265, 833007, 830754, 828508, 826268, 824034, 821806, 819583, 817367, 815157, 812953, 810755,
    808563, 806376, 804196, 802021, 799853, 797690, 795533, 793382, 791237, 789097, 786964, 784836,
    782714, 780597, 778487, 776382, 774282, 772189, 770101, 768018, 765942, 763871, 761805, 759745,
    757691, 755642, 753599, 751561, 749529, 747502, 745481, 743465, 741455, 739450, 737451, 735457,
    733468, 731485, 729507, 727535, 725567, 723605, 721649, 719698, 717752, 715811, 713875, 711945,
    710020, 708100, 706185, 704276, 702372, 700472, 698578, 696689, 694806, 692927, 691053, 689185,
    687321, 685463, 683609, 681761, 679917, 678079, 676245, 674417, 672593, 670775, 668961, 667152,
    665348, 663549, 661755, 659966, 658181, 656401, 654627, 652856, 651091, 649331, 647575, 645824,
    644078, 642336, 640599, 638867, 637140, 635417, 633699, 631985, 630276, 628572, 626872, 625177,
    623487, 621801, 620120, 618443, 616771, 615103, 613440, 611781, 610127, 608477, 606832, 605191,
    603555, 601923, 600295, 598672, 597053, 595439, 593829, 592223, 590622, 589025, 587432, 585844,
    584260, 582680, 581104, 579533, 577966, 576403, 574845, 573290, 571740, 570194, 568652, 567115,
    565581, 564052, 562527, 561006, 559489, 557976, 556467, 554963, 553462, 551966, 550473, 548985,
    547500, 546020, 544543, 543071, 541603, 540138, 538678, 537221, 535768, 534320, 532875, 531434,
    529997, 528564, 527135, 525709,
};

static uint32_t weight_of(uint32_t distance, uint32_t multiplier) {
  const uint64_t exponent = (uint64_t)distance * multiplier >> 16; /* in 256ths */
  return exponent >= 20u * 256u ? 0u : powers[exponent & 255u] >> (exponent >> 8);
}

/* What tokens that weigh at least `least` weigh together. */
static uint64_t heavy(const uint32_t *weights, uint32_t count, uint32_t least) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (weights[i] >= least) sum += weights[i];
  }
  return sum;
}

/* The largest weight such that tokens from it on are at least `tokens` or weigh at least `share`. Of the weights in
 * `open`, which are changed, only those stay that can still be it; `above` are heavier than all of them. */
static uint32_t threshold(uint32_t *open, uint32_t count, uint32_t tokens, uint64_t share) {
  uint32_t low = 1, high = 1u << 20, above = 0;
  uint64_t above_total = 0;
  while (low < high && count != 0u) {
    const uint32_t middle = low + (high - low + 1u) / 2u;
    uint32_t found = above;
    uint64_t total = above_total;
    for (uint32_t i = 0; i < count; ++i) {
      if (open[i] >= middle) {
        ++found;
        total += open[i];
      }
    }
    const uint32_t enough = tokens != 0u ? found >= tokens : total >= share;
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; ++i) {
      if ((open[i] >= middle) == enough) open[left++] = open[i];
    }
    count = left;
    if (enough) {
      low = middle;
    } else {
      high = middle - 1u;
      above = found;
      above_total = total;
    }
  }
  return low;
}

static void copy(uint32_t *to, const uint32_t *from, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) to[i] = from[i];
}

static uint32_t draw(struct tvm_pulp_sampling *sampling) {
  uint32_t x = sampling->random;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  sampling->random = x;
  return x;
}

void tvm_pulp_sample_weights(const int32_t *logits, uint32_t begin, uint32_t end, int32_t largest,
                             uint32_t multiplier, uint32_t *weights) {
  for (uint32_t i = begin; i < end; ++i) {
    weights[i] = weight_of((uint32_t)largest - (uint32_t)logits[i], multiplier);
  }
}

uint32_t tvm_pulp_sample_weighted(uint32_t *weights, uint32_t count, uint32_t best, uint32_t *room,
                                  struct tvm_pulp_sampling *sampling) {
  uint32_t *places = room, *open = room + count, kept = 0, least = 1;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t weight = weights[i];
    if (weight == 0u) continue;
    weights[kept] = weight;
    places[kept++] = i;
  }
  if (sampling->top_k != 0u && sampling->top_k < count) {
    copy(open, weights, kept);
    least = threshold(open, kept, sampling->top_k, 0);
  }
  if (sampling->top_p != 0u && sampling->top_p < 1u << 16) {
    /* A share of what top_k has left. */
    const uint64_t share = (heavy(weights, kept, least) * sampling->top_p + 0xffffu) >> 16;
    copy(open, weights, kept);
    const uint32_t likely = threshold(open, kept, 0, share);
    if (likely > least) least = likely;
  }
  const uint64_t total = heavy(weights, kept, least);
  /* Weights of 512 tokens stay below 2^32 together; more tokens still fit 64 bits with 32 of the generator. */
  uint64_t place = (uint64_t)draw(sampling) * total >> 32;
  for (uint32_t i = 0; i < kept; ++i) {
    if (weights[i] < least) continue;
    if (place < weights[i]) return places[i];
    place -= weights[i];
  }
  return best;
}

uint32_t tvm_pulp_sample(const int32_t *logits, uint32_t count, uint32_t *room, struct tvm_pulp_sampling *sampling) {
  uint32_t best = 0;
  int32_t largest = logits[0];
  for (uint32_t i = 1; i < count; ++i) {
    const int32_t logit = logits[i];
    if (logit > largest) {
      largest = logit;
      best = i;
    }
  }
  if (sampling->multiplier == 0u) return best;
  tvm_pulp_sample_weights(logits, 0, count, largest, sampling->multiplier, room);
  return tvm_pulp_sample_weighted(room, count, best, room + count, sampling);
}
