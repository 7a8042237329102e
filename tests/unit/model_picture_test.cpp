#include "filterbank/model_picture.hpp"

#include <gtest/gtest.h>

#include "unit/filterbank_support.hpp"

namespace sightline::filterbank {
namespace {

TEST(ModelPicture, DrawsEveryKindOfModel) {
  const test::TemporaryFolder folder;
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
  draw_model(test::random_model(9, 1)).write_png((folder / "a.png").string());
  draw_model(test::random_model(9, 1)).write_png((folder / "b.png").string());
  EXPECT_GT(test::bytes_of(folder / "a.png").size(), 1000U);
  EXPECT_EQ(test::bytes_of(folder / "a.png"), test::bytes_of(folder / "b.png"));
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
