// Verify: the network of src/detectors/filterbank/network/network.hpp on the windows of a list, bit for bit. A
// work-group takes the windows of the list at a fixed stride, and its work-items share the work of a window:
// first its pixels, resized from the octaves, then one convolution after the other, then the heads.
//
// Convolutions read and write *pictures*, [y][x][channel] in bytes, with a border of zeros all round. They lie
// in two memories of the work-group: `near`, local, and `far`, its part of a global buffer, for pictures that
// do not fit. src/detectors/filterbank/opencl/network.cpp decides which lies where, and appends the
// convolutions to this file: convolution.clh once for each, and `convolve_all`, which runs them.
//
// Build options:
//   CELL, WINDOW_WIDTH, WINDOW_HEIGHT  pixels; the width is a multiple of 4
//   GROUP                              work-items of a work-group
//   PIXELS, V                          outputs at once: V channels (4, 8, 16) of PIXELS neighbouring pixels (4, 8)
//   DOT_PTX, DOT_KHR, DOT_INTEGER      summation of four products, as in classify.cl
//   NEAR_WORDS, FAR_WORDS              sizes of the two memories, multiples of 4
//   INPUT_MEMORY, INPUT_SPACE          the first picture's memory (near or far) and its address space
//   INPUT_OFFSET, INPUT_BORDER, INPUT_PITCH, INPUT_ROWS   its place: words, pixels, bytes, rows with the border
//   OUTPUT_MEMORY, OUTPUT_OFFSET       memory and offset of the picture that the heads read
//   HEADS, HEAD_WORDS, HEAD_OFFSET     number of heads (1 or 4), words of weights of one, and the first one's offset
#include "image/octaves.clh"

// --- four products at once, for V outputs ---

#if defined(DOT_PTX) || defined(DOT_KHR)
// Words that are loaded at once, of an address space; they are aligned.
#define WORDS 4
#define LOAD_WORDS(SPACE, from, to)                 \
  {                                                 \
    const uint4 four = *(SPACE const uint4*)(from); \
    (to)[0] = four.s0;                              \
    (to)[1] = four.s1;                              \
    (to)[2] = four.s2;                              \
    (to)[3] = four.s3;                              \
  }
typedef struct {
  int at[V];
} Sums;
inline Sums load_sums(global const int* from) {
  Sums sums;
#pragma unroll
  for (int i = 0; i < V; i += 4) {
    const int4 four = *(global const int4*)(from + i);
    sums.at[i] = four.s0;
    sums.at[i + 1] = four.s1;
    sums.at[i + 2] = four.s2;
    sums.at[i + 3] = four.s3;
  }
  return sums;
}
#if defined(DOT_PTX)
inline int dot4_signed(uint values, int weights, int sum) {
  int result;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(values), "r"(weights), "r"(sum));
  return result;
}
inline int dot4_unsigned(uint values, int weights, int sum) {
  int result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(values), "r"(weights), "r"(sum));
  return result;
}
#else
inline int dot4_signed(uint values, int weights, int sum) {
  return sum + dot_4x8packed_ss_int(values, as_uint(weights));
}
inline int dot4_unsigned(uint values, int weights, int sum) {
  return sum + dot_4x8packed_us_int(values, as_uint(weights));
}
#endif
inline Sums add_signed(uint values, Sums weights, Sums sums) {
#pragma unroll
  for (int i = 0; i < V; ++i) sums.at[i] = dot4_signed(values, weights.at[i], sums.at[i]);
  return sums;
}
inline Sums add_unsigned(uint values, Sums weights, Sums sums) {
#pragma unroll
  for (int i = 0; i < V; ++i) sums.at[i] = dot4_unsigned(values, weights.at[i], sums.at[i]);
  return sums;
}
inline uint output_of(int sum, float scale) {
  return convert_uint(clamp(rint(convert_float(sum) * scale), 0.0f, 255.0f));
}
#define STORE_OUTPUTS(SPACE, sums, scales, to)                                                               \
  for (int i = 0; i < V; i += 4) {                                                                           \
    (to)[i / 4] = output_of((sums).at[i], (scales)[i]) | output_of((sums).at[i + 1], (scales)[i + 1]) << 8 | \
                  output_of((sums).at[i + 2], (scales)[i + 2]) << 16 |                                       \
                  output_of((sums).at[i + 3], (scales)[i + 3]) << 24;                                        \
  }

