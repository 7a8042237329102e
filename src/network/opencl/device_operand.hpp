#pragma once
/// Operands of kernels: the text that reads an element, whatever views lie between.

#include <cstdint>
#include <string>
#include <vector>

#include "network/plan/operand.hpp"

namespace sightline::nn {

/// How addresses depend on the point.
struct PointForm {
  enum class Kind : std::uint8_t {
    none,      ///< all points have one address
    own,       ///< step * g
    pixels,    ///< row_step * (y >> shift) + step * (x >> shift)
    factored,  ///< the sum of step * (g / inner % size) over factors
    listed,    ///< list[g]
  };
  struct Part {
    std::int64_t inner = 1, size = 1, step = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };
  Kind kind = Kind::none;
  std::int64_t step = 0, row_step = 0;
  int shift = 0;
  std::vector<Part> factors;  ///< the last one has all that is left
  std::vector<std::int32_t> list;

  /// @param points  addresses by point; INT32_MIN of those that do not matter
  /// @param width   of the map that the points are; 0: of none
  static PointForm of(const std::vector<std::int32_t>& points, std::int64_t width);
  bool is_multiple_of(std::int64_t floats) const;
  friend bool operator==(const PointForm&, const PointForm&) = default;
};

/// Neighbouring channels of an operand that lie in one stored tensor, either in blocks of 16 or in steps.
struct ChannelRun {
  std::int64_t begin = 0, end = 0;  ///< channels of the operand
  int tensor = kNone;
  std::int64_t base = 0;        ///< floats from the tensor's start to the block of channel `begin`
  std::int64_t lane = 0;        ///< of channel `begin` in its block
  std::int64_t block_step = 0;  ///< 0: channels are `step` floats apart, and `lane` is 0
  std::int64_t step = 1;        ///< 0: all are the same
  bool is_block = false;        ///< whether the tensor lies in blocks
  std::int64_t number = 0;      ///< of channel `begin` in its tensor, of those in blocks
  PointForm points;
};

struct DeviceOperand {
  enum class Kind : std::uint8_t {
    constant,  ///< `values`
    quads,     ///< runs in which four channels lie side by side
    channels,  ///< few runs
    listed,    ///< many runs, with a place and a step for each channel
    elements,  ///< a place for each element
  };
  Kind kind = Kind::constant;
  std::int64_t count = 0, points = 0;
  std::vector<ChannelRun> runs;
  // Kind::constant alone:
  bool by_point = false, by_channel = false;
  std::vector<float> values;  ///< by point, then channel, of those that matter
  // Kind::elements alone, by point, then channel:
  std::vector<Operand::Channel> elements;
  std::vector<int> tensors;  ///< that Operand::Channel::source counts

  /// Whether it can be read in local memory where that has the points of a tile.
  bool reads_local(int tensor) const;
  std::int64_t quads() const { return (count + 3) / 4; }
};

/// A tensor, repeated up to a shape, by the points and channels of a layout of that shape.
/// @param width  of the map that the points are; 0: of none
DeviceOperand device_operand(const Graph& graph, const Stored& stored, int tensor, const Shape& shape,
                             const Layout& layout, std::int64_t width);

}  // namespace sightline::nn
