#include "faces/gallery/calibration.hpp"

#include <gmock/gmock.h>

#include "support/errors.hpp"
#include "support/face_finder.hpp"

namespace sightline::gallery {
namespace {

using test::expect_error;
using test::MadeUpFinder;

Snapshot gallery_of(const std::vector<std::vector<std::pair<int, int>>>& people) {
  Snapshot snapshot;
  snapshot.kind = MadeUpFinder().kind();
  for (std::size_t i = 0; i < people.size(); ++i) {
    snapshot.names.push_back("P" + std::to_string(i));
    for (const auto& [who, looks] : people[i]) {
      snapshot.templates.push_back(static_cast<std::uint8_t>(who));
      snapshot.templates.push_back(static_cast<std::uint8_t>(looks));
      snapshot.owners.push_back(static_cast<std::int32_t>(i));
    }
  }
  return snapshot;
}

TEST(Calibration, LiesBelowTheNearestStranger) {
  const Snapshot gallery = gallery_of({{{1, 0}, {1, 30}, {1, 31}}, {{2, 0}}, {{5, 0}}});
  const Calibration found = calibrate(gallery, MadeUpFinder(), 0.01);
  EXPECT_EQ(found.threshold.distance, 968);
  EXPECT_FALSE(found.threshold.from_model);
  EXPECT_EQ(found.threshold.people, 3);
  EXPECT_EQ(found.threshold.mistaken, 0);
  EXPECT_EQ(found.threshold.templates, 5);
  EXPECT_EQ(found.probes, 5);
  EXPECT_EQ(found.own_probes, 3);
  EXPECT_EQ(found.own_known, 3);
  EXPECT_NEAR(found.mistaken_at_most, 1 - std::pow(0.05, 1.0 / 3), 1e-9);
}

// 20 people 1000 apart in pairs, of whom one pair is 100 apart.
TEST(Calibration, AllowsAsManyAsAreAskedFor) {
  std::vector<std::vector<std::pair<int, int>>> people;
  for (int i = 0; i < 18; ++i) people.push_back({{10 * i, 0}});
  people.push_back({{200, 0}});
  people.push_back({{200, 100}});
  const Snapshot gallery = gallery_of(people);
  EXPECT_EQ(calibrate(gallery, MadeUpFinder(), 0.05).threshold.distance, 99);
  const Calibration found = calibrate(gallery, MadeUpFinder(), 0.1);
  EXPECT_EQ(found.threshold.distance, 9999);
  EXPECT_EQ(found.threshold.mistaken, 2);
  EXPECT_EQ(calibrate(gallery, MadeUpFinder(), 1).threshold.mistaken, 20);
}

TEST(Calibration, FewPeopleAreHelpedByTheModel) {
  double asked = 0;
  const MadeUpFinder finder([&](double share) {
    asked = share;
    return 123;
  });
  const Calibration alone = calibrate(gallery_of({{{1, 0}, {1, 5}}}), finder, 0.01);
  EXPECT_EQ(alone.threshold.distance, 123);
  EXPECT_TRUE(alone.threshold.from_model);
  EXPECT_EQ(alone.mistaken_at_most, 1);
  EXPECT_DOUBLE_EQ(asked, 0.005) << "the stranger is compared with both";
  EXPECT_EQ(alone.own_known, 2);
  EXPECT_EQ(calibrate(gallery_of({{{1, 0}}, {{1, 50}}}), finder, 0.01).threshold.distance, 49)
      << "what is seen here counts more than what the model hopes";
  EXPECT_FALSE(calibrate(gallery_of({{{1, 0}}, {{2, 0}}}), finder, 0.5).threshold.from_model)
      << "two people are enough for a half";
}

TEST(Calibration, SaysWhatIsMissing) {
  expect_error(ExitCode::input, "0 people in", [] { calibrate(gallery_of({}), MadeUpFinder(), 0.01); });
  expect_error(ExitCode::input, "1 person in", [] {
    calibrate(gallery_of({{{1, 0}}}), MadeUpFinder(), 0.01);
  });
  expect_error(ExitCode::input, [] { calibrate(gallery_of({{{1, 0}}}), MadeUpFinder(), 0.01); });
  expect_error(ExitCode::input, "'P0' and 'P1'", [] {
    calibrate(gallery_of({{{1, 0}}, {{1, 0}}}), MadeUpFinder(), 0.01);
  });
}

TEST(Calibration, ConfidenceIsClopperAndPearsons) {
  EXPECT_NEAR(share_at_most(0, 100), 0.0295, 1e-4);
  EXPECT_NEAR(share_at_most(1, 100), 0.0466, 1e-4);
  EXPECT_NEAR(share_at_most(3, 20), 0.3437, 1e-4);
  EXPECT_EQ(share_at_most(5, 5), 1);
  EXPECT_EQ(share_at_most(0, 0), 1);
}

}  // namespace
}  // namespace sightline::gallery
