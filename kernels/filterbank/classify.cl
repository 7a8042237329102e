// Classify: the window sums of weight times feature, as a direct convolution over blocks.
//
// A work-item takes V neighbouring windows and ROWS rows of windows, for one cell of the blocks and one column of the
// window (the third dimension: 4 * BLOCKS_X parts). It walks down the feature rows once; each feature serves up to
// BLOCKS_Y window rows. Parts are added with integer atomics, so their order does not matter.
//
// Build options: BINS, BLOCKS_X, BLOCKS_Y (at most 16), V, ROWS, and how four products are summed:
//   DOT_PTX     NVIDIA's dp4a instruction            (V = 1)
//   DOT_KHR     cl_khr_integer_dot_product           (V = 1)
//   DOT_FLOAT   float multiply-adds: a part's sum stays below 2^24, exact (the vector form for CPUs)
//   otherwise   integer multiply-adds
// Weights: [block x][quad][16 block y], four signed bytes a word.

#define BY_PAD 16

#if defined(DOT_PTX)
inline int dot4(uint f, int w, int sum) {
  int result;
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(f), "r"(w), "r"(sum));
  return result;
}
#elif defined(DOT_KHR)
inline int dot4(uint f, int w, int sum) { return sum + dot_4x8packed_us_int(f, as_uint(w)); }
#else
inline intv dot4(uintv f, int w, intv sum) {
  const char4 b = as_char4(w);
  sum += AS_INT(f & 255u) * (int)b.s0;
  sum += AS_INT((f >> 8) & 255u) * (int)b.s1;
  sum += AS_INT((f >> 16) & 255u) * (int)b.s2;
  return sum + AS_INT(f >> 24) * (int)b.s3;
}
#endif

kernel void classify(global const uint* restrict features, constant Level* levels, global const Tile* restrict tiles,
                     global const int* restrict weights, global int* restrict scores) {
  const Tile tile = tiles[get_group_id(0)];
  constant Level* level = levels + tile.level;
  const int x = tile.x + V * (int)get_local_id(0);
  if (x >= level->windows_x) return;
  const int part = get_global_id(2);
  const int cell = part / BLOCKS_X;
  const int bx = part % BLOCKS_X;
  const int pitch = level->pitch;
  const int row_size = BINS * pitch;
  const int last_row = level->cells_y - 2;

#ifdef DOT_FLOAT
  floatv sum[ROWS];
#else
  intv sum[ROWS];
#endif
#pragma unroll
  for (int r = 0; r < ROWS; ++r) sum[r] = 0;

  for (int q = 0; q < BINS / 4; ++q) {
    const int quad = cell * (BINS / 4) + q;
    int w[BY_PAD];
    global const int* weight = weights + (bx * BINS + quad) * BY_PAD;
#pragma unroll
    for (int i = 0; i < BLOCKS_Y; ++i) w[i] = weight[i];
    global const uint* column = features + level->features_offset + quad * pitch + x + bx;
#pragma unroll
    for (int y = 0; y < ROWS + BLOCKS_Y - 1; ++y) {
      const uintv f = LOAD(column + min(tile.y + y, last_row) * row_size);
#ifdef DOT_FLOAT
      const floatv f0 = TO_FLOAT(f & 255u), f1 = TO_FLOAT((f >> 8) & 255u), f2 = TO_FLOAT((f >> 16) & 255u),
                   f3 = TO_FLOAT(f >> 24);
#endif
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const int by = y - r;
        if (by >= 0 && by < BLOCKS_Y) {
#ifdef DOT_FLOAT
          const float4 b = convert_float4(as_char4(w[by]));
          sum[r] = fma(f0, (floatv)(b.s0), fma(f1, (floatv)(b.s1), fma(f2, (floatv)(b.s2), fma(f3, (floatv)(b.s3), sum[r]))));
#else
          sum[r] = dot4(f, w[by], sum[r]);
#endif
        }
      }
    }
  }

#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (tile.y + r >= level->windows_y) continue;
    global int* score = scores + level->scores_offset + (tile.y + r) * pitch + x;
#if V == 1
#ifdef DOT_FLOAT
    atomic_add(score, convert_int(sum[r]));
#else
    atomic_add(score, sum[r]);
#endif
#else
    // The row is padded to whole vectors, so lanes past the last window hit padding.
    int part_sum[V];
    STORE(TO_INT(sum[r]), part_sum);
    for (int i = 0; i < V; ++i) atomic_add(score + i, part_sum[i]);
#endif
  }
}

// --- distance classifier: raw = -|f - t|^2 = 2 f.t - |t|^2 - |f|^2 ------------------------------------------------

// Squared length of each block's features; a work-item a block. Global size (widest pitch, 1, rows of all levels).
kernel void block_energies(global const uint* restrict features, constant Level* levels,
                           global const Tile* restrict rows, global int* restrict energies) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = get_global_id(0);
  if (x >= level->pitch) return;
  global const uint* column = features + level->features_offset + row.y * BINS * level->pitch + x;
  int energy = 0;
  for (int quad = 0; quad < BINS; ++quad) {
    const int4 f = convert_int4(as_uchar4(column[quad * level->pitch]));
    energy += f.s0 * f.s0 + f.s1 * f.s1 + f.s2 * f.s2 + f.s3 * f.s3;
  }
  energies[level->totals_offset + row.y * level->pitch + x] = energy;
}

// best = max(best, 2 * product - energy of the template); the product is set back to 0 for the next template.
kernel void keep_nearest(global int* restrict products, global int* restrict best, int count, int energy, int first) {
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
    for (int bx = 0; bx < BLOCKS_X; ++bx) energy += energies[level->totals_offset + (row.y + by) * level->pitch + x + bx];
  }
  scores[level->scores_offset + row.y * level->pitch + x] -= energy;
}
