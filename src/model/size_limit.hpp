#pragma once
/// How large a model file may be, whatever its family.

namespace sightline {

/// MiB: the most that key `max_model_size` may allow. What a family takes unless asked otherwise is its own.
inline constexpr int kLargestModelSize = 1 << 20;

}  // namespace sightline