#else
#define WORDS 1
#define LOAD_WORDS(SPACE, from, to) ((to)[0] = *(from))
typedef intv Sums;
inline Sums load_sums(global const int* from) {
  return LOAD(from);
}
// A byte of each of the words, with its sign.
#define SIGNED_BYTE(words, byte) ((words) << (24 - 8 * (byte)) >> 24)
inline int dot4_unsigned(uint values, int weights, int sum) {
#pragma unroll
  for (int i = 0; i < 4; ++i) sum += (int)(values >> 8 * i & 255u) * SIGNED_BYTE(weights, i);
  return sum;
}
inline Sums add_unsigned(uint values, Sums weights, Sums sums) {
#pragma unroll
  for (int i = 0; i < 4; ++i) sums += (Sums)((int)(values >> 8 * i & 255u)) * SIGNED_BYTE(weights, i);
  return sums;
}
inline Sums add_signed(uint values, Sums weights, Sums sums) {
#pragma unroll
  for (int i = 0; i < 4; ++i) sums += (Sums)(SIGNED_BYTE(as_int(values), i)) * SIGNED_BYTE(weights, i);
  return sums;
}
#define STORE_OUTPUTS(SPACE, sums, scales, to)                                                   \
  PASTE(vstore, V)                                                                               \
  (PASTE(convert_uchar, V)(TO_INT(clamp(rint(TO_FLOAT(sums) * LOAD(scales)), 0.0f, 255.0f))), 0, \
   (SPACE uchar*)(to))
#endif

// --- the window ---

#define WINDOW_PIXELS (WINDOW_WIDTH * WINDOW_HEIGHT)
#define WINDOW_QUADS (WINDOW_PIXELS / 4)

// Address of four neighbouring pixels.
inline INPUT_SPACE uchar* quad_at(INPUT_SPACE uchar* input, int quad) {
  const int x = quad % (WINDOW_WIDTH / 4) * 4;
  const int y = quad / (WINDOW_WIDTH / 4);
  return input + (y + INPUT_BORDER) * INPUT_PITCH + INPUT_BORDER + x;
}

// Writes the gray pixels of the window at (x0, y0) of the level, with zeros around them. Returns the sum of
// the work-item's pixels.
inline int resize_window(int item, global const uchar* octaves, constant ResizedLevel* level,
                         global const int* tables, int x0, int y0, INPUT_SPACE uchar* input) {
  for (int i = item; i < INPUT_PITCH * INPUT_ROWS; i += GROUP) {
    const int x = i % INPUT_PITCH - INPUT_BORDER;
    const int y = i / INPUT_PITCH - INPUT_BORDER;
    if (x < 0 || x >= WINDOW_WIDTH || y < 0 || y >= WINDOW_HEIGHT) input[i] = 0;
  }
  int sum = 0;
  for (int quad = item; quad < WINDOW_QUADS; quad += GROUP) {
    INPUT_SPACE uchar* to = quad_at(input, quad);
    const int row = tables[level->rows_offset + y0 + quad / (WINDOW_WIDTH / 4)];
    global const int* column = tables + level->columns_offset + x0 + quad % (WINDOW_WIDTH / 4) * 4;
    global const uchar* top = octaves + level->source_offset + FIRST(row) * level->source_stride;
    global const uchar* bottom = WEIGHT(row) == 0 ? top : top + level->source_stride;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int pixel = sample(top, bottom, column[i], WEIGHT(row));
      to[i] = (uchar)pixel;
      sum += pixel;
    }
  }
  return sum;
}

inline int deviation_from(int item, int mean, INPUT_SPACE uchar* input) {
  int deviation = 0;
  for (int quad = item; quad < WINDOW_QUADS; quad += GROUP) {
    INPUT_SPACE uchar* pixel = quad_at(input, quad);
    for (int i = 0; i < 4; ++i) deviation += abs_diff((int)pixel[i], mean);
  }
  return deviation;
}

