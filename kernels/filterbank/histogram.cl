// Histogram: the responses of each cell summed by index; the square roots of the sums, and their total, both
// scaled to 64 responses a cell. The tables have the cells' edges: 8 pixels apart if the level has responses of
// its own.
//
// A tile is CELLS neighbouring cells of one row. Sums are integers, so their order does not matter.
// Build options: BINS, PATTERN_BINS (0: patterns are not counted; both multiples of 4), CELLS, the variant:
//   VARIANT_OWNER   a work-item a cell: no two touch the same sum (work-group CELLS x 1)
//   VARIANT_ATOMIC  a work-item for every eighth column of a cell's pixels, integer atomics in local memory
//                   (work-group 8 * CELLS x 1)
//   VARIANT_RACY    as ATOMIC without the atomics, as published: loses responses. Inexact; for measurements only.

#define CELL_BINS (BINS + PATTERN_BINS)

#if PATTERN_BINS > 0
#define RESPONSE(packed_response) ((int)((packed_response) >> 8 & 0xFFFFu))
#else
#define RESPONSE(packed_response) ((int)((packed_response) >> 8))
#endif

// A response for one of CELLS cells of which no other work-item counts responses now.
inline void add_response(uint packed_response, local int* sums) {
  sums[(packed_response & 255u) * CELLS] += RESPONSE(packed_response);
#if PATTERN_BINS > 0
  ++sums[(BINS + (packed_response >> 24)) * CELLS];
#endif
}

kernel void histogram(global const uint* restrict response_map, constant Level* levels, global const Tile* restrict tiles,
                      global const int* restrict tables, global float* restrict roots, global int* restrict totals) {
  local int sums[CELL_BINS * CELLS];
  const Tile tile = tiles[get_group_id(0)];
  constant Level* level = levels + tile.level;
  const int item = get_local_id(0);
  const int items = get_local_size(0);
  for (int i = item; i < CELL_BINS * CELLS; i += items) sums[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  global const uint* image = response_map + level->response_map_offset;
  global const int* columns = tables + level->cell_columns_offset + tile.x;
  global const int* rows = tables + level->cell_rows_offset + tile.y;
  const int top = rows[0];
  const int bottom = rows[1];
#ifdef VARIANT_OWNER
  if (tile.x + item < level->cells_x) {
    const int begin = columns[item];
    const int end = columns[item + 1];
    for (int y = top; y < bottom; ++y) {
      global const uint* row = image + y * level->response_map_stride;
      if (end - begin != 8) {
        for (int x = begin; x < end; ++x) add_response(row[x], sums + item);
        continue;
      }
      const uint8 packed_response = vload8(0, row + begin);
      add_response(packed_response.s0, sums + item);
      add_response(packed_response.s1, sums + item);
      add_response(packed_response.s2, sums + item);
      add_response(packed_response.s3, sums + item);
      add_response(packed_response.s4, sums + item);
      add_response(packed_response.s5, sums + item);
      add_response(packed_response.s6, sums + item);
      add_response(packed_response.s7, sums + item);
    }
  }
#else
  const int cell = item / 8;
  if (tile.x + cell < level->cells_x) {
    const int end = columns[cell + 1];
    for (int y = top; y < bottom; ++y) {
      for (int x = columns[cell] + item % 8; x < end; x += 8) {
        const uint packed_response = image[y * level->response_map_stride + x];
        local int* sum = sums + (packed_response & 255u) * CELLS + cell;
#ifdef VARIANT_RACY
        *sum += RESPONSE(packed_response);
#else
        atomic_add(sum, RESPONSE(packed_response));
#endif
#if PATTERN_BINS > 0
        atomic_inc(sums + (BINS + (packed_response >> 24)) * CELLS + cell);
#endif
      }
    }
  }
#endif
  barrier(CLK_LOCAL_MEM_FENCE);

  local float scales[CELLS];
  if (item < CELLS) {
    const bool there = tile.x + item < level->cells_x;
    const int pixels = there ? (columns[item + 1] - columns[item]) * (bottom - top) : 1;
    scales[item] = 64.0f / convert_float(pixels);
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  // Padding cells get zeros: the pitch is a multiple of CELLS, and a tile never passes it.
  global float* root = roots + level->roots_offset + tile.y * CELL_BINS * level->pitch + tile.x;
  for (int i = item; i < CELL_BINS * CELLS; i += items) {
    root[(i / CELLS) * level->pitch + i % CELLS] = sqrt(convert_float(sums[i]) * scales[i % CELLS]);
  }
  if (item < CELLS) {
    int total = 0;
    for (int bin = 0; bin < BINS; ++bin) total += sums[bin * CELLS + item];
    totals[level->totals_offset + tile.y * level->pitch + tile.x + item] =
        convert_int(ceil(convert_float(total) * scales[item]));
  }
}
