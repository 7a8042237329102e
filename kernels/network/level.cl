// One level of a network: chains of operations, each on the same pixels of a map, as tables describe them. A work-group
// takes a tile of a chain's pixels; what the chain alone needs stays in local memory.
//
// Build options:
//   GROUP         work-items
//   LOCAL_FLOATS  of local memory
//   UNROLL        iterations that are unrolled of loops over columns and taps
//
// Maps in global memory are as src/detectors/network/plan.hpp lays them out: blocks of 16 channels, or planes. Maps in
// local memory have a row of channels for each pixel of the tile.

#define BLOCK 16
#define CACHED_OPS 16  // that are read at once

// Kinds of operations; mirror OpKind of src/detectors/network/opencl/level_tables.hpp.
#define STAGE 0
#define STAGE_QUADS 1
#define MULTIPLY 2
#define DEPTHWISE 3
#define BINARY 4
#define POOL 5
#define RESIZE 6
#define MEAN_LANES 7
#define MEAN 8
#define COPY 9
#define PACK 10
#define PLACE 11
#define AVERAGE 12
#define PAD 13

// An operation; mirrors struct Op there.
typedef struct {
  int kind;
  int places;                // first of the sources' in `places`
  int count;                 // of sources: channels, or blocks of them
  int pixel_step;            // floats from pixel to pixel of a source in global memory
  int in_width, in_height;
  int stride_x, stride_y, before_x, before_y, dilation_x, dilation_y, kernel_x, kernel_y;
  int first_row, first_column, taps;  // of the kernel, to stage
  int local_at, local_pitch; // staged columns: by pixel
  int depth;                 // columns to multiply, a multiple of 4
  int tile;                  // pixels << 8 | outputs of a work-item
  int outputs, first_output; // of a pixel, that this operation makes
  int weights, weight_row, bias;
  int begins, ends;          // whether sums start with the bias, and are complete
  int activation;
  float a, b;
  int added, added_first;    // sources that are added; negative: none
  int other, other_kind;     // second operand: places; 0: by pixel, 1: a value a channel, 2: constants, 3: none
  int operation;             // 0 add, 1 subtract, 2 multiply
  int out_local, out_pitch;  // place in local memory, if out_pitch is above 0
  int out, out_block, out_row;  // place in global memory, if `out` is not negative
  int row_step, column_step; // PLACE
} Op;
#define OP_WORDS 43

// A chain; mirrors struct ChainTable there.
typedef struct {
  int first_group;  // of a frame's
  int first_op, ops;
  int tile_shift, pixels, width;  // 2^tile_shift pixels of a tile; of the map
  uint width_inverse;             // 2^32 / width, rounded up
  int weights, weight_floats;     // that are read ahead
  int padding;
} Chain;

typedef struct {
  global float* arena;
  local float* tile;
  global const int2* places;  // offset and floats from row to row; negative: in local memory, floats from pixel to pixel
  int first, count;           // pixels of this tile
  int width;
  uint width_inverse;
} Work;

inline int2 place_of_pixel(const Work* work, int p) {
  const uint at = work->first + p;
  const int y = work->width == 1 ? (int)at : (int)mul_hi(at, work->width_inverse);
  return (int2)(at - y * work->width, y);
}

// Four channels of a block at pixel p of the tile, which is (x, y) of the map.
inline float4 read_quad(const Work* work, int2 place, int quad, int p, int x, int y, int pixel_step) {
  if (place.y < 0) return *(local const float4*)(work->tile + place.x - p * place.y + 4 * (quad & 3));
  return *(global const float4*)(work->arena + place.x + y * place.y + x * pixel_step + 4 * (quad & 3));
}

inline void write_quad(const Work* work, const Op* op, int quad, int p, int2 at, float4 value) {
  if (op->out_pitch > 0) *(local float4*)(work->tile + op->out_local + p * op->out_pitch + 4 * quad) = value;
  if (op->out >= 0)
    *(global float4*)(work->arena + op->out + (quad >> 2) * op->out_block + at.y * op->out_row + BLOCK * at.x +
                      4 * (quad & 3)) = value;
}

