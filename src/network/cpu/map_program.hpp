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
  hard_swish_divided,  ///< x * clip(x + 3, 0, 6) / 6
  hard_swish_inner,    ///< x * (clip(x + 3, 0, 6) / 6)
  hard_swish_scaled,   ///< x * (clip(x + 3, 0, 6) * (1 / 6))
};

/// Place of a step's values: value i of a row is `bytes` * i bytes behind `offset` in one of the program's
/// memories.
struct MapValue {
  std::uint16_t memory = 0;
  std::uint16_t bytes = 0;  ///< of a value of an operand's or result's row; else 0
  std::uint32_t offset = 0;
  std::uint32_t step = 0;  ///< bytes from block to block; 0: one block repeats
};

struct MapStep {
  MapOperation operation = MapOperation::copy;
  std::array<MapValue, 3> arguments;
  MapValue result;
};

/// Runs steps on `blocks` blocks from value `first` on.
/// @param memories  by MapValue::memory
void run_map_steps(std::span<const MapStep> steps, std::byte* const* memories, std::size_t first,
                   std::size_t blocks);

}  // namespace sightline::nn
