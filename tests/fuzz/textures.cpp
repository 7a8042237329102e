#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "targets.hpp"
#include "texture/distance.hpp"

namespace sightline::fuzz {

void textures(Bytes bytes) {
  const std::string text(bytes.begin(), bytes.end());
  try {
    const auto records = sightline::texture::parse_records(text, "fuzzed");
    // What was taken is written as it was read, and at no distance from itself.
    const std::string written = sightline::texture::to_json(records);
    const auto again = sightline::texture::parse_records(written, "written");
    if (sightline::texture::to_json(again) != written) std::abort();
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (sightline::texture::distance(records[i], again[i], sightline::texture::DistanceKind::chi_square) !=
          0)
        std::abort();
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) std::abort();
  }
}

}  // namespace sightline::fuzz