// Activation and sum of a quad.
inline float4 finish(const Work* work, const Op* op, int quad, int p, int2 at, float4 value) {
  if (op->added < 0) return activate(value, op->activation, op->a, op->b);
  const float4 added = read_quad(work, work->places[op->added + (quad >> 2)], quad, p, at.x, at.y, BLOCK);
  if (op->added_first) return activate(value + added, op->activation, op->a, op->b);
  return activate(value, op->activation, op->a, op->b) + added;
}

// Work-items share the quads of a tile so that neighbours have four quads of a block, and then the next pixel.
typedef struct {
  int p, quad;
} Place;
inline Place place_of_item(int i, int tile_shift) {
  const Place place = {(i >> 2) & ((1 << tile_shift) - 1), (i >> (tile_shift + 2)) << 2 | (i & 3)};
  return place;
}

// Sources of some of a convolution's taps, by pixel, tap and channel: columns in the order of its sum.
inline void stage(const Work* work, const Op* op, int tile_shift, int item) {
  const int columns = (op->count + 3) & ~3;
#pragma unroll 1
  for (int i = item; i < (columns >> 2) << tile_shift; i += GROUP) {
    const int p = i & ((1 << tile_shift) - 1), c = (i >> tile_shift) << 2;
    const int2 at = place_of_pixel(work, p);
    const int last = op->places + op->count - 1, own = op->places + c;
    const int2 p0 = work->places[own], p1 = work->places[min(own + 1, last)],
               p2 = work->places[min(own + 2, last)], p3 = work->places[min(own + 3, last)];
    local float* to = work->tile + op->local_at + p * op->local_pitch + c;
    int ky = op->first_row, kx = op->first_column;
#pragma unroll UNROLL
    for (int t = 0; t < op->taps; ++t, to += columns) {
      const int x = at.x * op->stride_x - op->before_x + kx * op->dilation_x;
      const int y = at.y * op->stride_y - op->before_y + ky * op->dilation_y;
      float4 value = 0;
      if (p < work->count && x >= 0 && y >= 0 && x < op->in_width && y < op->in_height) {
#define SOURCE(place) \
  (place.y < 0 ? work->tile[place.x - p * place.y] : work->arena[place.x + y * place.y + x * op->pixel_step])
        value = (float4)(SOURCE(p0), SOURCE(p1), SOURCE(p2), SOURCE(p3));
        if (c + 3 >= op->count) value = choose(c + (int4)(0, 1, 2, 3) < op->count, value, (float4)0);
      }
      *(local float4*)to = value;
      if (++kx == op->kernel_x) kx = 0, ++ky;
    }
  }
}

// The same of four channels at once, which lie side by side.
inline void stage_quads(const Work* work, const Op* op, int tile_shift, int item) {
  const int quads = op->count >> 2;
#pragma unroll 1
  for (int i = item; i < ((quads + 3) & ~3) << tile_shift; i += GROUP) {
    const Place here = place_of_item(i, tile_shift);
    if (here.quad >= quads) continue;
    const int p = here.p;
    const int2 at = place_of_pixel(work, p);
    const int2 place = work->places[op->places + here.quad];
    local float* to = work->tile + op->local_at + p * op->local_pitch + 4 * here.quad;
    int ky = op->first_row, kx = op->first_column;
#pragma unroll UNROLL
    for (int t = 0; t < op->taps; ++t, to += op->count) {
      const int x = at.x * op->stride_x - op->before_x + kx * op->dilation_x;
      const int y = at.y * op->stride_y - op->before_y + ky * op->dilation_y;
      float4 value = 0;
      if (p < work->count && x >= 0 && y >= 0 && x < op->in_width && y < op->in_height)
        value = read_quad(work, place, 0, p, x, y, op->pixel_step);
      *(local float4*)to = value;
      if (++kx == op->kernel_x) kx = 0, ++ky;
    }
  }
}

