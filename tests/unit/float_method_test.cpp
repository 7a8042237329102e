// The float method with each descriptor, against the few lines that define it.
#include <gtest/gtest.h>

#include <cmath>

#include "detectors/filterbank/detector.hpp"
#include "support/filterbank.hpp"

namespace sightline::filterbank {
namespace {

using test::scored;

std::vector<Descriptor> other_descriptors() {
  std::vector<Descriptor> all;
  for (const int patch : {3, 5}) {
    for (const Contrast contrast : {Contrast::insensitive, Contrast::sensitive, Contrast::signed_value}) {
      if (patch == 5 && contrast == Contrast::signed_value) continue;
      for (const Normalisation normalisation :
           {Normalisation::l1_sqrt, Normalisation::l1, Normalisation::l2}) {
        all.push_back({patch, contrast, normalisation});
        if (all.back().standard()) all.pop_back();
      }
    }
  }
  return all;
}

// --- the method in plain words, in double
// ------------------------------------------------------------------------------------

struct Response {
  double response = 0;
  int filter = 0;
};

Response response_of(GrayView image, const Model& model, int x, int y) {
  const int patch = model.descriptor.patch;
  Response packed_response;
  for (int k = 0; k < model.dictionary.size(); ++k) {
    const float* filter =
        patch == 5 ? model.dictionary.large()[k].data() : model.dictionary.reference()[k].data();
    double response = 0;
    for (int i = 0; i < patch * patch; ++i) {
      const int px = std::clamp(x + i % patch - patch / 2, 0, image.width() - 1);
      const int py = std::clamp(y + i / patch - patch / 2, 0, image.height() - 1);
      response += static_cast<double>(filter[i]) * image.at(px, py);
    }
    const bool larger = model.descriptor.signed_value()
                            ? response > packed_response.response
                            : std::fabs(response) > std::fabs(packed_response.response);
    if (larger) packed_response = {response, k};
  }
  return packed_response;
}

// [cell of the block][bin]
std::vector<double> block_features(GrayView image, const Model& model, int block_x, int block_y) {
  const int filters = model.dictionary.size();
  std::vector<double> values(static_cast<std::size_t>(4) * model.bins());
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 16; ++x) {
      const Response packed_response = response_of(image, model, 8 * block_x + x, 8 * block_y + y);
      const bool second = model.descriptor.contrast_sensitive() && packed_response.response < 0;
      const int cell = 2 * (y / 8) + x / 8;
      values[cell * model.bins() + packed_response.filter + (second ? filters : 0)] +=
          std::fabs(packed_response.response);
    }
  }
  double sum = 0;
  double squares = 0;
  for (const double v : values) {
    sum += v;
    squares += v * v;
  }
  for (double& v : values) {
    switch (model.descriptor.normalisation) {
      case Normalisation::l1_sqrt:
        v = std::sqrt(v / sum);
        break;
      case Normalisation::l1:
        v = std::min(6 * v / sum, 181.0 / 255);
        break;
      case Normalisation::l2:
        v /= std::sqrt(squares);
        break;
    }
  }
  return values;
}

// --- tests
// ----------------------------------------------------------------------------------------------------------

Options one_level(Arithmetic arithmetic) {
  Options options;
  options.max_size = 24;
  options.threshold = -1e9;
  options.arithmetic = arithmetic;
  return options;
}

TEST(FloatMethod, FeaturesAreThoseOfThePlainMethod) {
  // The widths leave a vector with 5 pixels, and rows that are no whole tile of the filter.
  const Image<std::uint8_t> picture = test::random_picture({53, 45}, 21);
  for (const Descriptor& descriptor : other_descriptors()) {
    SCOPED_TRACE(describe(descriptor));
    const Model model = test::random_model(11, 22, descriptor);
    const FilterbankDetector floating(model, one_level(Arithmetic::floating_point));
    const FilterbankDetector rounded(model, one_level(Arithmetic::exact));
    EXPECT_FALSE(all_exact(floating.stages()));
    EXPECT_EQ(all_exact(rounded.stages()), descriptor.exact());
    const auto a = floating.make_workspace();
    const Level& level = scored(floating, *a, picture.view()).levels.at(0);
    const auto level8_workspace = rounded.make_workspace();
    const Level& level8 = scored(rounded, *level8_workspace, picture.view()).levels.at(0);
    const std::size_t block_size = static_cast<std::size_t>(4) * model.bins();
    std::vector<std::uint8_t> window(model.weights_per_template());
    for (int y = 0; y < level.windows_y; ++y) {
      for (int x = 0; x < level.windows_x; ++x) {
        rounded.copy_features(level8, x, y, window);
        const std::vector<double> expected = block_features(picture.view(), model, x, y);
        const float* features =
            level.float_features.data() + (static_cast<std::size_t>(y) * level.grid.cells_x + x) * block_size;
        for (std::size_t i = 0; i < block_size; ++i) {
          ASSERT_NEAR(features[i], expected[i], 1e-4) << x << ' ' << y << ' ' << i;
          if (!descriptor.exact()) {  // else its 8-bit features have a method of their own
            ASSERT_NEAR(window[i], 255 * expected[i], 0.5 + 255 * 1e-4) << x << ' ' << y << ' ' << i;
          }
        }
      }
    }
  }
}

