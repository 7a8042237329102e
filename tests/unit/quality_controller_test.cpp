// When a run turns to another setting: made-up loads go in, turns come out.

#include "pipeline/planning/quality_controller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "params/config.hpp"
#include "pipeline/planning/quality_objective.hpp"
#include "support/errors.hpp"

namespace sightline::pipeline {
namespace {

using testing::HasSubstr;

// A machine on which setting i takes `cost[i]` of the limit, times what else goes on.
struct World {
  World(std::vector<double> settings, std::size_t first)
      : cost(std::move(settings)), logic(cost.size(), first) {}

  // A look every half second.
  void run(
      double seconds, const std::function<double(double)>& times = [](double) { return 1.0; }) {
    for (const double end = now + seconds; now < end; now += 0.5) {
      const double load = cost[logic.setting()] * times(now);
      over += load > 1.05;
      if (const auto to = logic.observe(now, load)) {
        EXPECT_EQ(*to, logic.setting());
        turns.push_back({now, *to});
      }
    }
  }

  struct Turn {
    double at = 0;
    std::size_t to = 0;
  };
  std::vector<double> cost;
  QualityController logic;
  double now = 100;
  std::vector<Turn> turns;
  int over = 0;  // looks that found the limit not held
};

TEST(QualityController, FindsTheMostAccurateThatHolds) {
  const std::vector<double> cost{2.2, 1.7, 1.3, 0.9, 0.6, 0.4};
  for (std::size_t first = 0; first < cost.size(); ++first) {
    World world(cost, first);
    world.run(60);
    EXPECT_EQ(world.logic.setting(), 3u) << first;
    const std::size_t turns = world.turns.size();
    EXPECT_LE(turns, 6u) << first;
    world.run(3600);
    EXPECT_EQ(world.turns.size(), turns) << "nothing has changed since";
  }
}

TEST(QualityController, LimitIsKeptSoonUnderASuddenLoad) {
  World world({0.9, 0.6, 0.45, 0.3}, 0);
  world.run(30);
  EXPECT_TRUE(world.turns.empty());
  world.over = 0;
  world.run(30, [](double) { return 2.0; });
  EXPECT_EQ(world.cost[world.logic.setting()], 0.45);
  EXPECT_LE(world.over, 4) << "two seconds";
  world.run(60);
  EXPECT_EQ(world.logic.setting(), 0u) << "the load has gone";
}

TEST(QualityController, NeitherTooLittleNorTooMuchIsFollowedAtOnce) {
  World world({1.1, 0.8}, 1);
  world.run(3600);
  EXPECT_LE(world.turns.size(), 12u) << "tried ever more seldom";
  EXPECT_LE(world.over, 18) << "looks, of 7200";
  EXPECT_EQ(world.logic.setting(), 1u);
  World light({0.5, 0.4}, 1);
  light.run(1);
  EXPECT_TRUE(light.turns.empty());
  light.run(5);
  EXPECT_EQ(light.logic.setting(), 0u);
}

TEST(QualityController, NoiseIsNotFollowed) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> noise(0.93, 1.07);
  World world({1.3, 0.96, 0.7}, 1);
  world.run(3600, [&](double) { return noise(engine); });
  EXPECT_LE(world.turns.size(), 2u);
  EXPECT_EQ(world.logic.setting(), 1u);
}

TEST(QualityController, OneFrameOfMuchWorkIsNothing) {
  World world({0.95, 0.6}, 0);
  int look = 0;
  world.run(600, [&](double) { return ++look % 7 == 0 ? 1.2 : 1.0; });
  EXPECT_TRUE(world.turns.empty());
}

// Whenever it has turned up, there is more to do: what was predicted is never what comes.
TEST(QualityController, MistakesAreMadeMoreAndMoreSeldom) {
  World world({1.0, 0.8}, 1);
  double heavy_until = 0;
  std::size_t seen = 0;
  world.run(1200, [&](double now) {
    if (world.turns.size() > seen && world.turns.back().to == 0) heavy_until = now + 3;
    seen = world.turns.size();
    return now < heavy_until ? 1.3 : 0.85;
  });
  std::vector<double> climbs;
  for (const World::Turn& turn : world.turns)
    if (turn.to == 0) climbs.push_back(turn.at);
  ASSERT_GE(climbs.size(), 3u);
  EXPECT_LE(climbs.size(), 6u);
  for (std::size_t i = 2; i < climbs.size(); ++i)
    EXPECT_GE(climbs[i] - climbs[i - 1], 1.7 * (climbs[i - 1] - climbs[i - 2]));
}

TEST(QualityController, PredictsWhatItHasSeen) {
  World world({1.5, 1.0, 0.5}, 0);
  EXPECT_NEAR(world.logic.predicted(2, 1.69), 1, 1e-9) << "a guess";
  world.run(60);
  ASSERT_EQ(world.turns.size(), 2u);
  EXPECT_EQ(world.turns[0].to, 2u) << "guessed too far, which nobody knew";
  EXPECT_EQ(world.turns[1].to, 1u);
  EXPECT_NEAR(world.logic.predicted(2, 1.0), 0.5, 0.1);
}

// The machine was busy for a moment, with every setting: the fastest is not left to itself for it.
TEST(QualityController, ComesBackFromTheFastestSoon) {
  World world({0.55, 0.5, 0.45, 0.4, 0.3, 0.25}, 2);
  world.run(5, [](double) { return 4.0; });
  EXPECT_EQ(world.logic.setting(), 5u);
  world.run(60);
  EXPECT_EQ(world.logic.setting(), 0u);
}

// A load that came with a turn and went again is not held against the setting for ever.
TEST(QualityController, ForgetsWhatWasNotTheSettingsFault) {
  World world({0.8, 0.6}, 0);
  world.run(20);
  world.run(5, [](double) { return 3.0; });
  EXPECT_EQ(world.logic.setting(), 1u);
  world.run(120);
  EXPECT_EQ(world.logic.setting(), 0u);
}

TEST(QualityController, NumbersThatAreNoneAreLeftOut) {
  QualityController logic(2, 1);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(logic.observe(i, std::numeric_limits<double>::infinity()), std::nullopt);
    EXPECT_EQ(logic.observe(i, std::numeric_limits<double>::quiet_NaN()), std::nullopt);
    EXPECT_EQ(logic.observe(i, -1), std::nullopt);
  }
  QualityController only(1, 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(only.observe(i, i % 2 ? 5 : 0.1), std::nullopt);
}

TEST(BatteryController, StepsWithTheLevelAndNotBackAtOnce) {
  BatteryController battery(5, 1);
  const auto at = [&](double level, bool charging = false) { return battery.observe(level, charging); };
  EXPECT_EQ(at(1), 1u);
  EXPECT_EQ(at(0.51), 1u);
  EXPECT_EQ(at(0.49), 2u);
  EXPECT_EQ(at(0.52), 2u) << "levels tremble";
  EXPECT_EQ(at(0.54), 1u);
  EXPECT_EQ(at(0.19), 4u);
  EXPECT_EQ(at(0.21), 4u);
  EXPECT_EQ(at(0.24), 2u);
  EXPECT_EQ(at(0.05), 4u);
  EXPECT_EQ(at(0.05, true), 1u);
  EXPECT_EQ(BatteryController(2, 1).observe(0.4, false), 1u) << "there is no faster one";
}

TEST(QualityObjective, IsReadAndSaid) {
  QualityRequest request;
  EXPECT_EQ(objective_of(request).kind, QualityObjective::Kind::none);
  for (const auto& [text, said] : {std::pair{"40W", "no more than 40 W"},
                                   {"40 W", "no more than 40 W"},
                                   {"0.2J", "no more than 0.2 J per frame"},
                                   {"1e-3 j", "no more than 0.001 J per frame"}}) {
    request.budget = text;
    EXPECT_EQ(describe(objective_of(request)), said);
  }
  for (const char* text : {"40", "W", "0W", "-1J", "40WW", "40 kW", "infW", "nanJ", "forty", "1,5W"}) {
    request.budget = text;
    EXPECT_THAT(sightline::test::error_of(ExitCode::usage, [&] { objective_of(request); }),
                HasSubstr("not a budget"))
        << text;
  }
  request.budget = "1W";
  request.hold = 30;
  EXPECT_THAT(sightline::test::error_of(ExitCode::usage, [&] { objective_of(request); }),
              HasSubstr("one of"));
  request.budget.clear();
  EXPECT_EQ(describe(objective_of(request)), "hold 30 frames/s");
}

TEST(QualityObjective, ComesFromTheConfigurationWhereNothingElseIsAsked) {
  const Config config = Config::parse("[knob]\nsettings = \"scale_step=1.2\"\nhold = 12.5\n", "some.toml");
  QualityRequest request;
  read_quality(config, request);
  EXPECT_EQ(request.settings, "scale_step=1.2");
  EXPECT_EQ(request.hold, 12.5);
  QualityRequest other;
  other.budget = "3W";
  other.settings = "scale_step=1.3";
  read_quality(config, other);
  EXPECT_EQ(other.settings, "scale_step=1.3");
  EXPECT_EQ(other.hold, std::nullopt);
  EXPECT_THAT(sightline::test::error_of(ExitCode::usage,
                                        [] {
                                          QualityRequest bad;
                                          read_quality(Config::parse("[knob]\nhold = 0\n", "bad.toml"), bad);
                                        }),
              HasSubstr("bad.toml:2"));
}

}  // namespace
}  // namespace sightline::pipeline
