// A frame's pixels as a network's input: resized, placed and normalised, by the formulas of
// src/detectors/network/preprocessing.hpp. A work-item makes one value.

#define MIX_BITS 11
#define MIX_ONE (1u << MIX_BITS)

// `planes` of bytes lie one below the other. `axes` has, for each column and then each row of the frame's part, the
// first and the second place that are mixed and the second's weight. `values` has for each channel what the 256 bytes
// become, and then what surrounds the frame. Element (channel, y, x) of the input is
// channel * channel_step + (y * width + x) * pixel_step.
kernel void letterbox(global const uchar* restrict planes, int stride, int plane_rows, int swap,
                      global const int* restrict axes, global const float* restrict values, int left, int top,
                      int part_width, int part_height, int width, int height, int channels, int channel_step,
                      int pixel_step, global float* restrict input) {
  const int x = get_global_id(0), y = get_global_id(1), channel = get_global_id(2);
  if (x >= width || y >= height) return;
  float value = values[256 * channels + channel];
  const int column_at = x - left, row_at = y - top;
  if (column_at >= 0 && row_at >= 0 && column_at < part_width && row_at < part_height) {
    global const int* column = axes + 3 * column_at;
    global const int* row = axes + 3 * (part_width + row_at);
    global const uchar* plane = planes + (swap ? channels - 1 - channel : channel) * plane_rows * stride;
    global const uchar* upper = plane + row[0] * stride;
    global const uchar* lower = plane + row[1] * stride;
    const uint right = column[2], below = row[2];
    const uint sum = (upper[column[0]] * (MIX_ONE - right) + upper[column[1]] * right) * (MIX_ONE - below) +
                     (lower[column[0]] * (MIX_ONE - right) + lower[column[1]] * right) * below;
    value = values[256 * channel + ((sum + (1u << (2 * MIX_BITS - 1))) >> (2 * MIX_BITS))];
  }
  input[channel * channel_step + (y * width + x) * pixel_step] = value;
}
