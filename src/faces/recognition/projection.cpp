#include "faces/recognition/projection.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "faces/recognition/projection_sums.hpp"

namespace sightline::recognition {
namespace {

// Rounded down.
std::uint64_t square_root(std::uint64_t value) {
  constexpr std::uint64_t kMost = 0xFFFFFFFF;
  auto root = std::min(kMost, static_cast<std::uint64_t>(std::sqrt(static_cast<double>(value))));
  while (root * root > value) --root;
  while (root < kMost && (root + 1) * (root + 1) <= value) ++root;
  return root;
}

}  // namespace

Projector::Projector(Projection projection) : projection_(std::move(projection)) {
  const Projection& p = projection_;
  const auto dims = static_cast<std::size_t>(p.dims), values = static_cast<std::size_t>(p.values);
  if (p.dims < 1 || p.values < 1 || p.weights.size() != dims * values || p.bias.size() != dims ||
      p.scale.size() != dims)
    throw std::invalid_argument("a projection's arrays do not fit together");
  stride_ = (values + kValuesUnit - 1) / kValuesUnit * kValuesUnit;
  weights_.resize(dims * stride_);
  std::fill_n(weights_.data(), weights_.size(), std::int8_t{0});
  for (std::size_t d = 0; d < dims; ++d)
    std::copy_n(p.weights.data() + d * values, values, weights_.data() + d * stride_);
}

void Projector::project(const std::uint16_t* counts, Scratch& scratch, std::int8_t* result) const {
  scratch.roots.resize(stride_);
  scratch.sums.resize(static_cast<std::size_t>(dims()));
  const auto values = static_cast<std::size_t>(projection_.values);
  for (std::size_t i = 0; i < values; ++i) scratch.roots[i] = kRoots[counts[i]];
  std::fill(scratch.roots.data() + values, scratch.roots.data() + stride_, std::int16_t{0});
  weighted_sums(scratch.roots.data(), weights_.data(), stride_, dims(), scratch.sums.data());
  normalise_sums(projection_, scratch.sums.data(), result);
}

void normalise_sums(const Projection& projection, std::int32_t* sums, std::int8_t* result) {
  std::uint64_t square = 0;
  for (int d = 0; d < projection.dims; ++d) {
    const std::int64_t scaled = (std::int64_t{sums[d]} - projection.bias[static_cast<std::size_t>(d)]) *
                                    projection.scale[static_cast<std::size_t>(d)] >>
                                kScaleShift;
    sums[d] = static_cast<std::int32_t>(scaled);
    square += static_cast<std::uint64_t>(scaled * scaled);
  }
  const auto length = static_cast<std::int64_t>(square_root(square));
  for (int d = 0; d < projection.dims; ++d) {
    if (length == 0) {
      result[d] = 0;
      continue;
    }
    const std::int64_t magnitude = std::abs(std::int64_t{sums[d]});
    const std::int64_t scaled =
        std::min<std::int64_t>(127, (2 * magnitude * projection.length + length) / (2 * length));
    result[d] = static_cast<std::int8_t>(sums[d] < 0 ? -scaled : scaled);
  }
}

namespace reference {

void project(const Projection& projection, const std::uint16_t* counts, std::int8_t* result) {
  std::vector<std::int32_t> sums;
  for (int d = 0; d < projection.dims; ++d) {
    std::int32_t sum = 0;
    for (int i = 0; i < projection.values; ++i)
      sum += projection.weights[static_cast<std::size_t>(d) * static_cast<std::size_t>(projection.values) +
                                static_cast<std::size_t>(i)] *
             kRoots[counts[i]];
    sums.push_back(sum);
  }
  normalise_sums(projection, sums.data(), result);
}

}  // namespace reference

}  // namespace sightline::recognition
