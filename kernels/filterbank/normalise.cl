// Normalise: 8-bit block features, round(255 * sqrt(v) / sqrt(n)), from the roots of the cells' sums.
//
// Build options: BINS, PATTERN_BINS, V, EPSILON, and the variant:
//   VARIANT_BLOCKS  a work-item makes all features that V neighbouring blocks have of one of their four
//                   cells: every root is read by four work-items. Global size: (pitch / V of the widest
//                   level, 4, rows of blocks)
//   VARIANT_CELLS   a work-item reads roots of V neighbouring cells once, and writes them to the four blocks
//                   that share each cell. Global size: (pitch / V of the widest level, parts, rows of
//                   cells); a part takes every parts-th quad
//
// With PATTERN_BINS, the patterns' features of a block's first cell, round(255 * sqrt(count / 64)), follow those
// of its filters. `rows` maps the third dimension to a level.

#define CELL_BINS (BINS + PATTERN_BINS)
#define BLOCK_QUADS (BINS + PATTERN_BINS / 4)
#define PATTERN_FACTOR 31.875f  // 255 / sqrt(64): see kPatternFactor in src/detectors/filterbank/layout.hpp

// 255 / sqrt(n) for V blocks; `total` is that of the first block's upper left cell.
inline floatv block_factor(global const int* total, int pitch) {
  const intv sum =
      LOAD(total) + LOAD(total + 1) + LOAD(total + pitch) + LOAD(total + pitch + 1) + (intv)(EPSILON);
  const floatv quotient = (floatv)(255.0f) / sqrt(TO_FLOAT(sum));
  return sum > (intv)(0) ? quotient : (floatv)(0.0f);
}

inline uintv feature_of(floatv root, floatv factor) {
  return min(TO_UINT(rint(root * factor)), (uintv)(255u));
}

inline uintv quad_of(const floatv* roots, floatv factor) {
  return feature_of(roots[0], factor) | feature_of(roots[1], factor) << 8 |
         feature_of(roots[2], factor) << 16 | feature_of(roots[3], factor) << 24;
}

kernel void normalise(global const float* restrict roots, global const int* restrict totals,
                      constant Level* levels, global const Tile* restrict rows,
                      global uint* restrict features) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = V * (int)get_global_id(0);
  const int pitch = level->pitch;
  global const int* total = totals + level->totals_offset + row.y * pitch + x;
  global const float* root = roots + level->roots_offset + row.y * CELL_BINS * pitch + x;
  global uint* feature = features + level->features_offset + row.y * BLOCK_QUADS * pitch + x;
  floatv four[4];

#ifdef VARIANT_BLOCKS
  if (x >= pitch) return;
  const int cell = get_global_id(1);
  const floatv factor = block_factor(total, pitch);
#if PATTERN_BINS > 0
  // A block's patterns are those of its first cell; each of the four work-items takes a share of them.
  for (int quad = cell; quad < PATTERN_BINS / 4; quad += 4) {
    for (int i = 0; i < 4; ++i) four[i] = LOAD(root + (BINS + 4 * quad + i) * pitch);
    STORE(quad_of(four, (floatv)(PATTERN_FACTOR)), feature + (BINS + quad) * pitch);
  }
#endif
  root += cell / 2 * CELL_BINS * pitch + cell % 2;
  feature += cell * (BINS / 4) * pitch;
  for (int quad = 0; quad < BINS / 4; ++quad) {
    for (int i = 0; i < 4; ++i) four[i] = LOAD(root + (4 * quad + i) * pitch);
    STORE(quad_of(four, factor), feature + quad * pitch);
  }

#else
  // The first cell of a row has no blocks to its left: reads and writes there hit padding, the last column of
  // the row before (which no other work-item touches) or the slack before the first level.
  if (x >= level->cells_x) return;
  const bool above = row.y > 0, below = row.y < level->cells_y - 1;
  floatv upper_left = 0.0f, upper_right = 0.0f, lower_left = 0.0f, lower_right = 0.0f;
  if (above) {
    upper_left = block_factor(total - pitch - 1, pitch);
    upper_right = block_factor(total - pitch, pitch);
  }
  if (below) {
    lower_left = block_factor(total - 1, pitch);
    lower_right = block_factor(total, pitch);
  }
  const int cell_size = BINS / 4 * pitch;
  const int block_size = BLOCK_QUADS * pitch;
  const int parts = get_global_size(1);
  for (int quad = get_global_id(1); quad < BINS / 4; quad += parts) {
    for (int i = 0; i < 4; ++i) four[i] = LOAD(root + (4 * quad + i) * pitch);
    global uint* word = feature + quad * pitch;
    if (above) {  // the lower right and the lower left cell of the blocks above
      STORE(quad_of(four, upper_left), word - block_size + 3 * cell_size - 1);
      STORE(quad_of(four, upper_right), word - block_size + 2 * cell_size);
    }
    if (below) {
      STORE(quad_of(four, lower_left), word + cell_size - 1);
      STORE(quad_of(four, lower_right), word);
    }
  }
#if PATTERN_BINS > 0
  if (below) {  // for the block whose first cell it is
    for (int quad = get_global_id(1); quad < PATTERN_BINS / 4; quad += parts) {
      for (int i = 0; i < 4; ++i) four[i] = LOAD(root + (BINS + 4 * quad + i) * pitch);
      STORE(quad_of(four, (floatv)(PATTERN_FACTOR)), feature + (BINS + quad) * pitch);
    }
  }
#endif
#endif
}
