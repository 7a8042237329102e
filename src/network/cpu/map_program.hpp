#pragma once
/// Programs of a MapKernel: what map.cpp writes and map_simd.cpp runs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sightline::nn {

inline constexpr std::size_t kMapBlock = 16;  ///< values of which whole numbers are computed

/// Operations of steps. Within a program a boolean is a mask of 32 bits, none or all set.
enum class MapOperation : std::uint8_t {
#define FUNCTION(name, arguments, domain) name,
#include "network/function_list.inc"
#undef FUNCTION
  copy,
  spread,          ///< one value to a block
  load_boolean,    ///< bytes to masks
  spread_boolean,  ///< one byte to a block of masks
  store_boolean,   ///< masks to bytes
  equal_masks,
  less_masks,
  less_or_equal_masks,
  select_real,
  select_mask,
  to_boolean,
  to_real,
  // several nodes in one pass
  silu,               ///< x * sigmoid(x)
  add_relu,           ///< relu(a + b)
  subtract_multiply,  ///< (a - b) * c
  multiply_sum,       ///< a * b + c, each rounded
  square,
  cube,
  divide_exactly,           ///< a / b, where c = 1 / b and is_exact_divisor(b)
  hard_swish_inner,         ///< x * (clip(x + 3, 0, 6) / 6)
  hard_swish_outer,         ///< x * clip(x + 3, 0, 6) / 6
  hard_swish_scaled_inner,  ///< x * (clip(x + 3, 0, 6) * (1 / 6))
  hard_swish_scaled_outer,  ///< x * clip(x + 3, 0, 6) * (1 / 6)
};

/// Where values of a step are.
struct MapValue {
  enum class Place : std::uint8_t { operand, result, constant, scratch };
  Place place = Place::scratch;
  bool repeats = false;    ///< one block for all points
  std::uint8_t bytes = 4;  ///< of a value of an operand or result
  std::size_t offset = 0;  ///< number of the operand or result, else offset in bytes
};

struct MapStep {
  MapOperation operation = MapOperation::copy;
  std::array<MapValue, 3> arguments;
  MapValue result;
};

/// Memory that steps read and write.
struct MapMemory {
  const std::byte* const* operands;
  std::byte* const* results;
  const std::byte* constants;
  std::byte* scratch;
};

/// Runs steps on `blocks` blocks of the operands from value `first` on; those in scratch begin at their
/// offsets.
void run_map_steps(std::span<const MapStep> steps, const MapMemory& memory, std::size_t first,
                   std::size_t blocks);

/// Whether x / divisor is what `divide_exactly` computes for all x, which is tried for all mantissas (a few
/// milliseconds, once for each divisor). Thread-safe.
bool is_exact_divisor(float divisor);

}  // namespace sightline::nn
