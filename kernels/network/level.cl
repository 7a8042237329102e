// One level of a network: chains of operations, each on the same pixels of a map, as tables describe them. A work-group
// takes a tile of a chain's pixels; what the chain alone needs stays in local memory.
//
// Build options:
//   GROUP         work-items
//   LOCAL_FLOATS  of local memory
//
// Maps in global memory are as src/detectors/network/plan.hpp lays them out: blocks of 16 channels, or planes. Maps in
// local memory have a row of channels for each pixel of the tile.

#define BLOCK 16

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

// An operation; mirrors struct Op there.
typedef struct {
  int kind;
  int places;                // first of the sources' in `places`
  int count;                 // of sources: channels, or blocks of them
  int pixel_step;            // floats from pixel to pixel of a source in global memory
  int in_width, in_height;
  int stride_x, stride_y, before_x, before_y, dilation_x, dilation_y, kernel_x, kernel_y;
  int first_tap, taps;       // of the kernel, to stage
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
  int out_pitch;             // above 0: local
  int out, out_block, out_row;
  int row_step, column_step; // PLACE
} Op;

// A chain; mirrors struct ChainTable there.
typedef struct {
  int first_group;  // of a frame's
  int first_op, ops;
  int tile_pixels, pixels, width;
  uint width_inverse;  // 2^32 / width, rounded up
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
  if (op->out_pitch > 0) {
    *(local float4*)(work->tile + op->out + p * op->out_pitch + 4 * quad) = value;
  } else {
    *(global float4*)(work->arena + op->out + (quad >> 2) * op->out_block + at.y * op->out_row + BLOCK * at.x +
                      4 * (quad & 3)) = value;
  }
}

// Activation and sum of a quad.
inline float4 finish(const Work* work, const Op* op, int quad, int p, int2 at, float4 value) {
  if (op->added < 0) return activate(value, op->activation, op->a, op->b);
  const float4 added = read_quad(work, work->places[op->added + (quad >> 2)], quad, p, at.x, at.y, BLOCK);
  if (op->added_first) return activate(value + added, op->activation, op->a, op->b);
  return activate(value, op->activation, op->a, op->b) + added;
}

// Sources of some of a convolution's taps, by pixel, tap and channel: columns in the order of its sum.
inline void stage(const Work* work, const Op* op, int tile_pixels, int item) {
  const int columns = (op->count + 3) & ~3;
  for (int i = item; i < columns * tile_pixels; i += GROUP) {
    const int p = i / columns, c = i - p * columns;
    const int2 at = place_of_pixel(work, p);
    const int2 place = work->places[op->places + min(c, op->count - 1)];
    local float* to = work->tile + op->local_at + p * op->local_pitch + c;
    const bool is_there = p < work->count && c < op->count;
    for (int t = 0; t < op->taps; ++t, to += columns) {
      const int ky = (op->first_tap + t) / op->kernel_x, kx = op->first_tap + t - ky * op->kernel_x;
      const int x = at.x * op->stride_x - op->before_x + kx * op->dilation_x;
      const int y = at.y * op->stride_y - op->before_y + ky * op->dilation_y;
      float value = 0;
      if (is_there && x >= 0 && y >= 0 && x < op->in_width && y < op->in_height)
        value = place.y < 0 ? work->tile[place.x - p * place.y] : work->arena[place.x + y * place.y + x * op->pixel_step];
      *to = value;
    }
  }
}

