// Census cascades: codes, the file and what is refused of it, and views that are turned.
#include "detectors/census/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "detectors/census/detector.hpp"
#include "detectors/census/views.hpp"
#include "image/pyramid.hpp"
#include "kernels/census_model.hpp"
#include "model/safetensors.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline::census {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMaxBytes = 1 << 24;

int code_of(const std::array<int, 9>& pixels) {
  Image<std::uint8_t> image(3, 3);
  for (int i = 0; i < 9; ++i) image.view().at(i % 3, i / 3) = static_cast<std::uint8_t>(pixels[i]);
  return census_code(std::as_const(image).view(), 0, 0);
}

TEST(CensusCode, HasABitForEachPixelAboveTheMean) {
  EXPECT_EQ(code_of({7, 7, 7, 7, 7, 7, 7, 7, 7}), 0);
  EXPECT_EQ(code_of({255, 255, 255, 255, 255, 255, 255, 255, 255}), 0);
  EXPECT_EQ(code_of({1, 0, 0, 0, 0, 0, 0, 0, 0}), 256);  // the first pixel is the highest bit
  EXPECT_EQ(code_of({0, 0, 0, 0, 1, 0, 0, 0, 0}), 16);   // the middle has one, too
  EXPECT_EQ(code_of({0, 0, 0, 0, 0, 0, 0, 0, 1}), 1);
  EXPECT_EQ(code_of({1, 1, 1, 1, 1, 1, 1, 1, 0}), 510);
  // The mean is 8/9: a 1 is above it by the least that there is.
  EXPECT_EQ(code_of({1, 1, 1, 1, 0, 1, 1, 1, 1}), 511 - 16);
  EXPECT_EQ(code_of({0, 1, 2, 0, 1, 2, 0, 1, 2}), 1 + 8 + 64);  // 1 is the mean itself
}

TEST(CensusCode, ComparesCellsAsThePictureReducedByAHalfHasThem) {
  const Image<std::uint8_t> picture = cascade::make_picture({26, 20}, 3);
  Image<std::uint8_t> half(13, 10);
  halve(picture.view(), half.view(), 0, 10);
  for (int y = 0; y <= 10 - kCensusSide; ++y) {
    for (int x = 0; x <= 13 - kCensusSide; ++x)
      ASSERT_EQ(census_code(picture.view(), 2 * x, 2 * y, 2), census_code(std::as_const(half).view(), x, y));
  }
}

TEST(CensusCode, TurnsWithThePicture) {
  const std::array<int, 9> pixels{1, 2, 9, 4, 5, 6, 7, 8, 3};
  // Counterclockwise: the right column is on top.
  const std::array<int, 9> turned{9, 6, 3, 2, 5, 8, 1, 4, 7};
  EXPECT_EQ(turned_census_code(code_of(pixels)), code_of(turned));
  for (int code = 0; code < kCensusCodes; ++code) {
    int again = code;
    for (int i = 0; i < 4; ++i) again = turned_census_code(again);
    EXPECT_EQ(again, code);
  }
}

class CensusModelFile : public testing::Test {
 protected:
  CensusModelFile() {
    model.box_scale = 1.25;
    model.threshold = -0.5;
    model.provenance = "drawn";
    save_model(model, file);
  }
  std::string complaint(const std::function<void(Safetensors&)>& change) const {
    Safetensors arrays = Safetensors::load(file);
    change(arrays);
    arrays.save(changed);
    return test::error_of(ExitCode::model, [&] { load_model(changed, kMaxBytes); });
  }
  template <typename T>
  std::string complaint_with(const std::string& name, std::size_t index, T value) const {
    return complaint([&](Safetensors& arrays) {
      const TensorShape shape = arrays.at(name).shape;
      const auto values = arrays.array<T>(name, shape);
      std::vector<T> copy(values.begin(), values.end());
      copy.at(index) = value;
      arrays.set<T>(name, shape, copy);
    });
  }

  Model model = drawn_model(1, {{2, 3, 5}, {20, 24}, 2});
  test::TempDir folder;
  const std::filesystem::path file = folder / "model.safetensors", changed = folder / "changed.safetensors";
};

