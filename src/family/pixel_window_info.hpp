#pragma once
/// Common descriptions of families that scan every window (detection/pixel_windows.hpp).

#include <span>

#include "family/family.hpp"

namespace sightline {

/// Keys, options of windows, --border and --no-clip, what keys mean, the kernels' variants to compare and
/// what evaluation sets; names, models and further keys are the family's own to add.
FamilyInfo pixel_window_info(std::span<const char* const> kernel_variants);

}  // namespace sightline
