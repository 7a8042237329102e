#include "detectors/cascade/opencv/module.hpp"

#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/objdetect.hpp>

#include "base/error.hpp"

namespace sightline::cascade {
namespace {

class OpenCv : public Counterpart {
 public:
  explicit OpenCv(const OpenCvSearch& search) : search_(search) {
    const std::string file = search.file;
    bool loaded = false;
    try {
      loaded = classifier_.load(file);
    } catch (const cv::Exception& e) {
      throw Error(ExitCode::model, "OpenCV cannot load the cascade '" + file + "': " + e.what());
    }
    if (!loaded) throw Error(ExitCode::model, "OpenCV cannot load the cascade '" + file + "'");
    search_.file = nullptr;
    cv::setNumThreads(search.threads);
  }

  std::string name() const override { return "OpenCV " + cv::getVersionString(); }

  std::vector<Box> find(GrayView picture) override {
    // OpenCV has no type for pixels that it may not change; it does not change these.
    const cv::Mat image(picture.height(), picture.width(), CV_8UC1, const_cast<std::uint8_t*>(picture.data()),
                        static_cast<std::size_t>(picture.stride()));
    const auto size = [](Size s) { return cv::Size(s.width, s.height); };
    std::vector<cv::Rect> found;
    try {
      classifier_.detectMultiScale(image, found, search_.scale_factor, search_.min_neighbors, 0,
                                   size(search_.min_size), size(search_.max_size));
    } catch (const cv::Exception& e) {
      throw Error(ExitCode::failed, std::string("OpenCV failed: ") + e.what());
    }
    std::vector<Box> boxes;
    for (const cv::Rect& r : found) {
      boxes.push_back({static_cast<double>(r.x), static_cast<double>(r.y), static_cast<double>(r.width),
                       static_cast<double>(r.height)});
    }
    return boxes;
  }

 private:
  OpenCvSearch search_;
  cv::CascadeClassifier classifier_;
};

}  // namespace
}  // namespace sightline::cascade

extern "C" __attribute__((visibility("default"))) sightline::Counterpart* sightline_make_opencv_cascade(
    const sightline::cascade::OpenCvSearch& search) {
  return std::make_unique<sightline::cascade::OpenCv>(search).release();
}
