#pragma once
/// Named variants of a family's kernels, as key `kernels` asks for them.

#include <span>
#include <string>

namespace sightline {

/// Throws Error (usage) with a list of the variants if the requested one does not exist.
/// @param asked  requested variant; empty: none
void check_kernel_variant(const std::string& asked, std::span<const char* const> variants);

}  // namespace sightline
