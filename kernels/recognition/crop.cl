// Crops: faces out of a frame, turned and scaled, as src/faces/recognition/crop.hpp defines them. A work-item makes
// a pixel of a face's crop.

#define WEIGHT_ONE 128

inline int frame_pixel(global const uchar* luma, int stride, int width, int height, int x, int y) {
  return luma[clamp(y, 0, height - 1) * stride + clamp(x, 0, width - 1)];
}

// Mean of a square of the octave's size.
inline int mean_of(global const uchar* luma, int stride, int width, int height, int octave, int x, int y) {
  const int side = 1 << octave;
  int sum = (side * side) >> 1;
  for (int j = 0; j < side; ++j) {
    for (int i = 0; i < side; ++i) sum += frame_pixel(luma, stride, width, height, x * side + i, y * side + j);
  }
  return sum >> (2 * octave);
}

// `similarities` are octave, x, y, step_x, step_y of each face; `crops` are [face][row][column].
kernel void crop(global const uchar* restrict luma, int stride, int width, int height,
                 global const int* restrict similarities, int columns, int rows, global uchar* restrict crops) {
  const int column = get_global_id(0), row = get_global_id(1), face = get_global_id(2);
  if (column >= columns) return;
  global const int* from = similarities + 5 * face;
  const int x = from[1] + from[3] * column - from[4] * row;
  const int y = from[2] + from[4] * column + from[3] * row;
  const int right = (x >> 9) & (WEIGHT_ONE - 1), below = (y >> 9) & (WEIGHT_ONE - 1);
#define MEAN(dx, dy) mean_of(luma, stride, width, height, from[0], (x >> 16) + (dx), (y >> 16) + (dy))
  const int upper = MEAN(0, 0) * (WEIGHT_ONE - right) + MEAN(1, 0) * right;
  const int lower = MEAN(0, 1) * (WEIGHT_ONE - right) + MEAN(1, 1) * right;
#undef MEAN
  crops[(face * rows + row) * columns + column] =
      (uchar)((upper * (WEIGHT_ONE - below) + lower * below + (1 << 13)) >> 14);
}
