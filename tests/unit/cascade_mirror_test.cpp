// Mirrored cascades find in a mirrored picture what cascades find in the picture.
#include "detectors/cascade/mirror.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "detectors/cascade/detector.hpp"
#include "support/cascade.hpp"
#include "support/errors.hpp"

namespace sightline::cascade {
namespace {

// The score of a picture that is one window; 0: rejected.
double score_of(const Model& model, PictureView window) {
  Options options;
  options.min_neighbors = 0;
  const CascadeDetector detector(model, options);
  const std::vector<Detection> found = detect(detector, *detector.make_workspace(), window);
  EXPECT_LE(found.size(), 1U);
  return found.empty() ? 0 : found.front().score;
}

TEST(CascadeMirror, GivesTheMirrorImageTheSameScore) {
  for (const Shape& shape : kShapes) {
    if (shape.tilted) continue;
    SCOPED_TRACE(shape.name);
    Model model = make_model(shape);
    model.stages.resize(2);  // so that some windows pass
    const Model mirror = mirrored(model);
    int different = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
      const Image<std::uint8_t> window = make_picture(shape.window, seed);
      Image<std::uint8_t> turned(shape.window.width, shape.window.height);
      for (int y = 0; y < shape.window.height; ++y)
        std::reverse_copy(window.view().row(y), window.view().row(y) + shape.window.width,
                          turned.view().row(y));
      const double score = score_of(model, window.view());
      ASSERT_EQ(score_of(mirror, turned.view()), score);
      different += score != score_of(model, turned.view());
    }
    EXPECT_GT(different, 0);
  }
}

TEST(CascadeMirror, RefusesTiltedFeatures) {
  test::expect_error(ExitCode::model, [] { static_cast<void>(mirrored(make_model(kShapes[3]))); });
}

}  // namespace
}  // namespace sightline::cascade