TEST(FloatMethod, ScoresAreSumsOverFeatures) {
  const Image<std::uint8_t> picture = test::random_picture({53, 45}, 23);
  for (const Descriptor& descriptor : other_descriptors()) {
    SCOPED_TRACE(describe(descriptor));
    const Model model = test::random_model(11, 24, descriptor);
    const FilterbankDetector detector(model, one_level(Arithmetic::exact));
    const auto level_workspace = detector.make_workspace();
    const Level& level = scored(detector, *level_workspace, picture.view()).levels.at(0);
    std::vector<std::uint8_t> window(model.weights_per_template());
    for (int y = 0; y < level.windows_y; ++y) {
      for (int x = 0; x < level.windows_x; ++x) {
        detector.copy_features(level, x, y, window);
        std::int64_t raw = model.bias;
        for (std::size_t i = 0; i < window.size(); ++i) raw += model.weights[i] * window[i];
        ASSERT_EQ(detector.score(level, x, y), static_cast<double>(raw) * model.scale);
      }
    }
  }
}

TEST(FloatMethod, ANegativeScoresOtherwiseOnlyWhereContrastCounts) {
  Image<std::uint8_t> picture = test::random_picture({53, 45}, 25);
  Image<std::uint8_t> negative(53, 45);
  for (int y = 0; y < 45; ++y) {
    for (int x = 0; x < 53; ++x)
      negative.view().at(x, y) = static_cast<std::uint8_t>(255 - picture.view().at(x, y));
  }
  for (const Descriptor& descriptor : other_descriptors()) {
    SCOPED_TRACE(describe(descriptor));
    const FilterbankDetector detector(test::random_model(11, 26, descriptor), one_level(Arithmetic::exact));
    const auto workspace = detector.make_workspace();
    const double a = detector.score(scored(detector, *workspace, picture.view()).levels.at(0), 1, 1);
    const double b = detector.score(scored(detector, *workspace, negative.view()).levels.at(0), 1, 1);
    if (descriptor.contrast != Contrast::insensitive) {
      EXPECT_GT(std::fabs(a - b), 0.1);
    } else {
      EXPECT_NEAR(a, b, 0.02);  // some features round to the other side
    }
  }
}

TEST(FloatMethod, FlatPicturesScoreTheBias) {
  for (const Descriptor& descriptor : other_descriptors()) {
    SCOPED_TRACE(describe(descriptor));
    const Model model = test::random_model(11, 27, descriptor);
    for (const Arithmetic arithmetic : {Arithmetic::exact, Arithmetic::floating_point}) {
      const FilterbankDetector detector(model, one_level(arithmetic));
      const auto workspace = detector.make_workspace();
      for (const int value : {0, 1, 77, 255}) {
        const Image<std::uint8_t> flat = test::flat_picture({53, 45}, static_cast<std::uint8_t>(value));
        const Level& level = scored(detector, *workspace, flat.view()).levels.at(0);
        EXPECT_EQ(detector.score(level, 1, 1), static_cast<double>(model.bias) * model.scale) << value;
      }
    }
  }
}

// Cut anywhere, the windows of both parts score as those of the whole.
TEST(FloatMethod, SharesOfAFrameFitTogether) {
  const Image<std::uint8_t> picture = test::random_picture({90, 120}, 28);
  for (const Descriptor& descriptor : other_descriptors()) {
    SCOPED_TRACE(describe(descriptor));
    Options options;
    options.threshold = -1e9;
    options.scale_step = 1.3;
    const FilterbankDetector detector(test::random_model(6, 29, descriptor), options);
    const auto whole = detector.make_workspace();
    const auto rest = detector.make_workspace();
    const auto candidates_of = [](Workspace& workspace) -> std::vector<Candidate>& {
      return static_cast<FilterbankWorkspace&>(workspace).candidates;
    };
    scored(detector, *whole, picture.view());
    const std::vector<Candidate> expected = candidates_of(*whole);
    ASSERT_GT(expected.size(), 50U);
    for (const double cut : {0.1, 0.37, 0.8}) {
      for (Workspace* workspace : {whole.get(), rest.get()}) {
        const Partition partition = workspace == whole.get() ? Partition{0, cut} : Partition{cut, 1};
        ASSERT_TRUE(detector.prepare(*workspace, picture.view(), partition));
        detector.score_windows(static_cast<FilterbankWorkspace&>(*workspace));
      }
      detector.merge(*whole, *rest);
      const std::vector<Candidate>& merged = candidates_of(*whole);
      ASSERT_EQ(merged.size(), expected.size()) << cut;
      for (std::size_t i = 0; i < merged.size(); ++i) ASSERT_EQ(merged[i].score, expected[i].score) << cut;
    }
  }
}

TEST(FloatMethod, FewDescriptorsSuitDevices) {
  EXPECT_EQ(FilterbankDetector(test::random_model(9, 1), {}).info().cpu_only, "");
  const Descriptor by_value{3, Contrast::signed_value, {}};
  const Model signed_model = test::random_model(9, 1, by_value);
  Options in_float;
  in_float.arithmetic = Arithmetic::floating_point;
  EXPECT_EQ(FilterbankDetector(signed_model, in_float).info().cpu_only, "");
  EXPECT_NE(FilterbankDetector(signed_model, {}).info().cpu_only, "");
  for (const Descriptor& descriptor : other_descriptors()) {
    Options options;
    if (descriptor.exact() || (descriptor.signed_value() && descriptor != by_value))
      options.arithmetic = Arithmetic::floating_point;
    const FilterbankDetector detector(test::random_model(9, 1, descriptor), options);
    EXPECT_NE(detector.info().cpu_only.find(describe(descriptor)), std::string::npos);
    EXPECT_NE(detector.info().model.find(describe(descriptor)), std::string::npos);
    EXPECT_FALSE(detector.pre_rejects());
  }
}

}  // namespace
}  // namespace sightline::filterbank
