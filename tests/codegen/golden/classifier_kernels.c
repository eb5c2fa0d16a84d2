#include "classifier_kernels.h"

#include "tvm_pulp/integer.h"

/* transpose: uint8[1, 4, 6, 6] -> uint8[1, 6, 6, 4].
 * Layers: image_2. */
void tvmgen_classifier_transpose(const uint8_t *restrict x, uint8_t *restrict y) {
  for (int32_t place = 0; place < 36; ++place) {
    const int32_t outer = place / 6;
    const int32_t outer_1 = place % 6;
    for (int32_t i = 0; i < 4; ++i) {
      y[(outer * 6 + outer_1) * 4 + i] = x[(i * 6 + outer) * 6 + outer_1];
    }
  }
}

/* conv2d: uint8[1, 6, 6, 4], int8[4, 3, 3, 4], int32[4], int32[4] -> uint8[1, 6, 6, 4]. 5184 MAC.
 * Layers: hidden, hidden2. */
void tvmgen_classifier_conv2d(const uint8_t *restrict x, const int8_t *restrict weight, const int32_t *restrict mul, const int32_t *restrict add, uint8_t *restrict y) {
  for (int32_t pixel = 0; pixel < 36; ++pixel) {
    const int32_t oy = pixel / 6;
    const int32_t ox = pixel % 6;
    for (int32_t k = 0; k < 4; ++k) {
      int32_t acc = 0;
      for (int32_t ky = 0; ky < 3; ++ky) {
        const int32_t iy = oy + ky - 1;
        if ((iy >= 0) && (iy < 6)) {
          for (int32_t kx = 0; kx < 3; ++kx) {
            const int32_t ix = ox + kx - 1;
            if ((ix >= 0) && (ix < 6)) {
              for (int32_t c = 0; c < 4; ++c) {
                acc = acc + (int32_t)x[(iy * 6 + ix) * 4 + c] * (int32_t)weight[((k * 3 + ky) * 3 + kx) * 4 + c];
              }
            }
          }
        }
      }
      y[(oy * 6 + ox) * 4 + k] = (uint8_t)tvm_pulp_requantize(acc, mul[k], add[k], 10, 0, 255);
    }
  }
}

/* add: uint8[1, 6, 6, 4], uint8[1, 6, 6, 4], int32[1], int32[1] -> uint8[1, 6, 6, 4].
 * Layers: total. */
void tvmgen_classifier_add(const uint8_t *restrict a, const uint8_t *restrict b, const int32_t *restrict mul, const int32_t *restrict add, uint8_t *restrict y) {
  for (int32_t i = 0; i < 144; ++i) {
    y[i] = (uint8_t)tvm_pulp_requantize((int32_t)a[i] + (int32_t)b[i], mul[0], add[0], 1, 0, 255);
  }
}

/* max_pool: uint8[1, 6, 6, 4] -> uint8[1, 3, 3, 4].
 * Layers: pool. */
void tvmgen_classifier_max_pool(const uint8_t *restrict x, uint8_t *restrict y) {
  for (int32_t place = 0; place < 36; ++place) {
    const int32_t channel = place % 4;
    const int32_t pixel = place / 4;
    const int32_t ox = pixel % 3;
    const int32_t line = pixel / 3;
    int32_t best = 0;
    for (int32_t ky = 0; ky < 2; ++ky) {
      const int32_t iy = line * 2 + ky;
      for (int32_t kx = 0; kx < 2; ++kx) {
        const int32_t ix = ox * 2 + kx;
        best = tvm_pulp_max(best, (int32_t)x[(iy * 6 + ix) * 4 + channel]);
      }
    }
    y[(line * 3 + ox) * 4 + channel] = (uint8_t)best;
  }
}

/* reduce: uint8[1, 3, 3, 4] -> uint8[1, 4].
 * Layers: mean. */
void tvmgen_classifier_reduce(const uint8_t *restrict x, uint8_t *restrict y) {
  for (int32_t place = 0; place < 4; ++place) {
    int32_t total = 0;
    for (int32_t r1 = 0; r1 < 3; ++r1) {
      for (int32_t r2 = 0; r2 < 3; ++r2) {
        total = total + (int32_t)x[(r1 * 3 + r2) * 4 + place];
      }
    }
    y[place] = (uint8_t)tvm_pulp_floor_divide_32(total + 4, 9);
  }
}

/* dense: uint8[1, 4], int8[3, 4], int32[3], int32[1], int32[1] -> int8[1, 3]. 12 MAC.
 * Layers: classes. */
void tvmgen_classifier_dense(const uint8_t *restrict x, const int8_t *restrict weight, const int32_t *restrict bias, const int32_t *restrict mul, const int32_t *restrict add, int8_t *restrict y) {
  for (int32_t column = 0; column < 3; ++column) {
    int32_t acc = bias[column];
    for (int32_t c = 0; c < 4; ++c) {
      acc = acc + (int32_t)x[c] * (int32_t)weight[column * 4 + c];
    }
    y[column] = (int8_t)tvm_pulp_requantize(acc, mul[0], add[0], 8, -128, 127);
  }
}
