#pragma once
/// Templates for tests of searches.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "faces/recognition/chi_square.hpp"
#include "faces/recognition/search.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline::recognition {

using Kind = TemplateFormat::Kind;
inline constexpr Kind kKinds[] = {Kind::counts8, Kind::counts16, Kind::vector8};

/// Few different weights, 0 among them; none for vectors.
inline TemplateFormat some_format(Kind kind, int dims, test::Numbers& numbers) {
  TemplateFormat format{kind, dims, {}};
  if (kind == Kind::vector8) return format;
  constexpr std::uint8_t kWeights[] = {0, 1, 2, 4, 255};
  for (int d = 0; d < dims; ++d) format.weights.push_back(kWeights[numbers(0, 4)]);
  return format;
}

/// Half of the counts are 0, some as large as they can be.
inline std::vector<std::uint8_t> some_template(const TemplateFormat& format, test::Numbers& numbers) {
  std::vector<std::uint8_t> bytes;
  for (int d = 0; d < format.dims; ++d) {
    if (format.kind == Kind::vector8) {
      bytes.push_back(static_cast<std::uint8_t>(numbers(0, 9) == 0 ? 0x80 : numbers(0, 255)));
      continue;
    }
    const int largest = format.kind == Kind::counts8 ? 255 : kLargestCount;
    const int sort = numbers(0, 9);
    const int count = sort < 5 ? 0 : sort < 8 ? numbers(1, 20) : sort < 9 ? numbers(0, largest) : largest;
    bytes.push_back(static_cast<std::uint8_t>(count % 256));
    if (format.kind == Kind::counts16) bytes.push_back(static_cast<std::uint8_t>(count / 256));
  }
  return bytes;
}

/// `count` templates one after the other.
inline std::vector<std::uint8_t> some_templates(const TemplateFormat& format, int count,
                                                test::Numbers& numbers) {
  std::vector<std::uint8_t> all;
  for (int i = 0; i < count; ++i) {
    const std::vector<std::uint8_t> bytes = some_template(format, numbers);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

/// `size` templates, every fourth of which is one of the first eight again: ties.
inline TemplateSet some_set(const TemplateFormat& format, std::size_t size, test::Numbers& numbers) {
  TemplateSet set(format);
  for (std::size_t i = 0; i < size; ++i) {
    set.append(i > 8 && i % 4 == 0 ? set.bytes(static_cast<std::size_t>(numbers(0, 7)))
                                   : some_template(format, numbers));
  }
  return set;
}

/// Where two results first differ; "" where they do not.
inline std::string first_difference(const Matches& expected, const Matches& found) {
  if (expected.per_query != found.per_query || expected.all.size() != found.all.size()) {
    return std::to_string(found.all.size()) + " matches, " + std::to_string(found.per_query) + " a query";
  }
  for (std::size_t i = 0; i < expected.all.size(); ++i) {
    const Match &a = expected.all[i], &b = found.all[i];
    if (a == b) continue;
    return "rank " + std::to_string(i % expected.per_query) + " of query " +
           std::to_string(i / expected.per_query) + ": template " + std::to_string(b.index) + " at " +
           std::to_string(b.distance) + ", not " + std::to_string(a.index) + " at " +
           std::to_string(a.distance);
  }
  return "";
}

}  // namespace sightline::recognition
