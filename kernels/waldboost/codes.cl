// Codes: local binary patterns of blocks, for every pixel of every level: a plane of bytes for each of the
// model's block sizes. The code at a pixel is that of the grid of 3x3 blocks whose upper left pixel it is.
//
// Build options:
//   ROWS                     rows of codes that a work-item makes, four pixels of each
//   GROUP, GROUP_ROWS        work-items of a work-group side by side, and one below the other
//   FEATURES_LBP, PLANES     see common.clh
//   PLANE_11, PLANE_21,      index of the plane for blocks of 1x1, 2x1, 1x2 and 2x2 pixels (width x height);
//   PLANE_12, PLANE_22       not defined if the model has no such blocks
//
// Sums of blocks are below 2^15, so that a word holds those of two blocks, two pixels apart, and one
// subtraction compares two pairs of them.

#define PIXELS 4               // pixels of a row per work-item
#define PAIRS 7                // pair k of a row: what belongs to pixels k and k + 2
#define LOW_BYTES 0x00FF00FFu  // low byte of both halves
#define SIGNS 0x80008000u

#if defined(PLANE_12) || defined(PLANE_22)
#define BELOW 5  // rows below a code's that it sees
#else
#define BELOW 2
#endif

// Uses vectors: compilers turn shifts into an instruction that oclgrind 21.10 does not know.
inline uint second_and_first(uint a, uint b) {
  return as_uint((ushort2)(as_ushort2(a).s1, as_ushort2(b).s0));
}

// Twelve pixels' pairs.
inline void load_pairs(global const uint* pixels, uint* pairs) {
  const uint a = pixels[0], b = pixels[1], c = pixels[2];
  pairs[0] = a & LOW_BYTES;
  pairs[1] = (a >> 8) & LOW_BYTES;
  pairs[4] = b & LOW_BYTES;
  pairs[5] = (b >> 8) & LOW_BYTES;
  pairs[2] = second_and_first(pairs[0], pairs[4]);
  pairs[3] = second_and_first(pairs[1], pairs[5]);
  pairs[6] = second_and_first(pairs[4], c & LOW_BYTES);
}

// In the upper bytes of both halves: codes of the grids that begin at pair k, of blocks `width` pixels wide.
inline uint code_pair(const uint* top, const uint* middle, const uint* bottom, int k, int width) {
  const uint less =
      SIGNS - middle[k + width];  // plus a sum: a half's sign is set where that is at least the middle's
  uint codes = (less + top[k]) & SIGNS;
  codes = codes >> 1 | ((less + top[k + width]) & SIGNS);
  codes = codes >> 1 | ((less + top[k + 2 * width]) & SIGNS);
  codes = codes >> 1 | ((less + middle[k + 2 * width]) & SIGNS);
  codes = codes >> 1 | ((less + bottom[k + 2 * width]) & SIGNS);
  codes = codes >> 1 | ((less + bottom[k + width]) & SIGNS);
  codes = codes >> 1 | ((less + bottom[k]) & SIGNS);
  return codes >> 1 | ((less + middle[k]) & SIGNS);
}

// Codes of four pixels.
inline uint code_quad(const uint* top, const uint* middle, const uint* bottom, int width) {
  const uint even = code_pair(top, middle, bottom, 0, width);
  const uint odd = code_pair(top, middle, bottom, 1, width);
  return ((even >> 8) & LOW_BYTES) | (odd & ~LOW_BYTES);
}

// A tile is GROUP * PIXELS pixels of GROUP_ROWS * ROWS rows of codes. Codes of grids that do not lie in the
// image are of some pixels or other.
kernel __attribute__((reqd_work_group_size(GROUP, GROUP_ROWS, 1))) void codes(
    global const uchar* restrict images, global const PixelLevel* restrict levels,
    global const Tile* restrict tiles, global uchar* restrict codes) {
  const Tile tile = tiles[get_group_id(0)];
  global const PixelLevel* level = levels + tile.level;
  const int x = tile.x + PIXELS * (int)get_local_id(0);
  const int y = tile.y + ROWS * (int)get_local_id(1);
  if (x >= level->width || y >= tile.end) return;
  const int image_stride = level->image_stride;
  const int last_row = level->last_row - 1;
  const int stride = level->planes_stride;
  global const uchar* pixels = images + level->image_offset + x;
  global uchar* to = codes + CORNER(level, x, y);

  uint one[ROWS + BELOW][PAIRS];     // pixels
  uint wide[ROWS + BELOW][PAIRS];    // sums of two side by side
  uint high[ROWS + BELOW][PAIRS];    // one below the other
  uint square[ROWS + BELOW][PAIRS];  // both
#pragma unroll
  for (int i = 0; i < ROWS + BELOW; ++i) {
    load_pairs((global const uint*)(pixels + min(y + i, last_row) * image_stride), one[i]);
#pragma unroll
    for (int k = 0; k < PAIRS; ++k) {
      wide[i][k] = k + 1 < PAIRS ? one[i][k] + one[i][k + 1] : 0;
      if (i > 0) {
        high[i - 1][k] = one[i - 1][k] + one[i][k];
        square[i - 1][k] = wide[i - 1][k] + wide[i][k];
      }
    }
    if (i >= 2 && i - 2 < ROWS && y + i - 2 < tile.end) {
      global uchar* row = to + (i - 2) * PLANES * stride;
#ifdef PLANE_11
      *(global uint*)(row + PLANE_11 * stride) = code_quad(one[i - 2], one[i - 1], one[i], 1);
#endif
#ifdef PLANE_21
      *(global uint*)(row + PLANE_21 * stride) = code_quad(wide[i - 2], wide[i - 1], wide[i], 2);
#endif
    }
    if (i >= 5 && y + i - 5 < tile.end) {
      global uchar* row = to + (i - 5) * PLANES * stride;
#ifdef PLANE_12
      *(global uint*)(row + PLANE_12 * stride) = code_quad(high[i - 5], high[i - 3], high[i - 1], 1);
#endif
#ifdef PLANE_22
      *(global uint*)(row + PLANE_22 * stride) = code_quad(square[i - 5], square[i - 3], square[i - 1], 2);
#endif
    }
  }
}