// One output of four pixels, `apart` from each other, with what quads get in `finish`.
inline void finish_pixels(const Work* work, const Op* op, int channel, int first, int apart, float4 values) {
  const int block = channel / BLOCK, lane = channel % BLOCK;
  const int4 p = first + apart * (int4)(0, 1, 2, 3);
  const int2 at[4] = {place_of_pixel(work, p.s0), place_of_pixel(work, p.s1), place_of_pixel(work, p.s2),
                      place_of_pixel(work, p.s3)};
  float4 added = 0;
  if (op->added >= 0) {
    const int2 place = work->places[op->added + block];
#define ADDED(i)                                                             \
  if (p.s##i < work->count)                                                  \
    added.s##i = place.y < 0 ? work->tile[place.x - p.s##i * place.y + lane] \
                             : work->arena[place.x + at[i].y * place.y + at[i].x * BLOCK + lane];
    ADDED(0) ADDED(1) ADDED(2) ADDED(3)
  }
  if (op->added >= 0 && op->added_first) values += added;
  values = activate(values, op->activation, op->a, op->b);
  if (op->added >= 0 && !op->added_first) values += added;
#define WRITE(i)                                                                                        \
  if (p.s##i < work->count) {                                                                           \
    if (op->out_pitch > 0) work->tile[op->out_local + p.s##i * op->out_pitch + channel] = values.s##i;  \
    if (op->out >= 0)                                                                                   \
      work->arena[op->out + block * op->out_block + at[i].y * op->out_row + BLOCK * at[i].x + lane] =   \
          values.s##i;                                                                                  \
  }
  WRITE(0) WRITE(1) WRITE(2) WRITE(3)
}

inline void finish_quad(const Work* work, const Op* op, int quad, int p, float4 value) {
  if (p >= work->count) return;
  const int2 at = place_of_pixel(work, p);
  write_quad(work, op, quad, p, at, finish(work, op, quad, p, at, value));
}

// A work-item's part of a product: some pixels, `apart` from each other, and some outputs.
typedef struct {
  local const float* columns;   // of the first pixel
  global const float* weights;  // of the first output
  int step, row, depth;         // floats from pixel to pixel, from column to column; columns
  int first, apart, output;
  bool works;
} Part;

inline Part part_of(const Work* work, const Op* op, int tile_shift, int item, global const float* weights) {
  Part part;
  const int pixels = op->tile >> 8, outputs = op->tile & 255, across = op->outputs / outputs;
  part.apart = (1 << tile_shift) / pixels;
  part.first = item / across;
  part.output = op->first_output + (item - part.first * across) * outputs;
  part.works = part.first < part.apart;
  part.columns = work->tile + op->local_at + part.first * op->local_pitch;
  part.weights = weights + op->weights + part.output;
  part.step = part.apart * op->local_pitch;
  part.row = op->weight_row;
  part.depth = op->depth;
  return part;
}

#define COLUMNS(p, k) (*(local const float4*)(part.columns + p * part.step + k))
#define QUAD(w, i) (*(global const float4*)(w + i * part.row))
// Adds four columns of a pixel to its quad of sums.
#define ADD_PIXEL(p)               \
  {                                \
    const float4 x = COLUMNS(p, k); \
    s##p = fma_one(x.s0, w0, s##p);    \
    s##p = fma_one(x.s1, w1, s##p);    \
    s##p = fma_one(x.s2, w2, s##p);    \
    s##p = fma_one(x.s3, w3, s##p);    \
  }

inline float4 fma_one(float x, float4 w, float4 sum) { return fma((float4)x, w, sum); }

// Sums of eight pixels and four outputs.
inline void multiply_8_4(const Work* work, const Op* op, const Part part, global const float* weights, float4* sums) {
  if (op->begins) {
    const float4 bias = *(global const float4*)(weights + op->bias + part.output);
    sums[0] = sums[1] = sums[2] = sums[3] = sums[4] = sums[5] = sums[6] = sums[7] = bias;
  }
  float4 s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3], s4 = sums[4], s5 = sums[5], s6 = sums[6],
         s7 = sums[7];
  global const float* w = part.weights;
#pragma unroll UNROLL
  for (int k = 0; k < part.depth; k += 4, w += 4 * part.row) {
    const float4 w0 = QUAD(w, 0), w1 = QUAD(w, 1), w2 = QUAD(w, 2), w3 = QUAD(w, 3);
    ADD_PIXEL(0) ADD_PIXEL(1) ADD_PIXEL(2) ADD_PIXEL(3) ADD_PIXEL(4) ADD_PIXEL(5) ADD_PIXEL(6) ADD_PIXEL(7)
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3, sums[4] = s4, sums[5] = s5, sums[6] = s6, sums[7] = s7;
}

inline void multiply_4_4(const Work* work, const Op* op, const Part part, global const float* weights, float4* sums) {
  if (op->begins)
    sums[0] = sums[1] = sums[2] = sums[3] = *(global const float4*)(weights + op->bias + part.output);
  float4 s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  global const float* w = part.weights;
#pragma unroll UNROLL
  for (int k = 0; k < part.depth; k += 4, w += 4 * part.row) {
    const float4 w0 = QUAD(w, 0), w1 = QUAD(w, 1), w2 = QUAD(w, 2), w3 = QUAD(w, 3);
    ADD_PIXEL(0) ADD_PIXEL(1) ADD_PIXEL(2) ADD_PIXEL(3)
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

// Sums of four pixels, side by side, and one or two outputs.
inline void multiply_4_n(const Work* work, const Op* op, const Part part, bool two, global const float* weights,
                         float4* sums) {
  if (op->begins) {
    sums[0] = weights[op->bias + part.output];
    sums[1] = weights[op->bias + part.output + two];
  }
  float4 s0 = sums[0], s1 = sums[1];
  global const float* w = part.weights;
#define ADD_COLUMN(i)                                                        \
  {                                                                          \
    const float4 x = (float4)(x0.s##i, x1.s##i, x2.s##i, x3.s##i);           \
    s0 = fma(x, (float4)w[i * part.row], s0);                                \
    if (two) s1 = fma(x, (float4)w[i * part.row + 1], s1);                   \
  }
#pragma unroll UNROLL
  for (int k = 0; k < part.depth; k += 4, w += 4 * part.row) {
    const float4 x0 = COLUMNS(0, k), x1 = COLUMNS(1, k), x2 = COLUMNS(2, k), x3 = COLUMNS(3, k);
    ADD_COLUMN(0) ADD_COLUMN(1) ADD_COLUMN(2) ADD_COLUMN(3)
  }
  sums[0] = s0, sums[1] = s1;
}

inline void multiply(const Work* work, const Op* op, int tile_shift, int item, global const float* weights,
                     float4* sums) {
  const Part part = part_of(work, op, tile_shift, item, weights);
  if (!part.works) return;
  const int outputs = op->tile & 255;
  if (op->tile == (8 << 8 | 4)) {
    multiply_8_4(work, op, part, weights, sums);
  } else if (op->tile == (4 << 8 | 4)) {
    multiply_4_4(work, op, part, weights, sums);
  } else if (op->tile == (4 << 8 | 2)) {
    multiply_4_n(work, op, part, true, weights, sums);
  } else {
    multiply_4_n(work, op, part, false, weights, sums);
  }
  if (!op->ends) return;
  if (outputs < 4) {
    finish_pixels(work, op, part.output, part.first, part.apart, sums[0]);
    if (outputs == 2) finish_pixels(work, op, part.output + 1, part.first, part.apart, sums[1]);
    return;
  }
#define FINISH(p) finish_quad(work, op, part.output / 4, part.first + p * part.apart, sums[p]);
  FINISH(0) FINISH(1) FINISH(2) FINISH(3)
  if (op->tile != (8 << 8 | 4)) return;
  FINISH(4) FINISH(5) FINISH(6) FINISH(7)
}

// A quad of a source under a window's row and column; `outside` beyond the map.
inline float4 read_window(const Work* work, const Op* op, int2 place, int quad, int p, int2 at, int row, int column,
                          float4 outside) {
  const int x = at.x * op->stride_x - op->before_x + column * op->dilation_x;
  const int y = at.y * op->stride_y - op->before_y + row * op->dilation_y;
  const bool is_inside = x >= 0 && y >= 0 && x < op->in_width && y < op->in_height;
  return is_inside ? read_quad(work, place, quad, p, x, y, op->pixel_step) : outside;
}

// The same of a source in global memory, whose quad of the map's first pixel is at `first`; 0 beyond the map.
inline float4 read_global_window(global const float* first, const Op* op, int row_floats, int2 at, int row, int column) {
  const int x = at.x * op->stride_x - op->before_x + column * op->dilation_x;
  const int y = at.y * op->stride_y - op->before_y + row * op->dilation_y;
  const bool is_inside = x >= 0 && y >= 0 && x < op->in_width && y < op->in_height;
  return is_inside ? *(global const float4*)(first + y * row_floats + x * op->pixel_step) : (float4)0;
}

// A quad of a depthwise convolution.
inline float4 depthwise(const Work* work, const Op* op, int quad, int p, int2 at, global const float* restrict weights) {
  const int2 place = work->places[op->places + (quad >> 2)];
  const int taps = op->kernel_x * op->kernel_y;
  float4 sum = *(global const float4*)(weights + op->bias + 4 * quad);
  global const float* w = weights + op->weights + ((quad >> 2) * taps * BLOCK + 4 * (quad & 3));
#define ADD(value, tap) sum = fma(value, *(global const float4*)(w + (tap) * BLOCK), sum)
  if (op->kernel_x == 3 && op->kernel_y == 3 && place.y >= 0) {
    // All loads are under way before the first sum.
    global const float* first = work->arena + place.x + 4 * (quad & 3);
#define READ(row, column) read_global_window(first, op, place.y, at, row, column)
    const float4 a0 = READ(0, 0), a1 = READ(0, 1), a2 = READ(0, 2);
    const float4 b0 = READ(1, 0), b1 = READ(1, 1), b2 = READ(1, 2);
    const float4 c0 = READ(2, 0), c1 = READ(2, 1), c2 = READ(2, 2);
    ADD(a0, 0), ADD(a1, 1), ADD(a2, 2);
    ADD(b0, 3), ADD(b1, 4), ADD(b2, 5);
    ADD(c0, 6), ADD(c1, 7), ADD(c2, 8);
    return sum;
  }
#pragma unroll 1
  for (int tap = 0; tap < taps; ++tap)
    ADD(read_window(work, op, place, quad, p, at, tap / op->kernel_x, tap % op->kernel_x, (float4)0), tap);
  return sum;
}

inline float4 pool(const Work* work, const Op* op, int quad, int p, int2 at) {
  const int2 place = work->places[op->places + (quad >> 2)];
  float4 largest = -INFINITY;
#pragma unroll 1
  for (int row = 0; row < op->kernel_y; ++row) {
#pragma unroll 1
    for (int column = 0; column < op->kernel_x; ++column)
      largest = larger(largest, read_window(work, op, place, quad, p, at, row, column, (float4)(-INFINITY)));
  }
  return largest;
}

inline float4 average(const Work* work, const Op* op, int quad, int p, int2 at, global const int* restrict tables) {
  const int2 place = work->places[op->places + (quad >> 2)];
  float4 sum = 0;
#pragma unroll 1
  for (int row = 0; row < op->kernel_y; ++row) {
#pragma unroll 1
    for (int column = 0; column < op->kernel_x; ++column)
      sum += read_window(work, op, place, quad, p, at, row, column, (float4)0);
  }
  const float count = as_float(tables[op->bias + at.y]) * as_float(tables[op->weights + at.x]);
  return sum / (count < 1.0f ? 1.0f : count);
}

inline float4 pad(const Work* work, const Op* op, int quad, int p, int2 at) {
  return read_window(work, op, work->places[op->places + (quad >> 2)], quad, p, at, 0, 0, (float4)op->a);
}

inline float4 mix_quads(float4 a, float4 b, float weight) { return fma(b - a, (float4)weight, a); }

// `columns` and `rows` are lists of a first and a second place, and of the second's weight, in `tables`.
inline float4 resize(const Work* work, const Op* op, int quad, int p, int2 at, global const int* restrict tables) {
  const int2 place = work->places[op->places + (quad >> 2)];
  global const int* column = tables + op->weights + 3 * at.x;
  global const int* row = tables + op->bias + 3 * at.y;
  const float4 upper = read_quad(work, place, quad, p, column[0], row[0], op->pixel_step);
  if (!op->operation) return upper;
  const float right = as_float(column[2]), below = as_float(row[2]);
  return mix_quads(
      mix_quads(upper, read_quad(work, place, quad, p, column[1], row[0], op->pixel_step), right),
      mix_quads(read_quad(work, place, quad, p, column[0], row[1], op->pixel_step),
                read_quad(work, place, quad, p, column[1], row[1], op->pixel_step), right),
      below);
}

inline float4 binary(const Work* work, const Op* op, int quad, int p, int2 at, global const float* restrict weights) {
  const float4 a = read_quad(work, work->places[op->places + (quad >> 2)], quad, p, at.x, at.y, op->pixel_step);
  if (op->other_kind == 3) return a;
  float4 b;
  if (op->other_kind == 2) {
    b = *(global const float4*)(weights + op->other + 4 * quad);
  } else {
    const bool is_single = op->other_kind == 1;
    b = read_quad(work, work->places[op->other + (quad >> 2)], quad, is_single ? 0 : p, is_single ? 0 : at.x,
                  is_single ? 0 : at.y, BLOCK);
  }
  return op->operation == 0 ? a + b : op->operation == 1 ? a - b : a * b;
}

// A source of one channel at a pixel.
inline float read_one(const Work* work, int2 place, int p, int2 at, int pixel_step) {
  return place.y < 0 ? work->tile[place.x - p * place.y] : work->arena[place.x + at.y * place.y + at.x * pixel_step];
}

// Sums of every 16th pixel of a whole map, by lane and channel; then their mean.
inline float4 sum_lane(const Work* work, const Op* op, int quad, int lane) {
  const int2 place = work->places[op->places + (quad >> 2)];
  float4 sum = 0;
#pragma unroll 1
  for (int i = lane; i < op->in_width * op->in_height; i += 16) {
    const int y = i / op->in_width;
    sum += read_quad(work, place, quad, 0, i - y * op->in_width, y, op->pixel_step);
  }
  return sum;
}
inline float4 mean_of_lanes(const Work* work, const Op* op, int quad) {
  local const float* lanes = work->tile + op->local_at + 4 * quad;
#define LANE(l) (*(local const float4*)(lanes + (l)*op->local_pitch))
#define LANES_2(l) (LANE(l) + LANE(l + 8))
#define LANES_4(l) (LANES_2(l) + LANES_2(l + 4))
#define LANES_8(l) (LANES_4(l) + LANES_4(l + 2))
  return (LANES_8(0) + LANES_8(1)) / (float)(op->in_width * op->in_height);
}

// `places` and `tables` describe sources; see level_tables.hpp.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void level(
    global float* arena, long frame_floats, int groups, global const Chain* restrict chains,
    int first_chain, int chain_count,
    global const Op* restrict ops, global const int2* restrict places, global const int* restrict tables,
    global const float* restrict weights) {
  local float tile[LOCAL_FLOATS] __attribute__((aligned(16)));
  local float unused;
  local int cache[CACHED_OPS * OP_WORDS];
  const int item = get_local_id(0);
  const int frame = get_group_id(0) / groups, group = get_group_id(0) - frame * groups;
  int number = first_chain;
  while (number + 1 < first_chain + chain_count && chains[number + 1].first_group <= group) ++number;
  const Chain chain = chains[number];
  Work work;
  work.arena = arena + frame * frame_floats;
  work.tile = tile;
  work.places = places;
  work.first = (group - chain.first_group) << chain.tile_shift;
  work.count = min(1 << chain.tile_shift, chain.pixels - work.first);
  work.width = chain.width;
  work.width_inverse = chain.width_inverse;
  // Brings the weights near, while the first operations wait for their sources.
  float near = 0;
#pragma unroll 1
  for (int k = 32 * item; k < chain.weight_floats; k += 32 * GROUP) near += weights[chain.weights + k];
  if (as_int(near) == 0x7fc12345) unused = near;
  float4 sums[8];
#pragma unroll 1
  for (int i = 0; i < chain.ops; ++i) {
    const int cached = i % CACHED_OPS;
    if (cached == 0) {
      const int words = min(CACHED_OPS, chain.ops - i) * OP_WORDS;
      for (int k = item; k < words; k += GROUP) cache[k] = ((global const int*)(ops + chain.first_op + i))[k];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    const Op one = ((local const Op*)cache)[cached];
    const Op* op = &one;
    if (op->kind == STAGE) {
      stage(&work, op, chain.tile_shift, item);
    } else if (op->kind == STAGE_QUADS) {
      stage_quads(&work, op, chain.tile_shift, item);
    } else if (op->kind == MULTIPLY) {
      multiply(&work, op, chain.tile_shift, item, weights, sums);
    } else if (op->kind == MEAN_LANES) {
#pragma unroll 1
      for (int k = item; k < 16 * op->count; k += GROUP)
        *(local float4*)(tile + op->local_at + k / op->count * op->local_pitch + 4 * (k % op->count)) =
            sum_lane(&work, op, k % op->count, k / op->count);
    } else if (op->kind == PACK || op->kind == PLACE) {
      // Neighbouring work-items write what lies side by side.
      const bool by_channel = op->column_step != 1;
#pragma unroll 1
      for (int k = item; k < op->count << chain.tile_shift; k += GROUP) {
        const int c = by_channel ? k % op->count : k >> chain.tile_shift;
        const int p = by_channel ? k / op->count : k & ((1 << chain.tile_shift) - 1);
        if (p >= work.count) continue;
        const int2 at = place_of_pixel(&work, p);
        const int to = op->kind == PACK ? op->out + c * op->out_block : op->out + tables[op->bias + c];
        work.arena[to + at.y * op->row_step + at.x * op->column_step] =
            read_one(&work, places[op->places + c], p, at, op->pixel_step);
      }
    } else {
#pragma unroll 1
      for (int k = item; k < op->count << chain.tile_shift; k += GROUP) {
        const Place here = place_of_item(k, chain.tile_shift);
        if (here.p >= work.count) continue;
        const int2 at = place_of_pixel(&work, here.p);
        float4 value;
        if (op->kind == DEPTHWISE) {
          value = depthwise(&work, op, here.quad, here.p, at, weights);
        } else if (op->kind == BINARY) {
          value = binary(&work, op, here.quad, here.p, at, weights);
        } else if (op->kind == POOL) {
          value = pool(&work, op, here.quad, here.p, at);
        } else if (op->kind == AVERAGE) {
          value = average(&work, op, here.quad, here.p, at, tables);
        } else if (op->kind == PAD) {
          value = pad(&work, op, here.quad, here.p, at);
        } else if (op->kind == RESIZE) {
          value = resize(&work, op, here.quad, here.p, at, tables);
        } else if (op->kind == MEAN) {
          value = mean_of_lanes(&work, op, here.quad);
        } else {  // COPY
#define COPIED(c)                                                                                          \
  4 * here.quad + c < op->outputs                                                                          \
      ? read_one(&work, places[op->places + 4 * here.quad + c], here.p, at, op->pixel_step) \
      : 0
          value = (float4)(COPIED(0), COPIED(1), COPIED(2), COPIED(3));
        }
        write_quad(&work, op, here.quad, here.p, at, finish(&work, op, here.quad, here.p, at, value));
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}
