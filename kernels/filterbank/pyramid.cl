// Pyramid: the frame halved again and again, and the levels resized from these octaves in fixed-point bilinear
// arithmetic. The formulas are those of src/image/pyramid.hpp, bit for bit.

// One work-item a pixel of the half.
kernel void halve(global const uchar* restrict source_base, int source_offset, int source_stride,
                  global uchar* restrict target_base, int target_offset, int target_stride, int width, int height) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  global const uchar* top = source_base + source_offset + 2 * y * source_stride + 2 * x;
  global const uchar* bottom = top + source_stride;
  const int sum = top[0] + top[1] + bottom[0] + bottom[1];
  target_base[target_offset + y * target_stride + x] = (uchar)((sum + 2) >> 2);
}

// A resize table's entry: the first sample's index in the upper bits, the second one's weight (0..64) in the lower eight.
#define FIRST(entry) ((entry) >> 8)
#define WEIGHT(entry) ((entry)&0xFF)

inline int sample(global const uchar* top, global const uchar* bottom, int column, int row_weight) {
  const int x = FIRST(column);
  const int w = WEIGHT(column);
  const int next = w == 0 ? x : x + 1;
  const int h0 = (top[x] * (64 - w) + top[next] * w + 8) >> 4;
  const int h1 = (bottom[x] * (64 - w) + bottom[next] * w + 8) >> 4;
  return (h0 * (64 - row_weight) + h1 * row_weight + 128) >> 8;
}

// Every level at once, with its border of replicated pixels: a tile is TILE_X x TILE_Y pixels of one level, which begins
// at (-4, -1); a work-item makes four neighbouring pixels.
kernel void resize(global const uchar* restrict octaves, global uchar* restrict images, constant Level* levels,
                   global const Tile* restrict tiles, global const int* restrict tables) {
  const Tile tile = tiles[get_group_id(0)];
  constant Level* level = levels + tile.level;
  const int x0 = tile.x + 4 * (int)get_local_id(0);
  const int y = tile.y + (int)get_local_id(1);
  if (y > level->height || x0 > level->width) return;
  const int row = tables[level->rows_offset + clamp(y, 0, level->height - 1)];
  global const uchar* top = octaves + level->source_offset + FIRST(row) * level->source_stride;
  global const uchar* bottom = WEIGHT(row) == 0 ? top : top + level->source_stride;
  global const int* columns = tables + level->columns_offset;
  uchar4 pixels;
  pixels.s0 = (uchar)sample(top, bottom, columns[clamp(x0, 0, level->width - 1)], WEIGHT(row));
  pixels.s1 = (uchar)sample(top, bottom, columns[clamp(x0 + 1, 0, level->width - 1)], WEIGHT(row));
  pixels.s2 = (uchar)sample(top, bottom, columns[clamp(x0 + 2, 0, level->width - 1)], WEIGHT(row));
  pixels.s3 = (uchar)sample(top, bottom, columns[clamp(x0 + 3, 0, level->width - 1)], WEIGHT(row));
  vstore4(pixels, 0, images + level->image_offset + y * level->image_stride + x0);
}
