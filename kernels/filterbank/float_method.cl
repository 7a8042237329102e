// The float method on a device: the reference for accuracy, plain and not tuned. See
// src/detectors/filterbank/float_method.cpp.
//
// All sums run in the CPU's order, multiply and add are fused where the CPU fuses them (in the filter) and
// nowhere else, root and division are correctly rounded, and windows are summed in double: the results are
// the CPU's bit for bit (on a CPU without fused multiply-add, those of its scalar reference).
//
// Build options: FILTERS, BINS (FILTERS rounded up to 4), BLOCKS_X, BLOCKS_Y, TEMPLATES, DISTANCE (0:
// linear), SIGNED (the largest response above 0 is kept, not the largest magnitude).
//
// | data       | element | order                                          |
// |------------|---------|------------------------------------------------|
// | responses  | float   | [y][x], as responses of the exact method       |
// | indices    | uchar   | [y][x], the same                               |
// | histograms | float   | [cell y][BINS][cell x], as roots               |
// | features   | float   | [block y][4 cells][BINS][block x]              |
// | scores     | double  | [window y][window x], as scores, but final     |
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define LEAST_RESPONSE 0.01f  // kLeastResponse of src/detectors/filterbank/kernels.hpp

// The largest |response| (SIGNED: response above 0, or 0 if it is but a rounding error) and the lowest index
// that reaches it. A work-item a pixel.
kernel void filter(global const uchar* restrict images, constant Level* levels,
                   global const Tile* restrict tiles, constant float* dictionary,
                   global float* restrict responses, global uchar* restrict indices) {
  const Tile tile = tiles[get_group_id(0)];
  constant Level* level = levels + tile.level;
  const int x = tile.x + (int)get_local_id(0);
  const int y = tile.y + (int)get_local_id(1);
  if (x >= level->width || y >= level->height) return;
  global const uchar* image = images + level->image_offset;
#ifdef SIGNED
  float best = 0.0f;
#else
  float best = -1.0f;
#endif
  int best_index = 0;
  for (int k = 0; k < FILTERS; ++k) {
    float response = 0.0f;
    for (int i = 0; i < 9; ++i) {
      const float pixel = convert_float(image[(y + i / 3 - 1) * level->image_stride + x + i % 3 - 1]);
      response = fma(dictionary[k * 9 + i], pixel, response);
    }
#ifndef SIGNED
    response = fabs(response);
#endif
    if (response > best) {
      best = response;
      best_index = k;
    }
  }
#ifdef SIGNED
  if (best < LEAST_RESPONSE) best = 0.0f;
#endif
  const int at = level->response_map_offset + y * level->response_map_stride + x;
  responses[at] = best;
  indices[at] = (uchar)best_index;
}

// A work-item a cell, pixels row by row. Global size: (widest pitch, 1, rows of cells of all levels).
kernel void histogram(global const float* restrict responses, global const uchar* restrict indices,
                      constant Level* levels, global const Tile* restrict rows,
                      global float* restrict histograms) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = get_global_id(0);
  if (x >= level->cells_x) return;
  const int pitch = level->pitch;
  global float* sums = histograms + level->roots_offset + row.y * BINS * pitch + x;
  for (int bin = 0; bin < FILTERS; ++bin) sums[bin * pitch] = 0.0f;
  const int first = level->response_map_offset + row.y * 8 * level->response_map_stride + x * 8;
  for (int i = 0; i < 64; ++i) {
    const int at = first + i / 8 * level->response_map_stride + i % 8;
    sums[indices[at] * pitch] += responses[at];
  }
}

// L1-sqrt normalisation; a work-item a block. Global size: (widest pitch, 1, rows of blocks of all levels).
kernel void normalise(global const float* restrict histograms, constant Level* levels,
                      global const Tile* restrict rows, float epsilon, global float* restrict features) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = get_global_id(0);
  if (x >= level->cells_x - 1) return;
  const int pitch = level->pitch;
  global const float* cells = histograms + level->roots_offset + row.y * BINS * pitch + x;
  float sum = epsilon;
  for (int cell = 0; cell < 4; ++cell) {
    global const float* sums = cells + cell / 2 * BINS * pitch + cell % 2;
    for (int bin = 0; bin < FILTERS; ++bin) sum += sums[bin * pitch];
  }
  global float* block = features + level->features_offset + row.y * 4 * BINS * pitch + x;
  for (int cell = 0; cell < 4; ++cell) {
    global const float* sums = cells + cell / 2 * BINS * pitch + cell % 2;
    for (int bin = 0; bin < FILTERS; ++bin)
      block[(cell * BINS + bin) * pitch] = sqrt(sums[bin * pitch] / sum);
  }
}

inline double term(double value, double weight) {
#if DISTANCE
  const double difference = value - weight;
  return -difference * difference;
#else
  return weight * value;
#endif
}

// A work-item a window. Weights: [template][block y][block x][cell][filter]. Global size: (widest pitch, 1,
// rows of windows of all levels).
kernel void classify(global const float* restrict features, constant Level* levels,
                     global const Tile* restrict rows, global const char* restrict weights, double bias,
                     double scale, global double* restrict scores) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = get_global_id(0);
  if (x >= level->windows_x) return;
  const int pitch = level->pitch;
  double best = 0.0;
  global const char* weight = weights;
  for (int t = 0; t < TEMPLATES; ++t) {
    double raw = 0.0;
    for (int by = 0; by < BLOCKS_Y; ++by) {
      double sum = 0.0;
      for (int bx = 0; bx < BLOCKS_X; ++bx) {
        global const float* block =
            features + level->features_offset + (row.y + by) * 4 * BINS * pitch + x + bx;
        for (int cell = 0; cell < 4; ++cell) {
          for (int bin = 0; bin < FILTERS; ++bin, ++weight) {
            sum += term(255.0 * convert_double(block[(cell * BINS + bin) * pitch]), convert_double(*weight));
          }
        }
      }
      raw += sum;
    }
    best = t == 0 ? raw : fmax(best, raw);
  }
  scores[level->scores_offset + row.y * pitch + x] = (best + bias) * scale;
}
