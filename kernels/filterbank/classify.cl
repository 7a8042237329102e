// Classify: the window sums of weight times feature, as a direct convolution over blocks.
//
// A work-item takes V neighbouring windows and ROWS rows of windows, for one cell of the blocks and one
// column of the window (the third dimension: 4 * BLOCKS_X parts, and BLOCKS_X more for the patterns where
// there are any). Parts are added with integer atomics, so their order does not matter.
//
// Build options: BINS, PATTERN_BINS, BLOCKS_X, BLOCKS_Y (at most 16), V, ROWS, the variant:
//   VARIANT_PLAIN     one window, loops as in the textbook
//   VARIANT_UNROLLED  one window, the four features of a quad and the window's block rows unrolled
//   VARIANT_VECTOR    V x ROWS windows in registers; each feature is loaded once and serves up to BLOCKS_Y
//                     window rows
//   VARIANT_LOCAL     the same, the part's weights copied to local memory first
// and how four products are summed:
//   DOT_PTX      NVIDIA's dp4a instruction            (V = 1)
//   DOT_KHR      cl_khr_integer_dot_product           (V = 1)
//   DOT_FLOAT    float multiply-adds: a part's sum stays below 2^24, exact (the vector form for CPUs)
//   DOT_INTEGER  integer multiply-adds
// Weights: [block x][quad][16 block y], four signed bytes a word; a block's quads are those of its four cells,
// then the patterns'.
//
// With PRE_REJECTION, windows whose estimate (kernels project and pre-rejection) is below a threshold are
// skipped: RANK and SHIFT are those of class PreRejection in src/detectors/filterbank/kernels.hpp.

#define BY_PAD 16
#define CELL_QUADS (BINS / 4)  // quads of one cell of a block
#define PATTERN_QUADS (PATTERN_BINS / 4)
#define BLOCK_QUADS (BINS + PATTERN_QUADS)
#define MOST_QUADS (CELL_QUADS > PATTERN_QUADS ? CELL_QUADS : PATTERN_QUADS)
#if PATTERN_BINS > 0
#define QUADS quads  // quads of the part
#else
#define QUADS CELL_QUADS
#endif

// `Quad` holds four features of V blocks for multiplication; `Sum` is the type of sums.
#if defined(DOT_PTX)
typedef uint Quad;
typedef int Sum;
inline Quad open_quad(uint f) {
  return f;
}
inline Sum dot4(Quad f, int w, Sum sum) {
  int result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(f), "r"(w), "r"(sum));
  return result;
}
#define TO_SCORE(sum) (sum)
#elif defined(DOT_KHR)
typedef uint Quad;
typedef int Sum;
inline Quad open_quad(uint f) {
  return f;
}
inline Sum dot4(Quad f, int w, Sum sum) {
  return sum + dot_4x8packed_us_int(f, as_uint(w));
}
#define TO_SCORE(sum) (sum)
#else
#if defined(DOT_FLOAT)
typedef floatv Sum;
#define TO_TERM(x) TO_FLOAT(x)
#define MULTIPLY_ADD(a, b, sum) fma((a), (floatv)(convert_float(b)), (sum))
#define TO_SCORE(sum) TO_INT(sum)
#else
typedef intv Sum;
#define TO_TERM(x) AS_INT(x)
#define MULTIPLY_ADD(a, b, sum) ((sum) + (a) * (intv)((int)(b)))
#define TO_SCORE(sum) (sum)
#endif
#if defined(VARIANT_PLAIN)
typedef uint Quad;
inline Quad open_quad(uint f) {
  return f;
}
inline Sum dot4(Quad f, int w, Sum sum) {
  for (int i = 0; i < 4; ++i) sum = MULTIPLY_ADD(TO_TERM((f >> (8 * i)) & 255u), (char)(w >> (8 * i)), sum);
  return sum;
}
#else
typedef struct {
  Sum f0, f1, f2, f3;
} Quad;
inline Quad open_quad(uintv f) {
  const Quad quad = {TO_TERM(f & 255u), TO_TERM((f >> 8) & 255u), TO_TERM((f >> 16) & 255u),
                     TO_TERM(f >> 24)};
  return quad;
}
inline Sum dot4(Quad f, int w, Sum sum) {
  const char4 b = as_char4(w);
  sum = MULTIPLY_ADD(f.f3, b.s3, sum);
  sum = MULTIPLY_ADD(f.f2, b.s2, sum);
  sum = MULTIPLY_ADD(f.f1, b.s1, sum);
  return MULTIPLY_ADD(f.f0, b.s0, sum);
}
#endif
#endif

