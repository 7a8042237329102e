#include "pipeline/runs/digest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <type_traits>

namespace sightline::pipeline {
namespace {

class LittleEndianHash {
 public:
  template <typename T>
  void add(T value) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const Bits bits = std::bit_cast<Bits>(value);
    std::array<std::uint8_t, sizeof(T)> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(bits >> (8 * i));
    hash_.add(bytes.data(), bytes.size());
  }
  void add(const std::string& text) { hash_.add(text.c_str(), text.size() + 1); }
  std::array<std::uint8_t, 32> digest() { return hash_.digest(); }

 private:
  media::Sha256 hash_;
};

std::array<std::uint8_t, 16> first_half(const std::array<std::uint8_t, 32>& all) {
  std::array<std::uint8_t, 16> first{};
  std::copy_n(all.begin(), first.size(), first.begin());
  return first;
}

}  // namespace

std::array<std::uint8_t, 16> digest_of(std::span<const Detection> objects,
                                       const std::vector<std::string>& labels) {
  LittleEndianHash hash;
  for (const Detection& object : objects) {
    for (const double side : {object.box.x, object.box.y, object.box.width, object.box.height})
      hash.add(side);
    hash.add(static_cast<float>(object.score));
    const auto label = static_cast<std::size_t>(object.label);
    hash.add(label < labels.size() ? labels[label] : std::string());
    if (!object.attributes) continue;
    for (const Landmark& one : object.attributes->landmarks) {
      for (const float value : {static_cast<float>(one.x), static_cast<float>(one.y), kLandmarkConfidence})
        hash.add(value);
    }
  }
  return first_half(hash.digest());
}

void RunDigest::add(const std::array<std::uint8_t, 16>& frame) {
  hash_.add(frame.data(), frame.size());
  last_ = frame;
  ++frames_;
}

std::array<std::uint8_t, 16> RunDigest::digest() {
  return frames_ == 1 ? last_ : first_half(hash_.digest());
}

std::string digits_of(const std::array<std::uint8_t, 16>& digest) {
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace sightline::pipeline
