// Octave pyramid: the frame halved again and again, and the levels resized from these octaves in fixed-point
// bilinear arithmetic. The formulas are those of src/image/pyramid.hpp, bit for bit. The host's side is
// src/opencl/pyramids.hpp.
#include "image/octaves.clh"

// Mirrors struct Octave on the host. Offset and stride are multiples of 64 bytes.
typedef struct {
  int offset, stride, width, height;
} Octave;

#define OCTAVE_GROUP 16  // work-items a side of a work-group

inline int mean4(int a, int b, int c, int d) {
  return (a + b + c + d + 2) >> 2;
}

inline void store_pixel(global uchar* images, constant Octave* octave, int x, int y, int value) {
  if (x < octave->width && y < octave->height) images[octave->offset + y * octave->stride + x] = (uchar)value;
}

// Octaves first + 1 .. first + count, count at most 6, out of octave `first`. No pixel of an octave needs
// more than its own square of the first one, so that work-groups are independent: one takes 64x64 pixels, a
// work-item 4x4 of them, which are 2x2 pixels of the next octave and one of the next but one; the others
// follow through local memory. Pixels beyond an octave's edge (an odd last row or column is dropped) are
// computed from undefined data and not stored.
kernel void halve(global uchar* images, constant Octave* octaves, int first, int count) {
  local int means[OCTAVE_GROUP][OCTAVE_GROUP];
  constant Octave* octave = octaves + first;
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  const int column = min(4 * x, octave->stride - 4);
  int2 pair[2];  // [row]
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = min(4 * y + 2 * i, octave->height - 1);
    const int next = min(row + 1, octave->height - 1);
    global const uchar* from = images + octave->offset + column;
    const int4 sum = convert_int4(*(global const uchar4*)(from + row * octave->stride)) +
                     convert_int4(*(global const uchar4*)(from + next * octave->stride));
    pair[i] = (sum.even + sum.odd + 2) >> 2;
  }
  ++octave;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    store_pixel(images, octave, 2 * x, 2 * y + i, pair[i].s0);
    store_pixel(images, octave, 2 * x + 1, 2 * y + i, pair[i].s1);
  }

  // From here on every `step`-th work-item along each side has a pixel, made of four that lie `step / 2`
  // apart.
  const int lx = get_local_id(0);
  const int ly = get_local_id(1);
  int mean = mean4(pair[0].s0, pair[0].s1, pair[1].s0, pair[1].s1);
  for (int k = 2; k <= count; ++k) {
    const int step = 1 << (k - 2);
    const int apart = step / 2;
    if (((lx | ly) & (step - 1)) == 0) {
      if (k > 2)
        mean =
            mean4(means[ly][lx], means[ly][lx + apart], means[ly + apart][lx], means[ly + apart][lx + apart]);
      means[ly][lx] = mean;
      store_pixel(images, octaves + first + k, x / step, y / step, mean);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // reached by all work-items: `count` is the same for all
  }
}

// Every level at once, with its border of replicated pixels: a tile is a work-group's pixels of one level, the first
// of which begin at (-4, -1); a work-item makes four neighbouring pixels.
kernel void resize(global const uchar* restrict octaves, global uchar* restrict images,
                   constant ResizedLevel* levels, global const Tile* restrict tiles,
                   global const int* restrict tables) {
  const Tile tile = tiles[get_group_id(0)];
  constant ResizedLevel* level = levels + tile.level;
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
