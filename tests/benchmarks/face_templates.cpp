#include "face_templates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include "base/error.hpp"
#include "faces/recognition/crop.hpp"
#include "faces/recognition/descriptor.hpp"
#include "media/reader.hpp"

namespace sightline::benchmarks {

std::vector<std::vector<std::uint8_t>> made_up_faces(int count, unsigned seed, int regions, int bins) {
  const int pixels = 18'522 / regions;
  std::mt19937 random(seed);
  std::vector<std::vector<std::uint8_t>> faces(static_cast<std::size_t>(count));
  // How common a pattern is: alike in all faces, with differences.
  std::vector<double> common(static_cast<std::size_t>(regions) * bins);
  std::lognormal_distribution<double> spread(0, 1.1), difference(0, 0.5);
  for (double& c : common) c = spread(random);
  for (auto& face : faces) {
    for (int region = 0; region < regions; ++region) {
      std::vector<double> shares;
      for (int b = 0; b < bins; ++b) shares.push_back(common[region * bins + b] * difference(random));
      std::discrete_distribution<int> bin(shares.begin(), shares.end());
      std::vector<int> counts(static_cast<std::size_t>(bins));
      for (int i = 0; i < pixels; ++i) ++counts[bin(random)];
      for (const int c : counts) face.push_back(static_cast<std::uint8_t>(std::min(c, 255)));
    }
  }
  return faces;
}

std::vector<std::vector<std::uint8_t>> faces_of_photos(const std::string& folder,
                                                       const std::string& landmarks, int count) {
  std::ifstream lines(landmarks);
  if (!lines) throw Error(ExitCode::input, "'" + landmarks + "' cannot be read");
  const recognition::Descriptor descriptor;
  recognition::Descriptor::Scratch scratch;
  recognition::Cropper cropper;
  Image<std::uint8_t> crop(recognition::kCropSize.width, recognition::kCropSize.height);
  std::vector<std::uint16_t> counts(static_cast<std::size_t>(descriptor.values()));
  std::vector<std::vector<std::uint8_t>> faces;
  std::string name;
  std::array<Point, 2> eyes;
  while (static_cast<int>(faces.size()) < count &&
         lines >> name >> eyes[0].x >> eyes[0].y >> eyes[1].x >> eyes[1].y) {
    lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    media::Reader reader(folder + "/" + name + ".webp");
    const auto frame = reader.read();
    if (!frame) throw Error(ExitCode::input, "'" + name + "' has no picture");
    cropper.crop(frame->gray(), recognition::similarity_of(eyes), crop.view());
    descriptor.count(crop.view(), scratch, counts.data());
    auto& face = faces.emplace_back();
    for (const std::uint16_t c : counts) face.push_back(static_cast<std::uint8_t>(std::min<int>(c, 255)));
  }
  return faces;
}

}  // namespace sightline::benchmarks
