// What recognition learns: axes, directions, regions; and how it is judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cmath>
#include <fstream>

#include "base/random.hpp"
#include "faces/recognition/evaluation.hpp"
#include "faces/recognition/photos.hpp"
#include "faces/recognition/training/axes.hpp"
#include "faces/recognition/training/discriminant.hpp"
#include "faces/recognition/training/regions.hpp"
#include "faces/recognition/training/strangers.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline::recognition {
namespace {

using testing::ElementsAre;

constexpr std::size_t kValues = 40, kPeople = 60, kPhotos = 4;

// People differ in the first five values; photos of one, much more, in the next five; all have some noise.
Descriptions made_up(std::vector<std::uint32_t>& people) {
  Random random(7);
  const auto normal = [&] {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += random.unit();
    return sum - 6;
  };
  Descriptions result;
  result.values = kValues;
  for (std::uint32_t person = 0; person < kPeople; ++person) {
    double own[5];
    for (double& value : own) value = 25 * normal();
    for (std::size_t photo = 0; photo < kPhotos; ++photo) {
      people.push_back(person);
      for (std::size_t i = 0; i < kValues; ++i) {
        const double value = i < 5 ? own[i] + normal() : i < 10 ? 30 * normal() : 2 * normal();
        result.rows.push_back(static_cast<std::uint8_t>(std::clamp(std::lround(127 + value), 0L, 255L)));
      }
    }
  }
  return result;
}

PrincipalAxes axes_of(const Descriptions& descriptions, std::size_t count) {
  training::ProgressClock clock([](const training::TrainingProgress&) { return true; }, 1);
  clock.enter("axes", 1);
  return principal_axes(descriptions, count, 3, clock);
}

TEST(PrincipalAxesOfDescriptions, AreOrthonormalAndHoldMostOfTheVariance) {
  std::vector<std::uint32_t> people;
  const Descriptions descriptions = made_up(people);
  const PrincipalAxes found = axes_of(descriptions, 10);
  for (std::size_t a = 0; a < 10; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double product = 0;
      for (std::size_t i = 0; i < kValues; ++i)
        product += double{found.axes[a * kValues + i]} * found.axes[b * kValues + i];
      EXPECT_NEAR(product, a == b ? 1 : 0, 1e-5);
    }
  }
  double in_all = 0, along_axes = 0, before = 1e30;
  for (std::size_t i = 0; i < descriptions.rows.size(); ++i)
    in_all += std::pow(descriptions.rows[i] - found.mean[i % kValues], 2);
  for (std::size_t axis = 0; axis < 10; ++axis) {
    double variance = 0;
    for (std::size_t row = 0; row < people.size(); ++row)
      variance += std::pow(found.parts[row * 10 + axis], 2);
    EXPECT_LE(variance, before * 1.0001);
    before = variance;
    along_axes += variance;
  }
  EXPECT_GT(along_axes, 0.97 * in_all);
}

TEST(PrincipalAxesOfDescriptions, DoNotDependOnThreads) {
  std::vector<std::uint32_t> people;
  const Descriptions descriptions = made_up(people);
  const PrincipalAxes many = axes_of(descriptions, 8);
  const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
  const PrincipalAxes alone = axes_of(descriptions, 8);
  EXPECT_EQ(many.axes, alone.axes);
  EXPECT_EQ(many.parts, alone.parts);
}

double share_nearest_to_own(const std::vector<std::vector<std::int8_t>>& templates,
                            const std::vector<std::uint32_t>& people) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < templates.size(); ++i) {
    int best = 1 << 30;
    bool is_own = false;
    for (std::size_t j = 0; j < templates.size(); ++j) {
      int distance = 0;
      for (std::size_t d = 0; d < templates[i].size(); ++d)
        distance += (templates[i][d] - templates[j][d]) * (templates[i][d] - templates[j][d]);
      if (j == i || distance >= best) continue;
      best = distance;
      is_own = people[i] == people[j];
    }
    right += is_own ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(templates.size());
}

