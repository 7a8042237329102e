// Descriptors of faces: their crops' normalisation, local binary patterns, regional histograms and projection,
// as normalisation.hpp, descriptor.hpp, face_descriptor.hpp and projection.hpp of src/faces/recognition define
// them, for several faces in each launch. All are whole numbers, so the order of sums does not matter.
//
// Build options:
//   WIDTH, HEIGHT   a crop's size, pixels
//   CHANNELS, CIRCLES
//   GROUP           work-items of a work-group, a power of two
//   MOST_BINS       largest number of bins of a region
#include "image/circular_lbp.clh"

#define PIXELS (WIDTH * HEIGHT)
#define MOST_REACH 11

// Mirrors struct DeviceChannel on the host. A blur of no reach has one weight, 256.
typedef struct {
  int reach[2];                      // inner and outer blur; outer -1: none
  int weights[2][MOST_REACH + 1];    // from the middle outwards
  int is_relative;                   // relative to the outer blur
} Channel;

// Mirrors struct DeviceCircle on the host.
typedef struct {
  int channel;
  int margin;        // pixels at each edge that have no codes
  int points;
  int first_sample;
  int first_bin;     // index in the table of bins; -1: u2, computed; -2: riu2, computed
  int padding[3];
} Circle;

// Mirrors struct DeviceRegion on the host.
typedef struct {
  int circle;
  int width, top, bottom;  // pixels of the crop
  int left, other_left;    // of the region and of its mirror image; below 0: not folded
  int bins;
  int first_value;
  int first_mirrored;      // index in the table of mirrored bins
} Region;

// Sums of all items' values, in every item.
inline uint sum_of_group(uint value, local uint* sums) {
  const int item = get_local_id(0);
  sums[item] = value;
  for (int upper = GROUP / 2; upper > 0; upper /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < upper) sums[item] += sums[item + upper];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return sums[0];
}

// Rows of blurs: [face][channel][inner, outer][pixel].
kernel void blur_rows(global const uchar* restrict crops, global const Channel* restrict channels,
                      global ushort* restrict sums) {
  const int pixel = get_global_id(0), blur = get_global_id(1), face = get_global_id(2);
  if (pixel >= PIXELS) return;
  global const Channel* channel = channels + blur / 2;
  const int reach = channel->reach[blur & 1];
  if (reach < 0) return;
  const int y = pixel / WIDTH, x = pixel - y * WIDTH;
  global const uchar* row = crops + face * PIXELS + y * WIDTH;
  global const int* weights = channel->weights[blur & 1];
  int sum = weights[0] * row[x];
  for (int i = 1; i <= reach; ++i) sum += weights[i] * (row[max(x - i, 0)] + row[min(x + i, WIDTH - 1)]);
  sums[(face * 2 * CHANNELS + blur) * PIXELS + pixel] = (ushort)sum;
}

inline int blur_column(global const ushort* sums, global const int* weights, int reach, int x, int y) {
  int sum = weights[0] * sums[y * WIDTH + x];
  for (int i = 1; i <= reach; ++i)
    sum += weights[i] * ((int)sums[max(y - i, 0) * WIDTH + x] + sums[min(y + i, HEIGHT - 1) * WIDTH + x]);
  return sum;
}

// Differences, [face][channel][pixel], and sums of their magnitudes, [face][channel], which begin as 0; of a
// blur alone, its pixels.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void blur_columns(
    global const ushort* restrict sums, global const Channel* restrict channels,
    global int* restrict differences, global uint* restrict totals) {
  local uint partial[GROUP];
  const int pixel = get_global_id(0), channel_index = get_global_id(1), face = get_global_id(2);
  const int at = face * CHANNELS + channel_index;
  uint magnitude = 0;
  global const Channel* channel = channels + channel_index;
  if (pixel < PIXELS) {
    const int y = pixel / WIDTH, x = pixel - y * WIDTH;
    global const ushort* rows = sums + 2 * at * PIXELS;
    const int inner = blur_column(rows, channel->weights[0], channel->reach[0], x, y);
    int result = (inner + (1 << 15)) >> 16;
    if (channel->reach[1] >= 0) {
      const int outer = blur_column(rows + PIXELS, channel->weights[1], channel->reach[1], x, y);
      result = (inner - outer + 128) >> 8;
      if (channel->is_relative) result = clamp((result << 14) / ((outer >> 8) + (2 << 8)), -0xFFFF, 0xFFFF);
      magnitude = abs(result);
    }
    differences[at * PIXELS + pixel] = result;
  }
  const uint total = sum_of_group(magnitude, partial);
  if (get_local_id(0) == 0 && channel->reach[1] >= 0) atomic_add(totals + at, total);
}

// Normalised crops: [face][channel][pixel].
kernel void scale(global const int* restrict differences, global const uint* restrict totals,
                  global const Channel* restrict channels, global uchar* restrict normalised) {
  const int pixel = get_global_id(0), channel = get_global_id(1), face = get_global_id(2);
  if (pixel >= PIXELS) return;
  const int at = face * CHANNELS + channel;
  int level = differences[at * PIXELS + pixel];
  if (channels[channel].reach[1] >= 0) {
    const int mean = max((int)(totals[at] / PIXELS), 13);
    const int gain = (20 << 16) / mean;
    level = 128 + ((clamp(level, -7 * mean, 7 * mean) * gain + (1 << 15)) >> 16);
  }
  normalised[at * PIXELS + pixel] = (uchar)clamp(level, 0, 255);
}