TEST_F(CensusModelFile, ComesBackAsItWas) {
  const Model loaded = load_model(file, kMaxBytes);
  EXPECT_EQ(loaded.name, "model");
  EXPECT_EQ(loaded.label, model.label);
  EXPECT_EQ(loaded.window, model.window);
  EXPECT_EQ(loaded.weak, model.weak);
  EXPECT_EQ(loaded.stages, model.stages);
  EXPECT_EQ(loaded.views, model.views);
  EXPECT_EQ(loaded.survivors, model.survivors);
  EXPECT_EQ(loaded.box_scale, model.box_scale);
  EXPECT_EQ(loaded.threshold, model.threshold);
  EXPECT_EQ(loaded.provenance, model.provenance);
  EXPECT_TRUE(looks_like_model(file));
  EXPECT_FALSE(looks_like_model(folder / "none"));
}

TEST_F(CensusModelFile, SaysWhatIsWrong) {
  const auto text = [&](const std::string& key, const std::string& value) {
    return complaint([&](Safetensors& arrays) { arrays.metadata[key] = value; });
  };
  const std::pair<const char*, const char*> wrong_texts[] = {
      {"kind", "other"},  {"version", "1"},     {"label", ""},     {"window", "24x65"},
      {"window", "7x24"}, {"threshold", "nan"}, {"box_scale", "5"}};
  for (const auto& [key, value] : wrong_texts)
    EXPECT_THAT(text(key, value), HasSubstr("'" + std::string(key) + "'")) << value;
  EXPECT_THAT(text("window", "10x24"), HasSubstr(changed.string()));
  for (const char* views : {"one", "one,one", "one,"})
    EXPECT_THAT(text("views", views), HasSubstr("view")) << views;
  const int side = kCensusSide * model.weak[0].cell;
  const auto last_x = static_cast<std::uint8_t>(20 - side), last_y = static_cast<std::uint8_t>(24 - side);
  EXPECT_EQ(complaint_with("places", 0, last_x), "");
  EXPECT_EQ(complaint_with("places", 1, last_y), "");
  EXPECT_NE(complaint_with("places", 0, static_cast<std::uint8_t>(last_x + 1)), "");
  EXPECT_NE(complaint_with("places", 1, static_cast<std::uint8_t>(last_y + 1)), "");
  EXPECT_THAT(complaint_with<std::uint8_t>("cells", 2, 3), HasSubstr("3 pixels"));
  EXPECT_THAT(complaint_with<std::uint8_t>("cells", 2, 0), HasSubstr("0 pixels"));
  for (const std::int16_t weight : {std::int16_t{0}, std::int16_t{-1}})
    EXPECT_NE(complaint_with<std::int16_t>("weights", 3, weight), "");
  EXPECT_THAT(complaint_with<std::int32_t>("stage_ends", 1, 2), HasSubstr("'stage_ends'"));
  EXPECT_THAT(complaint_with<std::int32_t>("stage_ends", 5, 21), HasSubstr("'stage_ends'"));
  EXPECT_THAT(complaint_with<std::int32_t>("stage_thresholds", 4, -1), HasSubstr("stage 4 "));
  EXPECT_THAT(complaint_with<std::int32_t>("stage_thresholds", 0, kMaxThreshold + 1), HasSubstr("stage 0 "));
  EXPECT_THAT(complaint_with<std::int32_t>("view_ends", 0, 6), HasSubstr("'view_ends'"));
  EXPECT_THAT(complaint_with<double>("units", 1, 0), HasSubstr("'units'"));
  EXPECT_THAT(complaint_with<float>("survivors", 1, 1.5F), HasSubstr("'survivors'"));
  EXPECT_THAT(complaint([](Safetensors& arrays) {
                const std::vector<std::uint8_t> none;
                arrays.set<std::uint8_t>("codes", {0, 64}, none);
              }),
              HasSubstr("codes"));
  EXPECT_EQ(complaint([](Safetensors&) {}), "");
}

