// Integral images: sums along rows, then sums of these down the columns; tilted sums along the two diagonals.
// They equal those of `integrate` in src/image/integral.hpp bit for bit; all sums wrap around. The host's side
// is src/opencl/integrals.hpp.
//
// ROW_ITEMS work-items make a row, ROW_PIXELS pixels each at a time; a row of one level is a tile.

#include "image/integral.clh"

// A level on the sheet. Mirrors struct IntegralLevel on the host. Offsets are in bytes of the images and in elements
// of a plane.
typedef struct {
  int width;                       // width of the image, in pixels
  int image_offset, image_stride;  // bytes
  int origin, step;                // origin and step of the integrals
} IntegralLevel;

#define CHUNK (ROW_ITEMS * ROW_PIXELS)

// Sums of a row's pixels up to each column, and of their squares.
kernel __attribute__((reqd_work_group_size(ROW_ITEMS, 1, 1))) void row_sums(
    global const uchar* restrict images, global const IntegralLevel* restrict levels,
    global const Tile* restrict tiles, int stride, int plane, global Element* restrict integrals) {
  local uint totals[PLANES][2][ROW_ITEMS];
  local uint sums[PLANES][CHUNK];
  const Tile tile = tiles[get_group_id(0)];
  global const IntegralLevel* level = levels + tile.level;
  const int item = get_local_id(0);
  global const uchar* row = images + level->image_offset + tile.y * level->image_stride;
  global Element* target = integrals + level->origin + (tile.y + 1) * stride;
  if (item == 0) {
    for (int p = 0; p < PLANES; ++p) target[p * plane] = 0;
  }
  uint before[PLANES];  // sums of the chunks so far
  for (int p = 0; p < PLANES; ++p) before[p] = 0;
  for (int start = 0; start < level->width; start += CHUNK) {
    uint total[PLANES];
    for (int p = 0; p < PLANES; ++p) total[p] = 0;
    for (int i = 0; i < ROW_PIXELS; ++i) {
      const int x = start + item * ROW_PIXELS + i;
      const uint pixel = x < level->width ? row[x] : 0;
      for (int p = 0; p < PLANES; ++p) {
        total[p] += p == 0 ? pixel : pixel * pixel;
        sums[p][item * ROW_PIXELS + i] = total[p];
      }
    }
    for (int p = 0; p < PLANES; ++p) totals[p][0][item] = total[p];
    barrier(CLK_LOCAL_MEM_FENCE);
    int from = 0;
    for (int apart = 1; apart < ROW_ITEMS; apart *= 2) {
      for (int p = 0; p < PLANES; ++p) {
        totals[p][1 - from][item] =
            totals[p][from][item] + (item >= apart ? totals[p][from][item - apart] : 0);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      from = 1 - from;
    }
    // Neighbouring work-items write neighbouring elements.
    const int count = min(CHUNK, level->width - start);
    for (int i = item; i < count; i += ROW_ITEMS) {
      const int left = i / ROW_PIXELS;
      const int place = column_of(level->step, start + i + 1, stride / 2);
      for (int p = 0; p < PLANES; ++p) {
        const uint carried = before[p] + (left > 0 ? totals[p][from][left - 1] : 0);
        target[p * plane + place] = (Element)(sums[p][i] + carried);
      }
    }
    for (int p = 0; p < PLANES; ++p) before[p] += totals[p][from][ROW_ITEMS - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

#define BATCH 16  // rows that are on their way at once

// Column sums of the output of row_sums. A tile has as many columns of a level as a work-group has items, in
// rows tile.y to tile.end of its image; planes are along the second dimension.
kernel void column_sums(global const IntegralLevel* restrict levels, global const Tile* restrict tiles,
                        int stride, int plane, global Element* restrict integrals) {
  const Tile tile = tiles[get_group_id(0)];
  global const IntegralLevel* level = levels + tile.level;
  const int x = tile.x + (int)get_local_id(0);
  if (x > level->width) return;
  global Element* column = integrals + (int)get_global_id(1) * plane + level->origin +
                           tile.y * stride + column_of(level->step, x, stride / 2);
  const int rows = tile.end - tile.y;
  Element sum = 0;
  column[0] = 0;
  column += stride;
  for (int y = 0; y < rows; y += BATCH) {
    Element values[BATCH];
    for (int i = 0; i < BATCH; ++i) values[i] = y + i < rows ? column[(y + i) * stride] : 0;
    for (int i = 0; i < BATCH; ++i) {
      sum += values[i];
      if (y + i < rows) column[(y + i) * stride] = sum;
    }
  }
}

#ifdef TILTED
// A tilted sum T(X, Y) is the one before it on the diagonal and two more anti-diagonals of pixels:
//   T(X, Y) = T(X - 1, Y - 1) + B(X - 1, Y - 1),  B(x, y) = A(x, y) + A(x, y - 1),
//   A(x, y) = pixel(x, y) + A(x + 1, y - 1), that is B(x, y) = pixel(x, y) + pixel(x, y - 1) + B(x + 1, y -
//   1).

// B, to `diagonals`, with the layout of a plane of the integrals. A tile has as many anti-diagonals as a
// work-group has items, in rows tile.y to tile.end; x is the column in which one begins, in the first row.
kernel void anti_diagonals(global const uchar* restrict images, global const IntegralLevel* restrict levels,
                           global const Tile* restrict tiles, int stride, global uint* restrict diagonals) {
  const Tile tile = tiles[get_group_id(0)];
  global const IntegralLevel* level = levels + tile.level;
  const int rows = tile.end - tile.y;
  const int start = tile.x + (int)get_local_id(0);
  const int first = max(start - (level->width - 1), 0);  // row in which it enters the image
  const int last = min(start, rows - 1);
  global const uchar* image = images + level->image_offset + tile.y * level->image_stride;
  global uint* target = diagonals + level->origin + tile.y * stride;
  uint sum = 0;
  for (int y = first; y <= last; ++y) {
    const int x = start - y;
    sum += image[y * level->image_stride + x] + (y > 0 ? image[(y - 1) * level->image_stride + x] : 0);
    target[y * stride + column_of(level->step, x, stride / 2)] = sum;
  }
}

// T. Diagonals begin in the row of zeros at column tile.x + item - rows, which may lie left of the image;
// there, A(x, y) is A(0, y + x). `offset` is that of the plane.
kernel void diagonals(global const uint* restrict anti, global const IntegralLevel* restrict levels,
                      global const Tile* restrict tiles, int stride, int offset,
                      global uint* restrict integrals) {
  const Tile tile = tiles[get_group_id(0)];
  global const IntegralLevel* level = levels + tile.level;
  const int rows = tile.end - tile.y;
  const int start = tile.x + (int)get_local_id(0) - rows;
  if (start > level->width) return;
  global const uint* from = anti + level->origin + tile.y * stride;
  global uint* target = integrals + offset + level->origin + tile.y * stride;
  if (start >= 0) target[column_of(level->step, start, stride / 2)] = 0;
  uint sum = 0;
  for (int y = 1; y <= rows; ++y) {
    const int x = start + y;
    if (x > level->width) break;
    const int row = x > 0 ? y - 1 : y - 1 + x - 1;
    if (row >= 0) sum += from[row * stride + column_of(level->step, max(x - 1, 0), stride / 2)];
    if (x >= 0) target[y * stride + column_of(level->step, x, stride / 2)] = sum;
  }
}
#endif