kernel void classify(global const uint* restrict features, constant Level* levels,
                     global const Tile* restrict tiles, global const int* restrict weights,
#ifdef PRE_REJECTION
                     global const int* restrict estimates, int rejection_threshold,
#endif
                     global int* restrict scores) {
  const Tile tile = tiles[get_group_id(0)];
  constant Level* level = levels + tile.level;
  const int x = tile.x + V * (int)get_local_id(0);
  const int part = get_global_id(2);
  const int cell = part / BLOCKS_X;
  const int bx = part % BLOCKS_X;
  const int pitch = level->pitch;
  const int row_size = BLOCK_QUADS * pitch;
#if PATTERN_BINS > 0
  const int quads = cell < 4 ? CELL_QUADS : PATTERN_QUADS;
#endif

  global const int* part_weights = weights + (bx * BLOCK_QUADS + cell * CELL_QUADS) * BY_PAD;
#ifdef VARIANT_LOCAL
  local int weight[MOST_QUADS * BY_PAD];
  for (int i = get_local_id(0); i < QUADS * BY_PAD; i += get_local_size(0)) weight[i] = part_weights[i];
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  global const int* weight = part_weights;
#endif
  if (x >= level->windows_x) return;
#ifdef PRE_REJECTION
  bool promising = false;
  for (int r = 0; r < ROWS && tile.y + r < level->windows_y; ++r) {
    global const int* estimate = estimates + level->scores_offset + (tile.y + r) * pitch + x;
    for (int i = 0; i < V && x + i < level->windows_x; ++i) promising |= estimate[i] >= rejection_threshold;
  }
  if (!promising) return;
#endif
  global const uint* column = features + level->features_offset + cell * CELL_QUADS * pitch + x + bx;

#if defined(VARIANT_PLAIN)
  Sum sum = 0;
  for (int by = 0; by < BLOCKS_Y; ++by) {
    for (int q = 0; q < QUADS; ++q) {
      const uint f = column[(tile.y + by) * row_size + q * pitch];
      sum = dot4(open_quad(f), weight[q * BY_PAD + by], sum);
    }
  }
  atomic_add(scores + level->scores_offset + tile.y * pitch + x, TO_SCORE(sum));

#elif defined(VARIANT_UNROLLED)
  Sum sum = 0;
  for (int q = 0; q < QUADS; ++q) {
#pragma unroll
    for (int by = 0; by < BLOCKS_Y; ++by) {
      const uint f = column[(tile.y + by) * row_size + q * pitch];
      sum = dot4(open_quad(f), weight[q * BY_PAD + by], sum);
    }
  }
  atomic_add(scores + level->scores_offset + tile.y * pitch + x, TO_SCORE(sum));

#else
  const int last_row = level->cells_y - 2;
  Sum sum[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) sum[r] = 0;

  for (int q = 0; q < QUADS; ++q) {
    int w[BY_PAD];
#pragma unroll
    for (int i = 0; i < BLOCKS_Y; ++i) w[i] = weight[q * BY_PAD + i];
#pragma unroll
    for (int y = 0; y < ROWS + BLOCKS_Y - 1; ++y) {
      const Quad f = open_quad(LOAD(column + min(tile.y + y, last_row) * row_size + q * pitch));
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const int by = y - r;
        if (by >= 0 && by < BLOCKS_Y) sum[r] = dot4(f, w[by], sum[r]);
      }
    }
  }

#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (tile.y + r >= level->windows_y) continue;
    global int* score = scores + level->scores_offset + (tile.y + r) * pitch + x;
#if V == 1
    atomic_add(score, TO_SCORE(sum[r]));
#else
    // The row is padded to whole vectors, so lanes past the last window hit padding.
    int part_sum[V];
    STORE(TO_SCORE(sum[r]), part_sum);
    for (int i = 0; i < V; ++i) atomic_add(score + i, part_sum[i]);
#endif
  }
#endif
}