inline void stretch(int item, int mean, int deviation, INPUT_SPACE uchar* input) {
  const int gain = (int)(32L * 1024 * WINDOW_PIXELS / max(deviation, 4 * WINDOW_PIXELS));
  for (int quad = item; quad < WINDOW_QUADS; quad += GROUP) {
    INPUT_SPACE uchar* pixel = quad_at(input, quad);
    for (int i = 0; i < 4; ++i) {
      const int value = (((int)pixel[i] - mean) * gain + 512) >> 10;
      pixel[i] = (uchar)clamp(value, -127, 127);  // two's complement
    }
  }
}

// --- all of it ---

// Appended by the host. Ends with a barrier. (Not static: PoCL 3.1 gets barriers in static functions wrong.)
void convolve_all(int item, local uint* near, global uint* far, global const int* weights, global const int* biases,
                  global const float* scales);

#define WAIT_FOR_GROUP() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// The heads' sums, without their biases, of each window of the list `candidates`, written in their order into
// `verified`, as records of eight numbers: level, x, y, raw score, the logit's sum, and the three of boxes, 0
// if there are none. The header has the list's length, and how many candidates there were at first (of a list
// of peaks, that is the second number of its header). If those are more than `most`, nothing is verified: the
// host must select.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void verify(
    global const int* restrict candidates, int most, global const uchar* restrict octaves,
    constant ResizedLevel* levels, constant Level* places, global const int* restrict tables, global const int* restrict weights,
    global const int* restrict biases, global const float* restrict scales, global uint* restrict scratch,
    global int* restrict verified) {
  local uint4 near_memory[NEAR_WORDS / 4];
  local int totals[6];  // sum of pixels, their deviation, the heads' sums
  local uint* near = (local uint*)near_memory;
  global uint* far = scratch + (size_t)get_group_id(0) * FAR_WORDS;
  INPUT_SPACE uchar* input = (INPUT_SPACE uchar*)(INPUT_MEMORY + INPUT_OFFSET);
  const int item = get_local_id(0);
  const int found = max(candidates[0], candidates[1]);
  const int count = found > most ? 0 : candidates[0];
  if (get_global_id(0) == 0) vstore4((int4)(count, found, 0, 0), 0, verified);

  for (int i = get_group_id(0); i < count; i += get_num_groups(0)) {
    const int4 window = vload4(i + 1, candidates);
    for (int k = item; k < 6; k += GROUP) totals[k] = 0;
    WAIT_FOR_GROUP();
    const int first = places[window.s0].first_cell;
    atomic_add(&totals[0], resize_window(item, octaves, levels + window.s0, tables, first + window.s1 * CELL,
                                         first + window.s2 * CELL, input));
    WAIT_FOR_GROUP();
    const int mean = (totals[0] + WINDOW_PIXELS / 2) / WINDOW_PIXELS;
    atomic_add(&totals[1], deviation_from(item, mean, input));
    WAIT_FOR_GROUP();
    stretch(item, mean, totals[1], input);
    WAIT_FOR_GROUP();
    convolve_all(item, near, far, weights, biases, scales);
    int sums[HEADS] = {0};
    for (int k = item; k < HEAD_WORDS; k += GROUP) {
#pragma unroll
      for (int head = 0; head < HEADS; ++head) {
        sums[head] = dot4_unsigned((OUTPUT_MEMORY + OUTPUT_OFFSET)[k], weights[HEAD_OFFSET + head * HEAD_WORDS + k],
                                   sums[head]);
      }
    }
#pragma unroll
    for (int head = 0; head < HEADS; ++head) atomic_add(&totals[2 + head], sums[head]);
    WAIT_FOR_GROUP();
    if (item == 0) {
      vstore8((int8)(window.s0, window.s1, window.s2, window.s3, totals[2], totals[3], totals[4], totals[5]), i + 1,
              verified);
    }
    WAIT_FOR_GROUP();  // before the totals are cleared
  }
}
