#pragma once
/// Named variants of a family's kernels, as key `kernels` asks for them.

#include <span>
#include <string>

namespace sightline {

/// Throws Error (usage), listing them, where a variant that was asked for is none of those that there are.
/// @param asked  empty: none was
void check_kernel_variant(const std::string& asked, std::span<const char* const> variants);

}  // namespace sightline