TEST(DiscriminantOfPeople, LooksAtWhatTellsPeopleApartAlone) {
  std::vector<std::uint32_t> people;
  const Descriptions descriptions = made_up(people);
  const PrincipalAxes axes = axes_of(descriptions, 20);
  DiscriminantOptions options;
  options.dims = 5;
  const std::vector<bool> all(people.size(), true);
  const Discriminant found = find_discriminant(axes.parts, 20, people, all, options);
  // The projection in whole numbers, of values as they are, is what the directions make of rows.
  const Projection projection = make_projection(axes, found, options.length);
  std::vector<std::vector<std::int8_t>> templates, projected;
  for (std::size_t row = 0; row < people.size(); ++row) {
    templates.push_back(template_of_row(found, axes.parts.data() + row * 20, options.length));
    std::vector<std::int32_t> sums(5);
    for (std::size_t d = 0; d < 5; ++d) {
      for (std::size_t i = 0; i < kValues; ++i)
        sums[d] += projection.weights[d * kValues + i] * descriptions.rows[row * kValues + i];
    }
    projected.emplace_back(5);
    normalise_sums(projection, sums.data(), projected.back().data());
  }
  EXPECT_GT(share_nearest_to_own(templates, people), 0.95);
  EXPECT_GT(share_nearest_to_own(projected, people), 0.95);

  // Before, light hides people: without directions, the axes of most variance come first.
  std::vector<std::vector<std::int8_t>> undirected;
  for (std::size_t row = 0; row < people.size(); ++row) {
    undirected.emplace_back();
    for (std::size_t axis = 0; axis < 5; ++axis)
      undirected.back().push_back(
          static_cast<std::int8_t>(std::clamp(axes.parts[row * 20 + axis], -127.0F, 127.0F)));
  }
  EXPECT_LT(share_nearest_to_own(undirected, people), 0.5);
}

TEST(DiscriminantOfPeople, WantsSeveralPhotosOfSome) {
  std::vector<std::uint32_t> people;
  const PrincipalAxes axes = axes_of(made_up(people), 20);
  for (std::size_t i = 0; i < people.size(); ++i) people[i] = static_cast<std::uint32_t>(i);
  DiscriminantOptions options;
  options.dims = 5;
  test::expect_error(ExitCode::input, [&] {
    find_discriminant(axes.parts, 20, people, std::vector<bool>(people.size(), true), options);
  });
}

TEST(RegionsOfFaces, ThatTellPeopleApartWeighMore) {
  Channel channel;
  channel.descriptor.margin = 5;
  channel.descriptor.region = channel.descriptor.step = {20, 20};
  const FaceDescriptor descriptor({channel});
  const auto regions = static_cast<std::size_t>(descriptor.regions());
  std::vector<std::uint32_t> people;
  std::vector<std::vector<std::uint16_t>> counts;
  Random random(5);
  for (std::uint32_t person = 0; person < 30; ++person) {
    for (int photo = 0; photo < 3; ++photo) {
      people.push_back(person);
      counts.emplace_back();
      for (std::size_t i = 0; i < regions * 59; ++i) {
        // Region 4 says who it is; all others are noise.
        const bool says = i / 59 == 4;
        counts.back().push_back(
            static_cast<std::uint16_t>(says ? (person * (i % 59 + 3)) % 17 : random.below(17)));
      }
    }
  }
  const std::vector<PhotoPair> pairs = draw_pairs(people, 120, 1);
  ASSERT_EQ(pairs.size(), 120U);
  EXPECT_EQ(std::ranges::count(pairs, true, &PhotoPair::is_same), 60);
  for (const PhotoPair& pair : pairs) EXPECT_EQ(people[pair.first] == people[pair.second], pair.is_same);
  const std::vector<std::uint8_t> weights = rank_regions(descriptor, counts, pairs);
  ASSERT_EQ(weights.size(), regions);
  EXPECT_EQ(weights[4], 4);
  EXPECT_GT(std::ranges::count(weights, 0), 0);
}

