// Exact bilinear resampling: every level from the same source, bit for bit as `resample_rows` of
// src/image/resample.hpp does it. The host's side is src/opencl/pyramids.hpp.

// Mirrors struct SampledLevel on the host. Offsets are in bytes of the images and in entries of the tables.
typedef struct {
  int width, height;  // pixels
  int image_offset, image_stride;
  int columns_offset, rows_offset;
} SampledLevel;

inline uint mix_columns(global const uchar* row, int2 column) {
  const int next = column.s0 + (column.s1 != 0);
  return (uint)row[column.s0] * (uint)(256 - column.s1) + (uint)row[next] * (uint)column.s1;
}

// A tile has rows of work-items of one level, each of which makes four neighbouring pixels; those beyond the
// image's width are padding, rows from tile.end on are left out. A table's entry is a sample's place and the
// weight of the one after it, of 256.
kernel void resample(global const uchar* restrict source, int source_stride, global uchar* restrict images,
                     global const SampledLevel* restrict levels, global const Tile* restrict tiles,
                     global const int2* restrict tables) {
  const Tile tile = tiles[get_group_id(0)];
  global const SampledLevel* level = levels + tile.level;
  const int x = tile.x + 4 * (int)get_local_id(0);
  const int y = tile.y + (int)get_local_id(1);
  if (x >= level->width || y >= tile.end) return;
  const int2 row = tables[level->rows_offset + y];
  global const uchar* upper = source + row.s0 * source_stride;
  global const uchar* lower = upper + (row.s1 != 0 ? source_stride : 0);
  const uint down = (uint)row.s1;
  uchar4 pixels;
  uchar* pixel = (uchar*)&pixels;
  for (int i = 0; i < 4; ++i) {
    const int2 column = tables[level->columns_offset + min(x + i, level->width - 1)];
    pixel[i] =
        (uchar)((mix_columns(upper, column) * (256 - down) + mix_columns(lower, column) * down + 32768) >>
                16);
  }
  *(global uchar4*)(images + level->image_offset + y * level->image_stride + x) = pixels;
}
