// Boxes of the cascade detector against those of OpenCV's CascadeClassifier, on real pictures.
#include <gtest/gtest.h>

#include <algorithm>

#include "cascade_support.hpp"
#include "detectors/cascade/detector.hpp"
#include "support/thorough.hpp"

namespace sightline {
namespace {

using namespace cascade;

// The first pictures of each kind.
std::vector<fs::path> pictures(long count) {
  std::vector<fs::path> files;
  for (const char* folder : {"faces/cmu_mit_dev/img", "faces/caltech101_faces", "people/neg_test"}) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(test::shared_data() / folder))
      if (entry.path().extension() == ".jpg") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    found.resize(std::min(found.size(), static_cast<std::size_t>(count)));
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

constexpr int kLongest = 240;  // pixels of a picture's longer side

struct Case {
  const char* cascade;
  long pictures;  // of each folder, where tests are thorough
};

class Parity : public testing::TestWithParam<Case> {};

// Before grouping and after. The number of stages that `scan` runs goes round, for it must not matter.
TEST_P(Parity, BoxesAreThoseOfOpenCv) {
  const fs::path file = opencv_cascade(GetParam().cascade);
  if (file.empty()) GTEST_SKIP() << "no opencv-data";
  if (!fs::exists(test::shared_data())) GTEST_SKIP() << "no ../shared/data";
  cv::CascadeClassifier classifier(file.string());
  const Model model = load_model(file);
  std::size_t number = 0, windows = 0, objects = 0;
  for (const fs::path& picture : pictures(test::sampled(GetParam().pictures, 5))) {
    const Image<std::uint8_t> gray = load_gray(picture, kLongest);
    for (const int neighbors : {0, 3}) {
      Options options;
      options.min_neighbors = neighbors;
      options.early_stages = static_cast<int>(number % model.stages.size());
      const CascadeDetector detector(model, options);
      const auto workspace = detector.make_workspace();
      const auto expected = opencv_boxes(classifier, gray.view(), 1.1, neighbors);
      ASSERT_EQ(keys_of(detect(detector, *workspace, gray.view())), expected)
          << picture << ", " << neighbors << " neighbours, " << options.early_stages << " stages scanned";
      (neighbors == 0 ? windows : objects) += expected.size();
    }
    ++number;
  }
  std::printf("%zu pictures, %zu windows, %zu objects\n", number, windows, objects);
  EXPECT_GT(windows, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Cascades, Parity,
    testing::Values(Case{"lbpcascade_frontalface_improved", 70}, Case{"haarcascade_frontalface_alt2", 100},
                    Case{"haarcascade_frontalface_default", 70}, Case{"haarcascade_eye_tree_eyeglasses", 70},
                    Case{"haarcascade_frontalface_alt_tree", 70}, Case{"lbpcascade_frontalface", 10},
                    Case{"lbpcascade_profileface", 10}, Case{"haarcascade_smile", 5},
                    Case{"haarcascade_upperbody", 5}, Case{"haarcascade_lefteye_2splits", 5},
                    Case{"haarcascade_licence_plate_rus_16stages", 10}),
    [](const auto& test) { return std::string(test.param.cascade); });

}  // namespace
}  // namespace sightline
