// Filter: for every pixel the filter with the largest |response| to its 3x3 neighbourhood.
//
// All values are integers that float holds exactly (|response| < 2^16), so any order of multiply-adds gives
// the same bits. The argmax is one maximum: |response| * 256 + (255 - index) stays below 2^24, exact as well,
// and the lowest index wins a tie.
//
// Build options: FILTERS, V (pixels a work-item along x), ROWS (along y), and the variant:
//   VARIANT_PLAIN     one pixel, loops as in the textbook
//   VARIANT_UNROLLED  one pixel, its nine taps in registers
//   VARIANT_VECTOR    V x ROWS pixels in registers; the dictionary is read once for all, through the cache
//   VARIANT_LOCAL     the same, the dictionary copied to local memory first
// A dictionary entry is twelve floats: nine taps, the encoded index, and padding.
//
// With SIGNS_APART (128 filters at most), a response below 0 counts for bin FILTERS + index: the index is
// encoded as 254 - 2 * index, and the lowest bit is the sign. With PATTERNS, a response has the pixel's local
// binary pattern in its highest byte; the bins of the 256 codes follow the dictionary.

#include "image/lbp.clh"

#define ENTRY 12

#if V == 1
#define IS_BELOW_0(x) ((x) < 0.0f ? 1.0f : 0.0f)
#else
#define IS_BELOW_0(x) (-TO_FLOAT((x) < (floatv)(0.0f)))
#endif

inline floatv key_of(floatv response, float index) {
  const floatv key = fma(fabs(response), (floatv)(256.0f), (floatv)(index));
#ifdef SIGNS_APART
  return key + IS_BELOW_0(response);
#else
  return key;
#endif
}

inline uintv response_of(floatv key) {
#ifdef SIGNS_APART
  const uintv bits = TO_UINT(key);
  const uintv index = (uintv)(127u) - ((bits & (uintv)(255u)) >> 1) + (bits & (uintv)(1u)) * (uintv)((uint)FILTERS);
  return (bits & (uintv)(~255u)) | index;
#else
  return TO_UINT(key) ^ (uintv)(255u);
#endif
}

#ifdef PATTERNS
// Terms that the patterns of V pixels add to their responses; `bins` has the bin of every code.
inline uintv patterns_of(const floatv upper[3], const floatv middle[3], const floatv lower[3],
#ifdef VARIANT_LOCAL
                         global const float* bins) {
#else
                         constant float* bins) {
#endif
  const uintv code = lbp_codes(upper, middle, lower);
#if V == 1
  return convert_uint(bins[code]) << 24;
#else
  uint codes[V], patterns[V];
  STORE(code, codes);
  for (int i = 0; i < V; ++i) patterns[i] = convert_uint(bins[codes[i]]) << 24;
  return LOAD(patterns);
#endif
}
#endif

kernel void filter(global const uchar* restrict images, constant Level* levels, global const Tile* restrict tiles,
#ifdef VARIANT_LOCAL
                   global const float* restrict dictionary,
#else
                   constant float* dictionary,
#endif
                   global uint* restrict response_map) {
  const Tile tile = tiles[get_group_id(0)];
  constant Level* level = levels + tile.level;
  const int x = tile.x + V * (int)get_local_id(0);
  const int y = tile.y + ROWS * (int)get_local_id(1);

#ifdef VARIANT_LOCAL
  local float coefficients[FILTERS * ENTRY];
  const int item = get_local_id(1) * get_local_size(0) + get_local_id(0);
  for (int i = item; i < FILTERS * ENTRY; i += get_local_size(0) * get_local_size(1)) coefficients[i] = dictionary[i];
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  constant float* coefficients = dictionary;
#endif
  if (x >= level->width || y >= level->height) return;
  global const uchar* image = images + level->image_offset;
  const int stride = level->image_stride;

#if defined(VARIANT_PLAIN)
  float best = 0.0f;
  for (int k = 0; k < FILTERS; ++k) {
    float response = 0.0f;
    for (int i = 0; i < 9; ++i) {
      response = fma(coefficients[k * ENTRY + i], convert_float(image[(y + i / 3 - 1) * stride + x + i % 3 - 1]), response);
    }
    best = fmax(best, key_of(response, coefficients[k * ENTRY + 9]));
  }
  uint packed_response = response_of(best);
#ifdef PATTERNS
  float p[3][3];
  for (int i = 0; i < 9; ++i) p[i / 3][i % 3] = convert_float(image[(y + i / 3 - 1) * stride + x + i % 3 - 1]);
  packed_response |= patterns_of(p[0], p[1], p[2], dictionary + FILTERS * ENTRY);
#endif
  response_map[level->response_map_offset + y * level->response_map_stride + x] = packed_response;

#elif defined(VARIANT_UNROLLED)
  float p[3][3];
#pragma unroll
  for (int i = 0; i < 9; ++i) p[i / 3][i % 3] = convert_float(image[(y + i / 3 - 1) * stride + x + i % 3 - 1]);
  float best = 0.0f;
  for (int k = 0; k < FILTERS; ++k) {
    float response = 0.0f;
#pragma unroll
    for (int i = 0; i < 9; ++i) response = fma(coefficients[k * ENTRY + i], p[i / 3][i % 3], response);
    best = fmax(best, key_of(response, coefficients[k * ENTRY + 9]));
  }
  uint packed_response = response_of(best);
#ifdef PATTERNS
  packed_response |= patterns_of(p[0], p[1], p[2], dictionary + FILTERS * ENTRY);
#endif
  response_map[level->response_map_offset + y * level->response_map_stride + x] = packed_response;

#else
  // Rows past the last one read the border row again; their results are not stored.
  floatv p[ROWS + 2][3];
#pragma unroll
  for (int r = 0; r < ROWS + 2; ++r) {
    global const uchar* row = image + min(y + r - 1, level->height) * stride + x;
#pragma unroll
    for (int i = 0; i < 3; ++i) p[r][i] = TO_FLOAT(LOAD(row + i - 1));
  }
  floatv best[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) best[r] = (floatv)(0.0f);
  for (int k = 0; k < FILTERS; ++k) {
    // Three vector loads a filter, shared by all pixels.
    const float4 a = vload4(3 * k, coefficients);
    const float4 b = vload4(3 * k + 1, coefficients);
    const float4 c = vload4(3 * k + 2, coefficients);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      floatv response = p[r][0] * (floatv)(a.s0);
      response = fma(p[r][1], (floatv)(a.s1), response);
      response = fma(p[r][2], (floatv)(a.s2), response);
      response = fma(p[r + 1][0], (floatv)(a.s3), response);
      response = fma(p[r + 1][1], (floatv)(b.s0), response);
      response = fma(p[r + 1][2], (floatv)(b.s1), response);
      response = fma(p[r + 2][0], (floatv)(b.s2), response);
      response = fma(p[r + 2][1], (floatv)(b.s3), response);
      response = fma(p[r + 2][2], (floatv)(c.s0), response);
      const floatv key = key_of(response, c.s1);
      best[r] = key > best[r] ? key : best[r];
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (y + r < level->height) {
      uintv packed_response = response_of(best[r]);
#ifdef PATTERNS
      packed_response |= patterns_of(p[r], p[r + 1], p[r + 2], dictionary + FILTERS * ENTRY);
#endif
      STORE(packed_response, response_map + level->response_map_offset + (y + r) * level->response_map_stride + x);
    }
  }
#endif
}
