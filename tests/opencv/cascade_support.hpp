#pragma once
/// What tests against OpenCV share: pictures of real scenes, and OpenCV's own cascade classifier.

#include <opencv2/objdetect.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "detectors/cascade/layout.hpp"
#include "frame/frame.hpp"
#include "frame/frame_result.hpp"
#include "image/pyramid.hpp"
#include "media/decoded_picture.hpp"
#include "media/reader.hpp"
#include "support/shared_data.hpp"

namespace sightline {

namespace fs = std::filesystem;

/// Where Debian's opencv-data has its cascades. Empty where it is not installed.
inline fs::path opencv_cascade(const std::string& name) {
  const std::string folder = name.starts_with("lbp") ? "lbpcascades" : "haarcascades";
  const fs::path file = fs::path("/usr/share/opencv4") / folder / (name + ".xml");
  return fs::exists(file) ? file : fs::path();
}

/// A picture's luma, made smaller where a side is longer than `longest`.
inline Image<std::uint8_t> load_gray(const fs::path& file, int longest) {
  media::Reader reader(file.string());
  const auto frame = reader.read();
  Image<std::uint8_t> gray = to_gray(*frame);
  const double ratio = std::max(gray.width(), gray.height()) / static_cast<double>(longest);
  if (ratio <= 1) return gray;
  Image<std::uint8_t> smaller(static_cast<int>(gray.width() / ratio),
                              static_cast<int>(gray.height() / ratio));
  Resizer(gray.view().size(), smaller.view().size(), ratio)
      .run(std::as_const(gray).view(), smaller.view(), 0, smaller.height());
  return smaller;
}

inline cv::Mat as_matrix(GrayView gray) {
  return {gray.height(), gray.width(), CV_8UC1, const_cast<std::uint8_t*>(gray.data()),
          static_cast<std::size_t>(gray.stride())};
}

/// x, y, width, height: boxes that can be sorted.
using BoxKey = std::tuple<int, int, int, int>;

inline std::vector<BoxKey> keys_of(const std::vector<Detection>& detections) {
  std::vector<BoxKey> keys;
  for (const Detection& d : detections) {
    keys.emplace_back(static_cast<int>(d.box.x), static_cast<int>(d.box.y), static_cast<int>(d.box.width),
                      static_cast<int>(d.box.height));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

inline std::vector<BoxKey> opencv_boxes(cv::CascadeClassifier& classifier, GrayView gray, double scale_step,
                                        int min_neighbors, Size min_size = {}, Size max_size = {}) {
  std::vector<cv::Rect> found;
  classifier.detectMultiScale(as_matrix(gray), found, scale_step, min_neighbors, 0,
                              {min_size.width, min_size.height}, {max_size.width, max_size.height});
  std::vector<BoxKey> keys;
  for (const cv::Rect& r : found) keys.emplace_back(r.x, r.y, r.width, r.height);
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace sightline
