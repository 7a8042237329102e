#include <string_view>

#include "base/error.hpp"
#include "detectors/cascade/detector.hpp"
#include "targets.hpp"

namespace sightline::fuzz {
namespace {

// Texture, so that windows get past the first stages.
Image<std::uint8_t> make_picture() {
  Image<std::uint8_t> picture(72, 60);
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x)
      picture.view().at(x, y) = static_cast<std::uint8_t>((x / 7 + y / 5) % 3 * 100 + (x * 31 + y * 17) % 50);
  }
  return picture;
}

// The fuzzer runs as many inputs a second as are small.
constexpr std::size_t kLargest = 1 << 16;

}  // namespace

void cascade(Bytes bytes) {
  if (bytes.size() > kLargest) return;
  static const Image<std::uint8_t> picture = make_picture();
  try {
    cascade::Model loaded =
        cascade::parse_model({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "input.xml");
    cascade::Options options;
    options.search.scale_step = 1.5;
    options.min_neighbors = 1;
    const cascade::CascadeDetector detector(std::move(loaded), options);
    const auto workspace = detector.make_workspace();
    detect(detector, *workspace, picture.view());
  } catch (const Error&) {
  }
}

}  // namespace sightline::fuzz
