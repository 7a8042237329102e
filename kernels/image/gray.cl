// Gray: packed colour to luma; the formula of src/image/gray.hpp, bit for bit. A work-item makes four
// neighbouring pixels. There is a kernel for each format, so that a stream may change its own.

// `bytes` a pixel, and the red one's place among them.
inline uchar luma(global const uchar* row, int x, int bytes, int red) {
  global const uchar* pixel = row + bytes * x;
  return (uchar)((77 * pixel[red] + 150 * pixel[1] + 29 * pixel[2 - red] + 128) >> 8);
}

// The target's rows are padded to four pixels; padding gets the last pixel again. Strides and offset are in
// bytes.
inline void convert(global const uchar* restrict packed, int packed_stride, global uchar* restrict target,
                    int target_offset, int target_stride, int width, int height, int bytes, int red) {
  const int x = 4 * (int)get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  global const uchar* row = packed + y * packed_stride;
  const int last = width - 1;
  const uchar4 pixels =
      (uchar4)(luma(row, x, bytes, red), luma(row, min(x + 1, last), bytes, red),
               luma(row, min(x + 2, last), bytes, red), luma(row, min(x + 3, last), bytes, red));
  vstore4(pixels, 0, target + target_offset + y * target_stride + x);
}

#define GRAY_KERNEL(NAME, BYTES, RED)                                                                     \
  kernel void NAME(global const uchar* restrict packed, int packed_stride, global uchar* restrict target, \
                   int target_offset, int target_stride, int width, int height) {                         \
    convert(packed, packed_stride, target, target_offset, target_stride, width, height, BYTES, RED);      \
  }

GRAY_KERNEL(gray_rgb24, 3, 0)
GRAY_KERNEL(gray_bgr24, 3, 2)
GRAY_KERNEL(gray_rgba, 4, 0)
GRAY_KERNEL(gray_bgra, 4, 2)
