#pragma once
/// Internal to svm*.cpp: loops over the features of one window.

#include <cstddef>
#include <cstdint>

namespace sightline::filterbank::svm {

/// Features of a window are stored in a multiple of this many bytes, the added ones 0; so are weights.
inline constexpr std::size_t kPadding = 16;

/// `count` is a multiple of kPadding. The sum's order, and so its bits, are the same everywhere.
float dot(const std::uint8_t* features, const float* weights, std::size_t count);
/// weights += factor * features
void add_multiple(float factor, const std::uint8_t* features, std::size_t count, float* weights);

}  // namespace sightline::filterbank::svm
