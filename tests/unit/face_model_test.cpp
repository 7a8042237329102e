// Models of recognition: the file, and what is refused of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "faces/recognition/model.hpp"
#include "support/errors.hpp"
#include "support/recognition.hpp"
#include "support/temp_dir.hpp"

namespace sightline::recognition {
namespace {

constexpr std::uint64_t kMaxBytes = 1 << 24;

FaceModel weighted_model() {
  FaceModel model = test::plain_model();
  for (std::size_t i = 0; i < model.region_weights.size(); ++i)
    model.region_weights[i] = static_cast<std::uint8_t>(i % 4);
  model.strangers = {{1e-3, 1000}, {1e-2, 2000}, {0.1, 2000}};
  model.provenance = "made up";
  return model;
}

TEST(FaceModel, ComesBackAsItWas) {
  const test::TempDir folder;
  const FaceModel weighted = weighted_model();
  save_face_model(weighted, folder / "faces.safetensors");
  EXPECT_TRUE(looks_like_face_model(folder / "faces.safetensors"));
  const FaceModel found = load_face_model(folder / "faces.safetensors", kMaxBytes);
  EXPECT_EQ(found.name, "faces");
  EXPECT_EQ(found.channels, weighted.channels);
  EXPECT_EQ(found.region_weights, weighted.region_weights);
  EXPECT_EQ(found.strangers, weighted.strangers);
  EXPECT_EQ(found.provenance, "made up");
  EXPECT_FALSE(found.projection);

  const FaceModel learned = test::random_learned_model(1);
  save_face_model(learned, folder / "learned.safetensors");
  const FaceModel again = load_face_model(folder / "learned.safetensors", kMaxBytes);
  ASSERT_TRUE(again.projection);
  EXPECT_EQ(again.projection->weights, learned.projection->weights);
  EXPECT_EQ(again.projection->bias, learned.projection->bias);
  EXPECT_EQ(again.projection->scale, learned.projection->scale);
  EXPECT_EQ(again.projection->length, learned.projection->length);
}

TEST(FaceModel, OfVersionOneIsNeverRelative) {
  const test::TempDir folder;
  FaceModel model = weighted_model();
  Safetensors file = container_of(model);
  const std::vector<std::int32_t> numbers{2, 4, 5, 10, 10, 10, 10};
  file.set<std::int32_t>("channels", {1, 7}, numbers);
  file.metadata["version"] = "1";
  file.save(folder / "old.safetensors");
  EXPECT_EQ(load_face_model(folder / "old.safetensors", kMaxBytes).channels, model.channels);
  model.channels[0].normalisation.is_relative = true;
  save_face_model(model, folder / "new.safetensors");
  EXPECT_EQ(load_face_model(folder / "new.safetensors", kMaxBytes).channels, model.channels);
}

TEST(FaceModel, WithSidesApartAndOtherEyesComesBackAsItWas) {
  const test::TempDir folder;
  FaceModel model = test::light_model();
  save_face_model(model, folder / "light.safetensors");
  const FaceModel found = load_face_model(folder / "light.safetensors", kMaxBytes);
  EXPECT_EQ(found.channels, model.channels);
  EXPECT_EQ(found.geometry, model.geometry);
  EXPECT_EQ(container_of(model).metadata.at("version"), "3");
  // Only then, so that older programs read the others.
  EXPECT_EQ(container_of(weighted_model()).metadata.at("version"), "2");
  EXPECT_EQ(template_format(model).dims, 12 * 14 * 59);

  const auto refused = [&](const std::string& words, std::vector<std::int32_t> eyes) {
    Safetensors file = container_of(model);
    file.set<std::int32_t>("geometry", {2}, eyes);
    file.save(folder / "wrong.safetensors");
    test::expect_error(ExitCode::model, words,
                       [&] { load_face_model(folder / "wrong.safetensors", kMaxBytes); });
  };
  refused("131 pixels", {131, 60});
  refused("0 pixels", {0, 60});
  refused("row -1", {52, -1});
}

TEST(FaceModel, SaysWhatIsWrongWithAFile) {
  const test::TempDir folder;
  const std::string path = folder / "wrong.safetensors";
  const auto expect = [&](const FaceModel& model, const std::string& words,
                          const std::function<void(Safetensors&)>& damage) {
    Safetensors file = container_of(model);
    damage(file);
    file.save(path);
    test::expect_error(ExitCode::model, words, [&] { load_face_model(path, kMaxBytes); });
  };
  const auto channel = [](std::vector<std::int32_t> numbers) {
    return [=](Safetensors& file) { file.set<std::int32_t>("channels", {1, 8}, numbers); };
  };
  const FaceModel weighted = weighted_model();
  expect(weighted, "'kind'", [](Safetensors& file) { file.metadata["kind"] = "other"; });
  expect(weighted, "", channel({5, 4, 5, 10, 10, 10, 10, 0}));       // no such blur
  expect(weighted, "mirror", channel({2, 4, 5, 10, 10, 9, 10, 0}));  // the last column is clipped
  expect(weighted, "step", channel({2, 4, 5, 10, 10, 0, 10, 0}));
  expect(weighted, "margin", channel({2, 4, 1, 10, 10, 10, 10, 0}));  // the circle reaches further
  expect(weighted, "a length of -5", channel({2, 4, -5, 10, 10, 10, 10, 0}));
  expect(weighted, "relative", channel({2, 0, 5, 10, 10, 10, 10, 1}));
  const std::vector<double> circles{1, 8, 2};
  expect(weighted, "channel 1", [&](Safetensors& file) { file.set<double>("circles", {1, 3}, circles); });
  const std::vector<std::uint8_t> zeros(weighted.region_weights.size());
  expect(weighted, "regions", [&](Safetensors& file) {
    file.set<std::uint8_t>("region_weights", {static_cast<std::int64_t>(zeros.size())}, zeros);
  });
  const std::vector<double> falling{0.1, 0.01, 0.001};
  expect(weighted, "rise", [&](Safetensors& file) { file.set<double>("stranger_rates", {3}, falling); });

  const FaceModel learned = test::random_learned_model(1);
  const std::vector<std::int32_t> bias(64, 1 << 29);
  expect(learned, "stay below", [&](Safetensors& file) { file.set<std::int32_t>("bias", {64}, bias); });
  const std::vector<std::int32_t> scales(64, 65'536);
  expect(learned, "a scale of 65536",
         [&](Safetensors& file) { file.set<std::int32_t>("scales", {64}, scales); });
  const std::int32_t length[] = {0};
  expect(learned, "length 0", [&](Safetensors& file) { file.set<std::int32_t>("length", {1}, length); });
}

TEST(FaceModel, KnowsHowFarStrangersAre) {
  const FaceModel model = weighted_model();
  EXPECT_EQ(distance_of_strangers(model, 1e-4), std::nullopt);
  EXPECT_EQ(distance_of_strangers(model, 1e-3), 1000U);
  EXPECT_EQ(distance_of_strangers(model, std::sqrt(1e-5)), 1500U);
  EXPECT_EQ(distance_of_strangers(model, 0.5), 2000U);
  EXPECT_EQ(distance_of_strangers(test::plain_model(), 0.5), std::nullopt);
}

TEST(FaceModel, FormatsTemplatesBySizeAndWeights) {
  FaceModel model = weighted_model();
  const TemplateFormat weighted = template_format(model);
  EXPECT_EQ(weighted.kind, TemplateFormat::Kind::counts8);
  EXPECT_EQ(weighted.dims, 6 * 14 * 59);
  ASSERT_EQ(weighted.weights.size(), static_cast<std::size_t>(weighted.dims));
  EXPECT_EQ(weighted.weights[58], 0);
  EXPECT_EQ(weighted.weights[59], 1);
  EXPECT_TRUE(template_format(test::plain_model()).weights.empty());
  EXPECT_EQ(template_format(test::random_learned_model(1)).kind, TemplateFormat::Kind::vector8);
}

}  // namespace
}  // namespace sightline::recognition
