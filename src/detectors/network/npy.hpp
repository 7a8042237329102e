#pragma once
/// Arrays of numbers in NumPy's files (.npy).

#include <filesystem>

#include "detectors/network/tensors.hpp"

namespace sightline::network {

/// Reads an array of float32, float64, int32 or int64, little-endian, in row-major order. Throws Error
/// (input).
Tensor read_npy(const std::filesystem::path& file);

}  // namespace sightline::network
