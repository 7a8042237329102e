#pragma once
/// The arena: one piece of memory for all tensors between waves.

#include <vector>

#include "network/plan/storage.hpp"

namespace sightline::nn {

/// Gives storages their offsets. Those of tensors that are needed in the same wave do not overlap. Returns
/// the size of all in bytes.
std::int64_t place_in_arena(std::vector<Storage*> storages);

/// Offsets of pieces of memory one behind the other; the last number is the end of all.
std::vector<std::int64_t> offsets_in_row(const std::vector<std::int64_t>& bytes);

/// Bytes rounded up, so that what follows is aligned, with a vector's width to spare for reads behind the
/// end.
std::int64_t aligned_bytes(std::int64_t bytes);

}  // namespace sightline::nn