// Bins of local binary patterns: [face][circle][pixel]; where a circle has no code, nothing is written.
kernel void codes(global const uchar* restrict normalised, global const Circle* restrict circles,
                  global const LbpSample* restrict samples, global const ushort* restrict table,
                  global ushort* restrict bins) {
  const int pixel = get_global_id(0), index = get_global_id(1), face = get_global_id(2);
  if (pixel >= PIXELS) return;
  global const Circle* circle = circles + index;
  const int margin = circle->margin;
  const int y = pixel / WIDTH, x = pixel - y * WIDTH;
  if (min(x, y) < margin || x >= WIDTH - margin || y >= HEIGHT - margin) return;
  const uint code = circular_lbp_code(normalised + (face * CHANNELS + circle->channel) * PIXELS + pixel, WIDTH,
                                      samples + circle->first_sample, circle->points);
  const int first = circle->first_bin;
  bins[(face * CIRCLES + index) * PIXELS + pixel] =
      (ushort)(first >= 0    ? table[first + code]
               : first == -1 ? uniform_lbp_bin(code, circle->points)
                             : rotation_uniform_lbp_bin(code, circle->points));
}

// Histograms: a work-group for a region and, if folded, the one that is its mirror image. Counts are [face][value]; so are
// bytes, rows of which have `stride`: each is that of its count in the table of bytes.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void count(
    global const ushort* restrict bins, global const Region* restrict regions,
    global const ushort* restrict mirrored, global const uchar* restrict byte_table, int values, int stride,
    global ushort* restrict counts, global uchar* restrict bytes) {
  local uint histogram[MOST_BINS];
  const int item = get_local_id(0), face = get_global_id(1);
  const Region region = regions[get_group_id(0)];
  for (int i = item; i < region.bins; i += GROUP) histogram[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  global const ushort* image = bins + (face * CIRCLES + region.circle) * PIXELS;
  const int pixels = region.width * (region.bottom - region.top);
  for (int i = item; i < pixels; i += GROUP) {
    const int row = i / region.width, column = i - row * region.width;
    global const ushort* at = image + (region.top + row) * WIDTH + column;
    atomic_inc(histogram + at[region.left]);
    if (region.other_left >= 0)
      atomic_inc(histogram + mirrored[region.first_mirrored + at[region.other_left]]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < region.bins; i += GROUP) {
    const uint number = histogram[i];
    counts[face * values + region.first_value + i] = (ushort)number;
    bytes[face * stride + region.first_value + i] = byte_table[number];
  }
}

// Sums of weight times byte, [face][dimension]: a work-group each. Rows of weights and bytes have `stride`, a
// multiple of 64; the weights behind the values are 0.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void project(
    global const uchar* restrict bytes, global const char* restrict weights, int stride, int dims,
    global int* restrict sums) {
  local uint partial[GROUP];
  const int item = get_local_id(0), dimension = get_group_id(0), face = get_global_id(1);
  global const uchar* values = bytes + face * stride;
  global const char* row = weights + dimension * stride;
  int4 sum = 0;
  for (int i = item; i < stride / 4; i += GROUP) sum += convert_int4(vload4(i, values)) * convert_int4(vload4(i, row));
  // Signed sums in unsigned arithmetic: wrap-around keeps the bits.
  const uint total = sum_of_group(as_uint(sum.s0 + sum.s1 + sum.s2 + sum.s3), partial);
  if (item == 0) sums[face * dims + dimension] = as_int(total);
}

// Rounded down.
inline ulong square_root(ulong value) {
  ulong root = 0, rest = value;
  for (ulong bit = 1ul << 62; bit != 0; bit >>= 2) {
    const bool fits = rest >= root + bit;
    if (fits) rest -= root + bit;
    root = (root >> 1) + (fits ? bit : 0);
  }
  return root;
}

// Templates, [face][dimension]: a work-group a face.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void finish(
    global const int* restrict sums, global const int* restrict bias, global const ushort* restrict scales, int dims,
    int length, global char* restrict templates) {
  local ulong squares[GROUP];
  const int item = get_local_id(0), face = get_group_id(0);
#define SCALED(d) ((((long)sums[face * dims + (d)] - bias[d]) * scales[d]) >> 18)
  ulong square = 0;
  for (int d = item; d < dims; d += GROUP) {
    const long scaled = SCALED(d);
    square += (ulong)(scaled * scaled);
  }
  squares[item] = square;
  for (int upper = GROUP / 2; upper > 0; upper /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < upper) squares[item] += squares[item + upper];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const long norm = (long)square_root(squares[0]);
  for (int d = item; d < dims; d += GROUP) {
    const long scaled = SCALED(d);
    const long magnitude = scaled < 0 ? -scaled : scaled;
    const long result = norm == 0 ? 0 : min(127l, (2 * magnitude * length + norm) / (2 * norm));
    templates[face * dims + d] = (char)(scaled < 0 ? -result : result);
  }
}
