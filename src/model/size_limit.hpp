#pragma once
/// Size limit of model files of all families.

namespace sightline {

/// Largest value of key `max_model_size`, in MiB. Each family has its own default.
inline constexpr int kLargestModelSize = 1 << 20;

}  // namespace sightline
