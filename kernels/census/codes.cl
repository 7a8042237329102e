// Codes: the census transform of every pixel of every level. The code at a pixel is that of the 3x3 pixels
// whose upper left one it is.
//
// Build options:
//   ROWS                     rows of codes that a work-item makes, four pixels of each
//   GROUP, GROUP_ROWS        work-items of a work-group side by side, and one below the other
#include "image/census.clh"

#define PIXELS 4

// A tile is GROUP * PIXELS pixels of GROUP_ROWS * ROWS rows of codes. Codes of neighbourhoods that do not lie
// in the image are of some pixels or other.
kernel __attribute__((reqd_work_group_size(GROUP, GROUP_ROWS, 1))) void codes(
    global const uchar* restrict images, global const CensusLevel* restrict levels,
    global const Tile* restrict tiles, global ushort* restrict codes) {
  const Tile tile = tiles[get_group_id(0)];
  global const CensusLevel* level = levels + tile.level;
  const int x = tile.x + PIXELS * (int)get_local_id(0);
  const int first = tile.y + ROWS * (int)get_local_id(1);
  if (x >= level->width) return;
  const int last = min(first + ROWS, tile.end);
  const int stride = level->image_stride;
  global const uchar* row = images + level->image_offset + first * stride + x;
  global ushort* to = codes + (size_t)level->codes_offset * 32 + first * level->codes_stride + x;
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
  for (int y = first; y < last; ++y) {
#pragma unroll
    for (int i = 0; i < PIXELS + 2; ++i) {
      rows[0][i] = rows[1][i];
      rows[1][i] = rows[2][i];
    }
    LOAD_ROW(2, row + 2 * stride)
    ushort4 made;
    ushort* one = (ushort*)&made;
#pragma unroll
    for (int i = 0; i < PIXELS; ++i) {
      uint pixels[9];
#pragma unroll
      for (int p = 0; p < 9; ++p) pixels[p] = rows[p / 3][i + p % 3];
      one[i] = (ushort)census_code(pixels);
    }
    *(global ushort4*)to = made;
    row += stride;
    to += level->codes_stride;
  }
}
