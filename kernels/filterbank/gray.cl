// Gray: packed colour to luma; the formula of src/image/gray.hpp, bit for bit. A work-item makes four
// neighbouring pixels.
//
// Build options: PIXEL (bytes a pixel, 3 or 4), RED (place of the red byte, 0 or 2).

inline uchar luma(global const uchar* row, int x) {
  global const uchar* pixel = row + PIXEL * x;
  return (uchar)((77 * pixel[RED] + 150 * pixel[1] + 29 * pixel[2 - RED] + 128) >> 8);
}

// The target's rows are padded to four pixels; padding gets the last pixel again. Strides and offset are in
// bytes.
kernel void gray(global const uchar* restrict packed, int packed_stride, global uchar* restrict target,
                 int target_offset, int target_stride, int width, int height) {
  const int x = 4 * (int)get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  global const uchar* row = packed + y * packed_stride;
  const int last = width - 1;
  const uchar4 pixels = (uchar4)(luma(row, x), luma(row, min(x + 1, last)), luma(row, min(x + 2, last)),
                                 luma(row, min(x + 3, last)));
  vstore4(pixels, 0, target + target_offset + y * target_stride + x);
}
