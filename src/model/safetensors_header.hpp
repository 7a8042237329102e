#pragma once
/// The JSON header of a safetensors file, read without trust. Private to `model`.
/// Thread-safety: functions without state.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/safetensors.hpp"

namespace sightline {

/// Longest header read, in bytes; the limit of the format's own library.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;
/// Most arrays, and most texts of metadata: each takes more room in memory than in the header.
inline constexpr std::size_t kMaxSafetensorsEntries = 10'000;
/// Most dimensions of an array; keeps a hostile header from growing in memory.
inline constexpr std::size_t kMaxTensorRank = 32;

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::f32;
  TensorShape shape;        ///< lengths from 0 upwards
  std::uint64_t begin = 0;  ///< bytes from the start of the data; not checked here
  std::uint64_t end = 0;
};

/// The number type of that name in a file, where it is one of ours.
std::optional<DType> dtype_named(std::string_view name);

/// The arrays that a header lists, in its order; texts go to `metadata`. `file` is for messages.
/// Throws Error(model) if the header is not exactly of the form that the format prescribes: anything
/// nested deeper, repeated, missing or unknown ends the reading at once, so that no header costs more than
/// its length.
std::vector<SafetensorsEntry> parse_safetensors_header(const std::string& header, const std::string& file,
                                                       std::map<std::string, std::string>& metadata);

}  // namespace sightline