// Files of before there were cells are as they were.
TEST_F(CensusModelFile, WithoutCellsIsOfTheFirstVersion) {
  model = drawn_model(1, {{2, 3, 5}, {20, 24}, 2, 1});
  save_model(model, changed);
  const Safetensors arrays = Safetensors::load(changed);
  EXPECT_EQ(arrays.metadata.at("version"), "1");
  EXPECT_FALSE(arrays.contains("cells"));
  EXPECT_EQ(load_model(changed, kMaxBytes).weak, model.weak);
  EXPECT_EQ(Safetensors::load(file).metadata.at("version"), "2");
}

TEST_F(CensusModelFile, IsNotWrittenWhereItWouldBeRefused) {
  model.stages.back().end += 1;
  EXPECT_THROW(save_model(model, folder / "other"), std::invalid_argument);
}

Image<std::uint8_t> turned_left(GrayView image) {
  Image<std::uint8_t> result(image.height(), image.width());
  for (int y = 0; y < result.height(); ++y) {
    for (int x = 0; x < result.width(); ++x) result.view().at(x, y) = image.at(image.width() - 1 - y, x);
  }
  return result;
}

// Each window of the turned picture goes as the one of the picture did.
TEST(CensusViews, FindInATurnedPictureWhatIsInThePicture) {
  const Model all = with_turned_views(drawn_model(4, {{3, 5}, {12, 12}}));
  ASSERT_EQ(all.views.size(), 4u);
  EXPECT_EQ(all.views[1].name, "view 0 left");
  const std::int32_t lowest[] = {0, 0, 0, 0};
  Image<std::uint8_t> picture = cascade::make_picture({41, 30}, 2);
  std::vector<std::vector<Accepted>> by_turn;
  for (int quarters = 0; quarters < 4; ++quarters) {
    std::vector<Accepted> accepted;
    const Size size = {picture.width(), picture.height()};
    reference::scan_tile(all, lowest, std::as_const(picture).view(),
                         {0, 0, size.width - 11, size.height - 11}, accepted);
    std::erase_if(accepted, [&](const Accepted& a) { return a.view != quarters; });
    by_turn.push_back(accepted);
    picture = turned_left(std::as_const(picture).view());
  }
  ASSERT_GT(by_turn[0].size(), 20u);
  // A window at (x, y) of the picture lies at (y, width - 12 - x) of the one turned once.
  for (int quarters = 1; quarters < 4; ++quarters) {
    const int width = quarters % 2 == 1 ? 41 : 30;
    std::vector<Accepted> expected;
    for (const Accepted& a : by_turn[static_cast<std::size_t>(quarters) - 1])
      expected.push_back({quarters, a.y, width - 12 - a.x, a.margin});
    EXPECT_THAT(by_turn[static_cast<std::size_t>(quarters)], testing::UnorderedElementsAreArray(expected));
  }
}

TEST(CensusViews, AreNotTurnedWhereTheyCannotBe) {
  test::expect_error(ExitCode::usage, [] { with_turned_views(drawn_model(1, {{1}, {12, 13}})); });
  test::expect_error(ExitCode::usage, [] { with_turned_views(drawn_model(1, {{1}, {12, 12}, 5})); });
}

// With several views, results say which; with one, nothing.
TEST(CensusDetections, SayTheirView) {
  const Image<std::uint8_t> picture = cascade::make_picture({90, 70}, 3);
  for (const int views : {1, 2}) {
    Options options;
    options.threshold = options.window_threshold = -1e6;
    const CensusDetector detector(drawn_model(5, {{2, 3}, {24, 24}, views}), options);
    const std::vector<Detection> found = detect(detector, *detector.make_workspace(), picture.view());
    ASSERT_FALSE(found.empty());
    for (const Detection& one : found) {
      if (views == 1) {
        EXPECT_FALSE(one.attributes);
      } else {
        ASSERT_TRUE(one.attributes);
        EXPECT_THAT(one.attributes->view, HasSubstr("view "));
      }
    }
  }
}

}  // namespace
}  // namespace sightline::census