// The same of four channels at once, which lie side by side.
inline void stage_quads(const Work* work, const Op* op, int tile_pixels, int item) {
  const int quads = op->count >> 2;
  for (int i = item; i < quads * tile_pixels; i += GROUP) {
    const int p = i / quads, quad = i - p * quads;
    const int2 at = place_of_pixel(work, p);
    const int2 place = work->places[op->places + quad];
    local float* to = work->tile + op->local_at + p * op->local_pitch + 4 * quad;
    for (int t = 0; t < op->taps; ++t, to += op->count) {
      const int ky = (op->first_tap + t) / op->kernel_x, kx = op->first_tap + t - ky * op->kernel_x;
      const int x = at.x * op->stride_x - op->before_x + kx * op->dilation_x;
      const int y = at.y * op->stride_y - op->before_y + ky * op->dilation_y;
      float4 value = 0;
      if (p < work->count && x >= 0 && y >= 0 && x < op->in_width && y < op->in_height)
        value = read_quad(work, place, 0, p, x, y, op->pixel_step);
      *(local float4*)to = value;
    }
  }
}

// One value of a result, with what quads get in `finish`.
inline void finish_one(const Work* work, const Op* op, int channel, int p, int2 at, float value) {
  const int block = channel / BLOCK, lane = channel % BLOCK;
  float added = 0;
  if (op->added >= 0) {
    const int2 place = work->places[op->added + block];
    added = place.y < 0 ? work->tile[place.x - p * place.y + lane]
                        : work->arena[place.x + at.y * place.y + at.x * BLOCK + lane];
    if (op->added_first) value += added;
  }
  value = activate(value, op->activation, op->a, op->b).x;
  if (op->added >= 0 && !op->added_first) value += added;
  if (op->out_pitch > 0) {
    work->tile[op->out + p * op->out_pitch + channel] = value;
  } else {
    work->arena[op->out + block * op->out_block + at.y * op->out_row + BLOCK * at.x + lane] = value;
  }
}

// Adds the products of `depth` columns to a work-item's sums of P pixels, which lie `apart` from each other, and Q
// outputs.
#define DEFINE_MULTIPLY(P, Q)                                                                               \
  inline void multiply_##P##_##Q(const Work* work, const Op* op, int tile_pixels, int item,                 \
                                 global const float* restrict weights, float* sums) {                       \
    const int across = op->outputs / Q, apart = tile_pixels / P;                                            \
    const int first = item / across, output = (item - first * across) * Q;                                  \
    if (first >= apart) return;                                                                             \
    if (op->begins) {                                                                                       \
      _Pragma("unroll") for (int p = 0; p < P; ++p) LOAD_##Q((sums + p * Q), weights + op->bias + output);  \
    }                                                                                                       \
    local const float* columns = work->tile + op->local_at + first * op->local_pitch;                       \
    global const float* w = weights + op->weights + output;                                                 \
    const int step = apart * op->local_pitch, row = op->weight_row, depth = op->depth;                      \
    for (int k = 0; k < depth; k += 4, w += 4 * row) {                                                      \
      float x[P][4], v[4][Q];                                                                               \
      _Pragma("unroll") for (int i = 0; i < 4; ++i) LOAD_##Q(v[i], w + i * row);                            \
      _Pragma("unroll") for (int p = 0; p < P; ++p)                                                         \
          vstore4(*(local const float4*)(columns + p * step + k), 0, x[p]);                                 \
      _Pragma("unroll") for (int i = 0; i < 4; ++i) {                                                       \
        _Pragma("unroll") for (int p = 0; p < P; ++p) {                                                     \
          _Pragma("unroll") for (int q = 0; q < Q; ++q) sums[p * Q + q] =                                   \
              fma(x[p][i], v[i][q], sums[p * Q + q]);                                                       \
        }                                                                                                   \
      }                                                                                                     \
    }                                                                                                       \
    if (!op->ends) return;                                                                                  \
    _Pragma("unroll") for (int p = 0; p < P; ++p) {                                                         \
      const int pixel = first + p * apart;                                                                  \
      if (pixel < work->count)                                                                              \
        FINISH_##Q(work, op, op->first_output + output, pixel, place_of_pixel(work, pixel), sums + p * Q);  \
    }                                                                                                       \
  }
