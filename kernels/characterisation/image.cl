// Codes of 3x3 pixels, as kernels of patterns and features make them: how a picture's neighbourhoods are read.
//
// IMAGE: from an image object (texture memory) by exact reads, instead of from a buffer; of words of 16 bits, as images
// of responses and of codes have them.
#ifdef IMAGE
constant sampler_t kNearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#define PICTURE read_only image2d_t picture
#define PIXEL(x, y) read_imagei(picture, kNearest, (int2)(x, y)).s0
#else
#define PICTURE global const short* restrict picture
#define PIXEL(x, y) (int)picture[(y)*width + (x)]
#endif

// A work-item makes the code of a pixel; those at the picture's edge have none.
kernel void codes(PICTURE, int width, int height, global uchar* restrict to) {
  const int x = (int)get_global_id(0) + 1, y = (int)get_global_id(1) + 1;
  if (x >= width - 1 || y >= height - 1) return;
  const int middle = PIXEL(x, y);
  uint code = 0;
#define BIT(bit, dx, dy) code |= (uint)(PIXEL(x + (dx), y + (dy)) >= middle) << (bit);
  BIT(0, -1, -1) BIT(1, 0, -1) BIT(2, 1, -1) BIT(3, 1, 0) BIT(4, 1, 1) BIT(5, 0, 1) BIT(6, -1, 1) BIT(7, -1, 0)
  to[y * width + x] = (uchar)code;
}
