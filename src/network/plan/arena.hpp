#pragma once
/// The arena: one piece of memory for all tensors between waves.

#include <vector>

#include "network/plan/storage.hpp"

namespace sightline::nn {

inline constexpr std::int64_t kSpareBytes = 64;  ///< a vector's width, for reads behind the end

/// Gives storages their offsets. Those of tensors that are needed in the same wave do not overlap. Returns
/// the size of all in bytes. @param spare  bytes behind each
std::int64_t place_in_arena(std::vector<Storage*> storages, std::int64_t spare = kSpareBytes);

/// Offsets of pieces of memory one behind the other; the last number is the end of all.
std::vector<std::int64_t> offsets_in_row(const std::vector<std::int64_t>& bytes);

/// Bytes rounded up, so that what follows is aligned, with some to spare.
std::int64_t aligned_bytes(std::int64_t bytes, std::int64_t spare = kSpareBytes);

}  // namespace sightline::nn
