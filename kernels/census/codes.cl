// Codes: the census transform of every pixel of every level. The code at a pixel is that of the 3x3 pixels
// whose upper left one it is, and with two planes behind it that of the 3x3 cells of 2x2 pixels.
//
// Build options:
//   ROWS                     rows of codes that a work-item makes, four pixels of each
//   GROUP, GROUP_ROWS        work-items of a work-group side by side, and one below the other
//   PLANES                   1 or 2
#include "image/census.clh"

#define PIXELS 4
#define CELLS (PIXELS + 4)  // cells of a row that the codes of PIXELS pixels compare

// The first eight cells of a row: means of 2x2 pixels.
inline void load_cells(global const uchar* row, int stride, uint* cells) {
  uint sums[CELLS + 1];
#pragma unroll
  for (int i = 0; i < CELLS + 1; ++i) sums[i] = (uint)row[i] + row[stride + i];
#pragma unroll
  for (int i = 0; i < CELLS; ++i) cells[i] = (sums[i] + sums[i + 1] + 2u) >> 2;
}

// A tile is GROUP * PIXELS pixels of GROUP_ROWS * ROWS rows of codes. Codes of neighbourhoods that do not lie
// in the image are of some pixels or other.
kernel __attribute__((reqd_work_group_size(GROUP, GROUP_ROWS, 1))) void codes(
    global const uchar* restrict images, global const PixelLevel* restrict levels,
    global const Tile* restrict tiles, global ushort* restrict codes) {
  const Tile tile = tiles[get_group_id(0)];
  global const PixelLevel* level = levels + tile.level;
  const int x = tile.x + PIXELS * (int)get_local_id(0);
  const int first = tile.y + ROWS * (int)get_local_id(1);
  if (x >= level->width) return;
  const int last = min(first + ROWS, tile.end);
  const int stride = level->image_stride;
  global const uchar* row = images + level->image_offset + first * stride + x;
  global ushort* to = CODES_AT(codes, level, x, first);
  uint rows[3][PIXELS + 2];
#define LOAD_ROW(into, from)                           \
  {                                                    \
    const uchar4 four = *(global const uchar4*)(from); \
    rows[into][0] = four.s0;                           \
    rows[into][1] = four.s1;                           \
    rows[into][2] = four.s2;                           \
    rows[into][3] = four.s3;                           \
    rows[into][4] = (from)[4];                         \
    rows[into][5] = (from)[5];                         \
  }
  if (first < last) {
    LOAD_ROW(1, row)
    LOAD_ROW(2, row + stride)
  }
#if PLANES == 2
  // Rows of cells below the image's last but one do not exist, and no code that anybody looks at needs them.
  uint cells[5][CELLS];
  const int last_cells = level->height - 2 - first;
  if (first < last) {
#pragma unroll
    for (int i = 0; i < 4; ++i) load_cells(row + min(i, last_cells) * stride, stride, cells[i + 1]);
  }
#endif
  for (int y = first; y < last; ++y) {
#pragma unroll
    for (int i = 0; i < PIXELS + 2; ++i) {
      rows[0][i] = rows[1][i];
      rows[1][i] = rows[2][i];
    }
    LOAD_ROW(2, row + 2 * stride)
    ushort made[PIXELS * PLANES];
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      uint pixels[9];
#pragma unroll
      for (int p = 0; p < 9; ++p) pixels[p] = rows[p / 3][i + p % 3];
      made[i * PLANES] = (ushort)census_code(pixels);
    }
#if PLANES == 2
#pragma unroll
    for (int i = 0; i < CELLS; ++i) {
#pragma unroll
      for (int r = 0; r < 4; ++r) cells[r][i] = cells[r + 1][i];
    }
    load_cells(row + min(4, level->height - 2 - y) * stride, stride, cells[4]);
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      uint pixels[9];
#pragma unroll
      for (int p = 0; p < 9; ++p) pixels[p] = cells[2 * (p / 3)][i + 2 * (p % 3)];
      made[i * PLANES + 1] = (ushort)census_code(pixels);
    }
    vstore8(vload8(0, made), 0, to);
#else
    vstore4(vload4(0, made), 0, to);
#endif
    row += stride;
    to += level->planes_stride;
  }
}
