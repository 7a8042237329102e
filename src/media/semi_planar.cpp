#include "media/semi_planar.hpp"

namespace sightline::media {
namespace {

constexpr int kUnusedBits = 6;  // of 16

}  // namespace

void split_chroma(const std::uint8_t* __restrict pairs, std::uint8_t* __restrict u,
                  std::uint8_t* __restrict v, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    u[i] = pairs[2 * i];
    v[i] = pairs[2 * i + 1];
  }
}

void split_chroma_10(const std::uint16_t* __restrict pairs, std::uint16_t* __restrict u,
                     std::uint16_t* __restrict v, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    u[i] = static_cast<std::uint16_t>(pairs[2 * i] >> kUnusedBits);
    v[i] = static_cast<std::uint16_t>(pairs[2 * i + 1] >> kUnusedBits);
  }
}

void lower_10_bits(std::uint16_t* samples, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) samples[i] = static_cast<std::uint16_t>(samples[i] >> kUnusedBits);
}

}  // namespace sightline::media