#define LOAD_1(v, w) (v)[0] = *(w)
#define LOAD_2(v, w) vstore2(*(global const float2*)(w), 0, v)
#define LOAD_4(v, w) vstore4(*(global const float4*)(w), 0, v)
#define FINISH_1(work, op, output, pixel, at, sums) finish_one(work, op, output, pixel, at, (sums)[0])
#define FINISH_2(work, op, output, pixel, at, sums)           \
  {                                                           \
    finish_one(work, op, output, pixel, at, (sums)[0]);       \
    finish_one(work, op, (output) + 1, pixel, at, (sums)[1]); \
  }
#define FINISH_4(work, op, output, pixel, at, sums) \
  write_quad(work, op, (output) / 4, pixel, at, finish(work, op, (output) / 4, pixel, at, vload4(0, sums)))
DEFINE_MULTIPLY(1, 1)
DEFINE_MULTIPLY(2, 1)
DEFINE_MULTIPLY(4, 1)
DEFINE_MULTIPLY(4, 2)
DEFINE_MULTIPLY(4, 4)
DEFINE_MULTIPLY(8, 4)

// A quad of a depthwise convolution.
inline float4 depthwise(const Work* work, const Op* op, int quad, int p, int2 at, global const float* restrict weights) {
  const int2 place = work->places[op->places + (quad >> 2)];
  const int taps = op->kernel_x * op->kernel_y;
  float4 sum = *(global const float4*)(weights + op->bias + 4 * quad);
  global const float* w = weights + op->weights + ((quad >> 2) * taps * BLOCK + 4 * (quad & 3));
  for (int ky = 0; ky < op->kernel_y; ++ky) {
    const int y = at.y * op->stride_y - op->before_y + ky * op->dilation_y;
    for (int kx = 0; kx < op->kernel_x; ++kx, w += BLOCK) {
      const int x = at.x * op->stride_x - op->before_x + kx * op->dilation_x;
      float4 value = 0;
      if (x >= 0 && y >= 0 && x < op->in_width && y < op->in_height)
        value = read_quad(work, place, quad, p, x, y, op->pixel_step);
      sum = fma(value, *(global const float4*)w, sum);
    }
  }
  return sum;
}

inline float4 pool(const Work* work, const Op* op, int quad, int p, int2 at) {
  const int2 place = work->places[op->places + (quad >> 2)];
  float4 largest = -INFINITY;
  for (int ky = 0; ky < op->kernel_y; ++ky) {
    const int y = at.y * op->stride_y - op->before_y + ky;
    if (y < 0 || y >= op->in_height) continue;
    for (int kx = 0; kx < op->kernel_x; ++kx) {
      const int x = at.x * op->stride_x - op->before_x + kx;
      if (x >= 0 && x < op->in_width) largest = larger(largest, read_quad(work, place, quad, p, x, y, op->pixel_step));
    }
  }
  return largest;
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
  for (int i = lane; i < op->in_width * op->in_height; i += 16) {
    const int y = i / op->in_width;
    sum += read_quad(work, place, quad, 0, i - y * op->in_width, y, op->pixel_step);
  }
  return sum;
}
inline float4 mean_of_lanes(const Work* work, const Op* op, int quad) {
  float4 lanes[16];
  for (int l = 0; l < 16; ++l)
    lanes[l] = *(local const float4*)(work->tile + op->local_at + l * op->local_pitch + 4 * quad);
  for (int apart = 8; apart > 0; apart /= 2) {
    for (int l = 0; l < apart; ++l) lanes[l] += lanes[l + apart];
  }
  return lanes[0] / (float)(op->in_width * op->in_height);
}

