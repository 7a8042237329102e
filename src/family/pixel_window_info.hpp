#pragma once
/// Common descriptions of families that scan every window (detection/pixel_windows.hpp).

#include <span>

#include "family/family.hpp"

namespace sightline {

/// Keys, options of windows, --border and --no-clip, what keys mean, the kernels' variants to compare and
/// what evaluation sets; names and models are the family's own to add.
/// @param own_keys     parameters of the family without options
/// @param own_options  those with options
FamilyInfo pixel_window_info(std::span<const char* const> kernel_variants,
                             const std::vector<ParameterInfo>& own_keys,
                             const std::vector<ParameterInfo>& own_options);

}  // namespace sightline
