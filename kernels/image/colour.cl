// Colour: planar RGB out of luma and chroma, or out of packed colour; the formulas of src/image/colour.hpp, bit
// for bit. A work-item makes four neighbouring pixels of each plane.

inline int multiply_15(int a, int b) { return (a * b + 0x4000) >> 15; }

inline uchar level(int sum) { return (uchar)clamp(min(sum, 32767) >> 6, 0, 255); }

// Planes lie one below the other, `stride` bytes a row. Rows are padded to four pixels; padding gets the last
// pixel again.
inline void store(uchar4 red, uchar4 green, uchar4 blue, global uchar* restrict rgb, int stride, int height,
                  int x, int y) {
  vstore4(red, 0, rgb + y * stride + x);
  vstore4(green, 0, rgb + (height + y) * stride + x);
  vstore4(blue, 0, rgb + (2 * height + y) * stride + x);
}

// `u_at` and `v_at` are the places of the first samples; `chroma_x` and `chroma_y` the picture's first pixel
// among those that the samples cover.
kernel void yuv_to_rgb(global const uchar* restrict luma, global const uchar* restrict chroma,
                       global uchar* restrict rgb, int stride, int width, int height, int u_at, int v_at,
                       int chroma_stride, int step, int shift_x, int shift_y, int chroma_x, int chroma_y,
                       int weight, int offset, int red_v, int green_u, int green_v, int blue_u) {
  const int x = 4 * (int)get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  global const uchar* samples = chroma + ((chroma_y + y) >> shift_y) * chroma_stride;
  uchar pixels[3][4];
  for (int i = 0; i < 4; ++i) {
    const int column = min(x + i, width - 1);
    const int at = ((chroma_x + column) >> shift_x) * step;
    const int sum = multiply_15(luma[y * stride + column] << 7, weight) + offset;
    const int cu = (samples[u_at + at] - 128) * 256, cv = (samples[v_at + at] - 128) * 256;
    pixels[0][i] = level(sum + multiply_15(cv, red_v));
    pixels[1][i] = level(sum + multiply_15(cu, green_u) + multiply_15(cv, green_v));
    pixels[2][i] = level(sum + multiply_15(cu, blue_u));
  }
  store(vload4(0, pixels[0]), vload4(0, pixels[1]), vload4(0, pixels[2]), rgb, stride, height, x, y);
}

// `bytes` a pixel, and the red one's place among them.
kernel void packed_to_rgb(global const uchar* restrict packed, global uchar* restrict rgb, int stride, int width,
                          int height, int bytes, int red) {
  const int x = 4 * (int)get_global_id(0);
  const int y = get_global_id(1);
  if (x >= width || y >= height) return;
  uchar pixels[3][4];
  for (int i = 0; i < 4; ++i) {
    global const uchar* pixel = packed + (y * width + min(x + i, width - 1)) * bytes;
    pixels[0][i] = pixel[red];
    pixels[1][i] = pixel[1];
    pixels[2][i] = pixel[2 - red];
  }
  store(vload4(0, pixels[0]), vload4(0, pixels[1]), vload4(0, pixels[2]), rgb, stride, height, x, y);
}
