// Normalise: 8-bit block features, round(255 * sqrt(v) / sqrt(n)), from the roots of the cells' sums.
//
// A work-item makes all features that V neighbouring blocks have of one of their four cells, so that the norm is
// computed once for them. Build options: BINS, V, EPSILON.
// Global size: (pitch / V of the widest level, 4, rows of blocks of all levels); `rows` maps the third to a level.

kernel void normalise(global const float* restrict roots, global const int* restrict totals, constant Level* levels,
                      global const Tile* restrict rows, global uint* restrict features) {
  const Tile row = rows[get_global_id(2)];
  constant Level* level = levels + row.level;
  const int x = V * (int)get_global_id(0);
  const int pitch = level->pitch;
  if (x >= pitch) return;
  const int cell = get_global_id(1);

  global const int* total = totals + level->totals_offset + row.y * pitch + x;
  const intv sum = LOAD(total) + LOAD(total + 1) + LOAD(total + pitch) + LOAD(total + pitch + 1) + (intv)(EPSILON);
  const floatv quotient = (floatv)(255.0f) / sqrt(TO_FLOAT(sum));
  const floatv factor = sum > (intv)(0) ? quotient : (floatv)(0.0f);

  global const float* root = roots + level->roots_offset + (row.y + cell / 2) * BINS * pitch + x + cell % 2;
  global uint* feature = features + level->features_offset + (row.y * BINS + cell * (BINS / 4)) * pitch + x;
  const uintv limit = (uintv)(255u);
  for (int bin = 0; bin < BINS; bin += 4) {
    uintv word = min(TO_UINT(rint(LOAD(root) * factor)), limit);
    word |= min(TO_UINT(rint(LOAD(root + pitch) * factor)), limit) << 8;
    word |= min(TO_UINT(rint(LOAD(root + 2 * pitch) * factor)), limit) << 16;
    word |= min(TO_UINT(rint(LOAD(root + 3 * pitch) * factor)), limit) << 24;
    STORE(word, feature);
    root += 4 * pitch;
    feature += pitch;
  }
}
