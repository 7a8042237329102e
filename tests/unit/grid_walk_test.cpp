// The walk downhill on grids whose lowest places are known.
#include "processing/opencl/grid_walk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace sightline {
namespace {

using Place = std::vector<std::size_t>;
constexpr double kAlways = std::numeric_limits<double>::infinity();

class GridWalk : public testing::Test {
 protected:
  // A bowl around (2, 5, 1), steeper along one axis than along the others.
  double cost(const Place& place) {
    EXPECT_TRUE(asked_.insert(place).second) << "asked twice";
    const auto square = [](std::size_t at, double lowest) {
      return (static_cast<double>(at) - lowest) * (static_cast<double>(at) - lowest);
    };
    return 10 + square(place[0], 2) + 3 * square(place[1], 5) + square(place[2], 1);
  }
  GridPlace walk(Place start, double worth = 0.01, double enough = kAlways) {
    return walk_downhill(
        kSizes, std::move(start), [&](const Place& place) { return cost(place); }, worth, enough);
  }

  static constexpr std::array<std::size_t, 3> kSizes{4, 8, 3};
  std::set<Place> asked_;
};

TEST_F(GridWalk, FindsTheBottomOfAValleyFromEverywhere) {
  for (std::size_t x = 0; x < kSizes[0]; ++x) {
    for (std::size_t y = 0; y < kSizes[1]; ++y) {
      for (std::size_t z = 0; z < kSizes[2]; ++z) {
        asked_.clear();
        EXPECT_EQ(walk({x, y, z}, 0).place, (Place{2, 5, 1}));
        EXPECT_LT(asked_.size(), kSizes[0] * kSizes[1] * kSizes[2] / 2);
      }
    }
  }
}

TEST_F(GridWalk, IsShorterFromABetterStart) {
  walk({2, 5, 1});
  const std::size_t from_the_bottom = asked_.size();
  asked_.clear();
  walk({0, 0, 0});
  EXPECT_EQ(from_the_bottom, 7u);
  EXPECT_GT(asked_.size(), 2 * from_the_bottom);
}

TEST_F(GridWalk, DoesNotFollowSmallGains) {
  EXPECT_EQ(walk({2, 4, 1}, 0.5).place, (Place{2, 5, 1})) << "the best that was seen, all the same";
  EXPECT_EQ(asked_.size(), 7u);
}

TEST_F(GridWalk, LeavesAHopelessStart) {
  EXPECT_EQ(walk({0, 0, 0}, 0, 20).place, (Place{0, 0, 0}));
  EXPECT_EQ(asked_.size(), 1u);
}

TEST_F(GridWalk, GoesAroundWhatCannotBe) {
  const auto cost = [](const Place& place) { return place[0] == 1 ? kAlways : 5.0 - double(place[1]); };
  const std::array<std::size_t, 2> sizes{2, 3};
  EXPECT_EQ(walk_downhill(sizes, {1, 0}, cost, 0.01, kAlways).place, (Place{0, 2}));
  const auto never = [](const Place&) { return kAlways; };
  EXPECT_EQ(walk_downhill(sizes, {1, 0}, never, 0.01, kAlways).place, (Place{1, 0}));
}

}  // namespace
}  // namespace sightline