TEST(Strangers, AreCountedByRate) {
  std::vector<std::uint32_t> distances;
  for (std::uint32_t i = 1; i <= 1000; ++i) distances.push_back(i);
  EXPECT_THAT(false_match_rates(distances), ElementsAre(FalseMatchRate{1e-2, 10}, FalseMatchRate{3e-2, 30},
                                                        FalseMatchRate{0.1, 100}, FalseMatchRate{0.3, 300}));
}

TEST(Verification, TakesAFoldsThresholdFromTheOthers) {
  std::vector<NamedPair> pairs;
  std::vector<std::uint32_t> distances;
  const auto add = [&](const char* fold, bool is_same, std::uint32_t distance) {
    pairs.push_back({fold, "", "", is_same});
    distances.push_back(distance);
  };
  // At 10 the second fold is all right; the best of the first would be 20.
  for (const std::uint32_t distance : {5U, 20U}) add("a", true, distance);
  for (const std::uint32_t distance : {30U, 40U}) add("a", false, distance);
  for (const std::uint32_t distance : {5U, 10U}) add("b", true, distance);
  for (const std::uint32_t distance : {11U, 40U}) add("b", false, distance);
  const VerificationResult found = verify(pairs, distances);
  EXPECT_THAT(found.folds, ElementsAre(0.75, 0.75));
  EXPECT_DOUBLE_EQ(found.accuracy, 0.75);
  EXPECT_DOUBLE_EQ(found.error, 0);
  EXPECT_DOUBLE_EQ(found.equal_error_rate, 0.25);
  EXPECT_EQ(miss_rate_at(found.curve, 0), 0.25);
}

TEST(Identification, RanksPeopleAndKnowsStrangers) {
  using Role = NamedPhoto::Role;
  const std::vector<NamedPhoto> photos{{Role::gallery, "a", "0"}, {Role::gallery, "a", "1"},
                                       {Role::gallery, "b", "2"}, {Role::probe, "a", "3"},
                                       {Role::probe, "b", "4"},   {Role::unknown, "c", "5"}};
  // Of the probes and the unknown face to the gallery.
  const std::uint32_t distances[3][3] = {{9, 2, 5}, {4, 8, 4}, {7, 7, 3}};
  const IdentificationResult found = identify(
      photos, [&](std::size_t probe, std::size_t known) { return distances[probe - 3][known]; }, 5);
  EXPECT_EQ(found.people, 2U);
  // The second probe is as near to "a", who comes first.
  EXPECT_THAT(found.cumulative, ElementsAre(0.5, 1.0));
  EXPECT_EQ(miss_rate_at(found.curve, 0), 0.5);  // at distance 2, nearer than the unknown face's 3
}

TEST(ListsOfPhotos, AreReadAndRefused) {
  const test::TempDir folder;
  const std::string path = folder / "list.txt";
  const auto refused = [&](const std::string& text, const auto& load) {
    std::ofstream(path) << text;
    test::expect_error(ExitCode::input, path, [&] { load(path); });
  };
  refused("0 a b 2\n", load_named_pairs);
  refused("0 a b 1\n1 a b 0\n", load_named_pairs);
  refused("gallery a a_1\nfoe b b_1\n", load_named_photos);
  refused("gallery a a_1\n", load_named_photos);
  refused("gallery a a_1\nprobe b b_1\n", load_named_photos);
  refused("a_1 1 2 3\n", load_face_points);
  std::ofstream(path) << "a_1 1 2 3 4 5 6 7 8 9 10\nb_1 train 0 0 9 9 1 2 3 4 5 6 7 8 9 11\n";
  const PointsOfPhotos points = load_face_points(path);
  EXPECT_EQ(points.at("a_1")[0].x, 1.5);
  EXPECT_EQ(points.at("b_1")[4].y, 11.5);
  EXPECT_EQ(person_of("Ada_Lovelace_0002"), "Ada_Lovelace");
  EXPECT_EQ(person_of("ada2"), "ada2");
}

}  // namespace
}  // namespace sightline::recognition
