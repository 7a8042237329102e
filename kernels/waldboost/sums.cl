// Sums: of blocks of pixels, for LRP and LRD, for every pixel of every level: a plane of words of 16 bits for
// each block size that the model has. The sum at a pixel is that of the block whose upper left pixel it is.
//
// Build options: ROWS, GROUP, GROUP_ROWS and PLANE_... as codes.cl's, and those of common.clh.
//
// Why not the ranks of all nine blocks in a word, as the CPU has them (src/detectors/waldboost/ranks.hpp):
// that is 16 bytes a pixel with four block sizes instead of 8, 12 million pixels of a frame of 1920x1080, and
// 81 comparisons for each pixel and size, about 600 operations. A look at a window is nine loads that
// neighbours share and 18 comparisons, about 50 operations, of which detectors need 2 (alpha 0.2) to 12
// (0.01) a window.

#define PIXELS 4  // pixels of a row per work-item

#if defined(PLANE_12) || defined(PLANE_22)
#define BELOW 1  // rows below a sum's that it sees
#else
#define BELOW 0
#endif

// A tile is GROUP * PIXELS pixels of GROUP_ROWS * ROWS rows. Sums of blocks that do not lie in the image are
// of some pixels or other.
kernel __attribute__((reqd_work_group_size(GROUP, GROUP_ROWS, 1))) void sums(
    global const uchar* restrict images, global const PixelLevel* restrict levels,
    global const Tile* restrict tiles, global Element* restrict sums) {
  const Tile tile = tiles[get_group_id(0)];
  global const PixelLevel* level = levels + tile.level;
  const int x = tile.x + PIXELS * (int)get_local_id(0);
  const int y = tile.y + ROWS * (int)get_local_id(1);
  if (x >= level->width || y >= tile.end) return;
  const int last_row = level->last_row - 1;
  global const uchar* pixels = images + level->image_offset + x;
  global Element* to = sums + CORNER(level, x, y);
  ushort4 one = (ushort4)(0), wide = (ushort4)(0);  // row above: pixels, and sums of two neighbours
  for (int i = 0; i < ROWS + BELOW; ++i) {
    global const uchar* row = pixels + min(y + i, last_row) * level->image_stride;
    const ushort4 above = one, above_wide = wide;
    one = convert_ushort4(vload4(0, row));
    wide = one + (ushort4)(one.s1, one.s2, one.s3, row[PIXELS]);
    if (i < ROWS && y + i < tile.end) {
      global Element* row_sums = to + i * PLANES * level->planes_stride;
#ifdef PLANE_11
      vstore4(one, 0, row_sums + PLANE_11 * level->planes_stride);
#endif
#ifdef PLANE_21
      vstore4(wide, 0, row_sums + PLANE_21 * level->planes_stride);
#endif
    }
    if (i > 0 && y + i - 1 < tile.end) {
      global Element* row_sums = to + (i - 1) * PLANES * level->planes_stride;
#ifdef PLANE_12
      vstore4(above + one, 0, row_sums + PLANE_12 * level->planes_stride);
#endif
#ifdef PLANE_22
      vstore4(above_wide + wide, 0, row_sums + PLANE_22 * level->planes_stride);
#endif
    }
  }
}