// `places` and `tables` describe sources; see level_tables.hpp.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void level(
    global float* arena, long frame_floats, int groups, global const Chain* restrict chains,
    int first_chain, int chain_count,
    global const Op* restrict ops, global const int2* restrict places, global const int* restrict tables,
    global const float* restrict weights) {
  local float tile[LOCAL_FLOATS] __attribute__((aligned(16)));
  const int item = get_local_id(0);
  const int frame = get_group_id(0) / groups, group = get_group_id(0) - frame * groups;
  int number = first_chain;
  while (number + 1 < first_chain + chain_count && chains[number + 1].first_group <= group) ++number;
  const Chain chain = chains[number];
  Work work;
  work.arena = arena + frame * frame_floats;
  work.tile = tile;
  work.places = places;
  work.first = (group - chain.first_group) * chain.tile_pixels;
  work.count = min(chain.tile_pixels, chain.pixels - work.first);
  work.width = chain.width;
  work.width_inverse = chain.width_inverse;
  float sums[32];
  for (int i = 0; i < chain.ops; ++i) {
    const Op one = ops[chain.first_op + i];
    const Op* op = &one;
    if (op->kind == STAGE) {
      stage(&work, op, chain.tile_pixels, item);
    } else if (op->kind == STAGE_QUADS) {
      stage_quads(&work, op, chain.tile_pixels, item);
    } else if (op->kind == MULTIPLY) {
      switch (op->tile) {
        case 8 << 8 | 4: multiply_8_4(&work, op, chain.tile_pixels, item, weights, sums); break;
        case 4 << 8 | 4: multiply_4_4(&work, op, chain.tile_pixels, item, weights, sums); break;
        case 4 << 8 | 2: multiply_4_2(&work, op, chain.tile_pixels, item, weights, sums); break;
        case 4 << 8 | 1: multiply_4_1(&work, op, chain.tile_pixels, item, weights, sums); break;
        case 2 << 8 | 1: multiply_2_1(&work, op, chain.tile_pixels, item, weights, sums); break;
        default: multiply_1_1(&work, op, chain.tile_pixels, item, weights, sums); break;
      }
    } else if (op->kind == MEAN_LANES) {
      for (int k = item; k < 16 * op->count; k += GROUP)
        *(local float4*)(tile + op->local_at + k / op->count * op->local_pitch + 4 * (k % op->count)) =
            sum_lane(&work, op, k % op->count, k / op->count);
    } else if (op->kind == PACK || op->kind == PLACE) {
      for (int k = item; k < op->count * work.count; k += GROUP) {
        // Neighbouring work-items write what lies side by side.
        const bool by_channel = op->column_step != 1;
        const int c = by_channel ? k % op->count : k / work.count, p = by_channel ? k / op->count : k % work.count;
        const int2 at = place_of_pixel(&work, p);
        const int to = op->kind == PACK ? op->out + c * op->out_block : op->out + tables[op->bias + c];
        work.arena[to + at.y * op->row_step + at.x * op->column_step] =
            read_one(&work, places[op->places + c], p, at, op->pixel_step);
      }
    } else {
      for (int k = item; k < op->count * work.count; k += GROUP) {
        const int p = k / op->count, quad = k - p * op->count;
        const int2 at = place_of_pixel(&work, p);
        float4 value;
        if (op->kind == DEPTHWISE) {
          value = depthwise(&work, op, quad, p, at, weights);
        } else if (op->kind == BINARY) {
          value = binary(&work, op, quad, p, at, weights);
        } else if (op->kind == POOL) {
          value = pool(&work, op, quad, p, at);
        } else if (op->kind == RESIZE) {
          value = resize(&work, op, quad, p, at, tables);
        } else if (op->kind == MEAN) {
          value = mean_of_lanes(&work, op, quad);
        } else {  // COPY
          float4 copied = 0;
          float* lanes = (float*)&copied;
          for (int c = 0; c < 4; ++c) {
            if (4 * quad + c < op->outputs)
              lanes[c] = read_one(&work, places[op->places + 4 * quad + c], p, at, op->pixel_step);
          }
          value = copied;
        }
        write_quad(&work, op, quad, p, at, finish(&work, op, quad, p, at, value));
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}
