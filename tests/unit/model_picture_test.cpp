#include "detectors/filterbank/model_picture.hpp"

#include <gtest/gtest.h>

#include "support/filterbank.hpp"

namespace sightline::filterbank {
namespace {

TEST(ModelPicture, DrawsEveryKindOfModel) {
  const test::TempDir folder;
  for (const ClassifierKind kind : {ClassifierKind::linear, ClassifierKind::distance}) {
    for (const int filters : {1, 9, 100, 256}) {
      for (const WindowShape window : {WindowShape{2, 2}, {8, 16}, {64, 2}, {2, 64}}) {
        const int templates = kind == ClassifierKind::linear ? 1 : 9;
        const Model model = test::random_model(filters, 1, kind, templates, window);
        const Canvas picture = draw_model(model);
        EXPECT_LE(picture.width(), 6000) << filters << " " << window.cells_x << "x" << window.cells_y;
        EXPECT_LE(picture.height(), 2000) << filters << " " << window.cells_x << "x" << window.cells_y;
      }
    }
  }
  draw_model(test::random_model(9, 1)).write_png(folder / "a.png");
  draw_model(test::random_model(9, 1)).write_png(folder / "b.png");
  EXPECT_GT(test::bytes_of(folder / "a.png").size(), 1000U);
  EXPECT_EQ(test::bytes_of(folder / "a.png"), test::bytes_of(folder / "b.png"));
}

// Weights of patterns that are 0 change nothing, others do.
TEST(ModelPicture, PatternsCountForTheirBlock) {
  const test::TempDir folder;
  const auto bytes_of = [&](const Model& model) {
    draw_model(model).write_png(folder / "picture.png");
    return test::bytes_of(folder / "picture.png");
  };
  const Model plain = test::random_model(9, 1);
  Model model = plain;
  model.descriptor.patterns = true;
  model.weights.clear();
  for (int block = 0; block < plain.window.blocks(); ++block) {
    const auto first = plain.weights.begin() + static_cast<std::ptrdiff_t>(block) * 36;
    model.weights.insert(model.weights.end(), first, first + 36);
    model.weights.resize(model.weights.size() + kUniformLbpBins);
  }
  EXPECT_TRUE(can_draw(model));
  EXPECT_EQ(bytes_of(model), bytes_of(plain));
  model.weights.back() = 90;
  EXPECT_NE(bytes_of(model), bytes_of(plain));
}

TEST(ModelPicture, ModelsOfZerosCanBeDrawn) {
  Model model = test::random_model(9, 1);
  std::fill(model.weights.begin(), model.weights.end(), std::int8_t{0});
  EXPECT_NO_THROW(draw_model(model));
  model.dictionary = Dictionary(std::vector<Filter>(9), std::vector<FloatFilter>(9));
  EXPECT_NO_THROW(draw_model(model));
}

}  // namespace
}  // namespace sightline::filterbank
