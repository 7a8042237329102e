#pragma once
/// Fingerprint of numbers: equal for equal numbers in equal order, on machines of the same byte order.

#include <fmt/format.h>

#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>

#include "base/fnv.hpp"

namespace sightline {

/// Takes values without padding.
class Fingerprint {
 public:
  template <typename... Values>
  void add(const Values&... values) {
    (add_one(values), ...);
  }
  /// Their number, then all of them.
  template <std::ranges::sized_range Values>
  void add_all(const Values& values) {
    add(static_cast<std::size_t>(std::ranges::size(values)));
    for (const auto& value : values) add(value);
  }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  template <typename T>
  void add_one(const T& value) {
    static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
    value_ = fnv1a(&value, sizeof value, value_);
  }
  std::uint64_t value_ = kFnvSeed;
};

}  // namespace sightline
