#include "texture/tiles/samples.hpp"

#include <cmath>
#include <cstring>

namespace sightline::tiles {

namespace {

template <typename T>
T value_at(const std::uint8_t* raw, std::int64_t index) {
  T value;
  std::memcpy(&value, raw + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

// 8 bits or fewer, from the highest of a byte on.
int small_value_at(const std::uint8_t* raw, std::int64_t index, int bits) {
  const std::int64_t bit = index * bits;
  return raw[bit / 8] >> (8 - bits - bit % 8) & ((1 << bits) - 1);
}

// 9 to 15 bits, in a row as these.
int packed_value_at(const std::uint8_t* raw, std::int64_t index, int bits) {
  const std::int64_t bit = index * bits;
  const int end = static_cast<int>(bit % 8) + bits;  // end bit in up to three bytes
  const std::uint8_t* const from = raw + bit / 8;
  const int value = from[0] << 16 | from[1] << 8 | (end > 16 ? from[2] : 0);
  return value >> (24 - end) & ((1 << bits) - 1);
}

/// @param sample  from its index to its value
template <typename Sample>
void spread(const SampleFormat& format, const Sample& sample, int step, int pixels, int count,
            std::uint8_t* out, int out_step) {
  const double black = format.range.first, scale = 255 / (format.range.second - black);
  for (int i = 0; i < pixels; ++i) {
    for (int c = 0; c < count; ++c) {
      const double value = (static_cast<double>(sample(std::int64_t{i} * step + c)) - black) * scale + 0.5;
      // NaN fails every comparison.
      out[std::int64_t{i} * out_step + c] = static_cast<std::uint8_t>(value >= 255 ? 255
                                                                      : value >= 0 ? std::floor(value)
                                                                                   : 0);
    }
  }
}

void look_up(const SampleFormat& format, const std::uint8_t* raw, int step, int pixels, std::uint8_t* out,
             int out_step) {
  for (int i = 0; i < pixels; ++i) {
    const int value = small_value_at(raw, std::int64_t{i} * step, format.bits);
    std::memcpy(out + std::int64_t{i} * out_step, format.palette[static_cast<std::size_t>(value)].data(),
                out_step == 3 ? 3 : 1);
  }
}

void stretch(const SampleFormat& format, const std::uint8_t* raw, int step, int pixels, int count,
             std::uint8_t* out, int out_step) {
  const int scale = 255 / ((1 << format.bits) - 1);
  for (int i = 0; i < pixels; ++i) {
    for (int c = 0; c < count; ++c) {
      const int value = small_value_at(raw, std::int64_t{i} * step + c, format.bits) * scale;
      out[std::int64_t{i} * out_step + c] =
          static_cast<std::uint8_t>(format.white_is_zero ? 255 - value : value);
    }
  }
}

}  // namespace

void convert_samples(const SampleFormat& format, const std::uint8_t* raw, int step, int pixels, int count,
                     std::uint8_t* out, int out_step) {
  using Kind = SampleFormat::Kind;
  if (!format.palette.empty()) return look_up(format, raw, step, pixels, out, out_step);
  const auto spread_as = [&]<typename T>(T) {
    const auto sample = [raw](std::int64_t index) { return value_at<T>(raw, index); };
    spread(format, sample, step, pixels, count, out, out_step);
  };
  switch (format.bits) {
    case 10:
    case 12:
    case 14: {
      const auto sample = [&](std::int64_t index) { return packed_value_at(raw, index, format.bits); };
      return spread(format, sample, step, pixels, count, out, out_step);
    }
    case 16:
      return format.kind == Kind::natural ? spread_as(std::uint16_t{}) : spread_as(std::int16_t{});
    case 32:
      if (format.kind == Kind::real) return spread_as(float{});
      return format.kind == Kind::natural ? spread_as(std::uint32_t{}) : spread_as(std::int32_t{});
    case 64:
      return spread_as(double{});
    default:
      if (format.kind == Kind::integer) return spread_as(std::int8_t{});
      return stretch(format, raw, step, pixels, count, out, out_step);
  }
}

}  // namespace sightline::tiles
