// Boxes of the cascade detector against those of OpenCV's CascadeClassifier, on real pictures.
#include <gtest/gtest.h>

#include <algorithm>

#include "cascade/grouping.hpp"
#include "cascade/kernels.hpp"
#include "cascade_support.hpp"

namespace sightline {
namespace {

using namespace cascade;

std::vector<BoxKey> keys_of(const std::vector<Detection>& detections) {
  std::vector<BoxKey> keys;
  for (const Detection& d : detections) {
    keys.emplace_back(static_cast<int>(d.box.x), static_cast<int>(d.box.y), static_cast<int>(d.box.width),
                      static_cast<int>(d.box.height));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<ScoredBox> run_reference(const Model& model, GrayView gray, const Search& search) {
  const Layout layout = plan_layout(gray.size(), model, search);
  AlignedBuffer<std::uint8_t> images(static_cast<std::size_t>(layout.image_bytes) + 64);
  AlignedBuffer<std::byte> integrals(static_cast<std::size_t>(layout.integral_bytes()) + 256);
  std::vector<Survivor> survivors;
  for (std::size_t i = 0; i < layout.levels.size(); ++i) {
    const Level& level = layout.levels[i];
    const ImageView<std::uint8_t> image(images.data() + level.image, level.size.width, level.size.height,
                                        level.image_stride);
    reference::resize_rows(gray, SampleAxis(gray.width(), level.size.width),
                           SampleAxis(gray.height(), level.size.height), 0, level.size.height, image);
    for (int plane = 0; plane < layout.planes; ++plane)
      reference::integrate(image, layout, level, plane, 0, level.size.height, integrals.data());
    for (int row = 0; row < level.windows.height; ++row)
      reference::scan_row(model, layout, static_cast<int>(i), integrals.data(), row, 1, survivors);
  }
  std::vector<Candidate> candidates;
  reference::verify(model, layout, integrals.data(), survivors, 1, candidates);
  std::vector<ScoredBox> boxes;
  for (const Candidate& c : candidates)
    boxes.push_back({box_in_frame(layout.levels[c.window.level], c.window.x, c.window.y), c.margin});
  return boxes;
}

std::vector<fs::path> pictures(std::size_t count) {
  std::vector<fs::path> files;
  for (const char* folder : {"faces/cmu_mit_dev/img", "faces/caltech101_faces"}) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(shared_data() / folder))
      if (entry.path().extension() == ".jpg") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    found.resize(std::min(found.size(), count));
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

class Parity : public testing::TestWithParam<const char*> {};

TEST_P(Parity, ReferenceFindsTheBoxesOfOpenCv) {
  const fs::path file = opencv_cascade(GetParam());
  if (file.empty()) GTEST_SKIP() << "no opencv-data";
  if (!fs::exists(shared_data())) GTEST_SKIP() << "no ../shared/data";
  const Model model = load_model(file);
  cv::CascadeClassifier classifier(file.string());
  std::size_t found = 0;
  for (const fs::path& picture : pictures(6)) {
    const Image<std::uint8_t> gray = load_gray(picture, 320);
    const std::vector<ScoredBox> boxes = run_reference(model, gray.view(), {});
    for (const int neighbors : {0, 3}) {
      const auto expected = opencv_boxes(classifier, gray.view(), 1.1, neighbors);
      EXPECT_EQ(keys_of(group_boxes(boxes, neighbors, gray.view().size())), expected) << picture;
      found += expected.size();
    }
  }
  RecordProperty("boxes", static_cast<int>(found));
  std::printf("%zu boxes\n", found);
}

INSTANTIATE_TEST_SUITE_P(Cascades, Parity,
                         testing::Values("lbpcascade_frontalface_improved", "lbpcascade_frontalface",
                                         "haarcascade_frontalface_alt2", "haarcascade_frontalface_default",
                                         "haarcascade_eye_tree_eyeglasses",
                                         "haarcascade_frontalface_alt_tree", "haarcascade_smile",
                                         "haarcascade_upperbody", "haarcascade_licence_plate_rus_16stages"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sightline