#ifdef PRE_REJECTION
// --- screen: an estimate of a window's sum from few components of its blocks ---------------------------------------

// Components of V neighbouring blocks along the basis ([quad][RANK], four signed bytes a word), as
// [block row][RANK][block x]. Global size (widest pitch / V, 1, rows of blocks).
kernel void project(global const uint* restrict features, constant Level* levels, global const Tile* restrict rows,
                    global const int* restrict basis, global int* restrict components) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = V * (int)get_global_id(0);
  const int pitch = level->pitch;
  if (x >= level->cells_x) return;
  global const uint* column = features + level->features_offset + row.y * BLOCK_QUADS * pitch + x;
  Sum sum[RANK];
#pragma unroll
  for (int r = 0; r < RANK; ++r) sum[r] = 0;
  for (int q = 0; q < BLOCK_QUADS; ++q) {
    const Quad f = open_quad(LOAD(column + q * pitch));
#pragma unroll
    for (int r = 0; r < RANK; ++r) sum[r] = dot4(f, basis[q * RANK + r], sum[r]);
  }
  global int* component = components + (level->totals_offset + row.y * pitch) * RANK + x;
#pragma unroll
  for (int r = 0; r < RANK; ++r)
    STORE((TO_SCORE(sum[r]) + (1 << (SHIFT - 1))) >> SHIFT, component + r * pitch);
}

// The sums of V neighbouring windows over component times weight ([block y][block x][RANK]). Global size
// (widest pitch / V, 1, rows of windows).
kernel void estimate(global const int* restrict components, constant Level* levels, global const Tile* restrict rows,
                   global const int* restrict weights, global int* restrict estimates) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = V * (int)get_global_id(0);
  const int pitch = level->pitch;
  if (x >= level->windows_x) return;
  intv sum = 0;
  for (int by = 0; by < BLOCKS_Y; ++by) {
    global const int* component = components + (level->totals_offset + (row.y + by) * pitch) * RANK + x;
    for (int bx = 0; bx < BLOCKS_X; ++bx, ++component) {
      for (int r = 0; r < RANK; ++r)
        sum += LOAD(component + r * pitch) * (intv)(weights[(by * BLOCKS_X + bx) * RANK + r]);
    }
  }
  STORE(sum, estimates + level->scores_offset + row.y * pitch + x);
}
#endif

// --- distance classifier: raw = -|f - t|^2 = 2 f.t - |t|^2 - |f|^2
// ------------------------------------------------

// Squared length of each block's features; a work-item a block. Global size (widest pitch, 1, rows of all
// levels).
kernel void block_energies(global const uint* restrict features, constant Level* levels,
                           global const Tile* restrict rows, global int* restrict energies) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = get_global_id(0);
  if (x >= level->pitch) return;
  global const uint* column = features + level->features_offset + row.y * BLOCK_QUADS * level->pitch + x;
  int energy = 0;
  for (int quad = 0; quad < BLOCK_QUADS; ++quad) {
    const int4 f = convert_int4(as_uchar4(column[quad * level->pitch]));
    energy += f.s0 * f.s0 + f.s1 * f.s1 + f.s2 * f.s2 + f.s3 * f.s3;
  }
  energies[level->totals_offset + row.y * level->pitch + x] = energy;
}

// best = max(best, 2 * product - energy of the template); the product is set back to 0 for the next template.
kernel void keep_nearest(global int* restrict products, global int* restrict best, int count, int energy,
                         int first) {
  const int i = get_global_id(0);
  if (i >= count) return;
  const int value = 2 * products[i] - energy;
  best[i] = first ? value : max(best[i], value);
  products[i] = 0;
}

// Takes each window's own energy off. Global size (widest pitch, 1, rows of windows of all levels).
kernel void subtract_energies(global const int* restrict energies, constant Level* levels,
                              global const Tile* restrict rows, global int* restrict scores) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = get_global_id(0);
  if (x >= level->windows_x) return;
  int energy = 0;
  for (int by = 0; by < BLOCKS_Y; ++by) {
    for (int bx = 0; bx < BLOCKS_X; ++bx)
      energy += energies[level->totals_offset + (row.y + by) * level->pitch + x + bx];
  }
  scores[level->scores_offset + row.y * level->pitch + x] -= energy;
}
