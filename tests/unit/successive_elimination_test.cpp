// What is found of several by trials that scatter, with made-up meters.
#include "pipeline/planning/successive_elimination.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace sightline::pipeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Millijoules a frame under each mapping, as they are.
struct Machine {
  std::vector<double> truth;
  double scatter = 0;  // of a reading, as a share
};

class NoisyMeter {
 public:
  NoisyMeter(const Machine& machine, unsigned seed) : machine_(machine), random_(seed) {}
  std::optional<double> operator()(std::size_t i) {
    ++trials;
    return machine_.truth[i] * (1 + machine_.scatter * normal_(random_));
  }
  int trials = 0;

 private:
  const Machine& machine_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

constexpr EliminationLimits kLimits{2, 40};

std::vector<RaceCandidate> predicted(const std::vector<double>& joules) {
  std::vector<RaceCandidate> candidates;
  for (const double one : joules) candidates.push_back({one, 1});
  return candidates;
}

// Of so many machines that scatter alike, on how many the best mapping is taken.
int right_by_elimination(const Machine& machine, const std::vector<double>& predictions, int machines) {
  int right = 0;
  for (int seed = 1; seed <= machines; ++seed) {
    NoisyMeter meter(machine, static_cast<unsigned>(seed));
    right += eliminate_successively(predicted(predictions), kLimits, std::ref(meter)).best == 0;
  }
  return right;
}

// The rule that there was before: one after the other, two windows each, of which one counts.
int right_by_two_windows(const Machine& machine, int machines) {
  int right = 0;
  for (int seed = 1; seed <= machines; ++seed) {
    NoisyMeter meter(machine, static_cast<unsigned>(seed));
    std::vector<double> seen;
    for (std::size_t i = 0; i < machine.truth.size(); ++i) {
      meter(i);
      seen.push_back(*meter(i));
    }
    right += std::ranges::min_element(seen) == seen.begin();
  }
  return right;
}

TEST(SuccessiveElimination, WhatMetersCannotTellApartIsPredicted) {
  // As it was seen: 227 and 233 mJ in long runs, readings of two seconds that scatter by more than that.
  const Machine machine{{227, 233, 260, 300, 400}, 0.07};
  EXPECT_LT(right_by_two_windows(machine, 200), 140);
  EXPECT_GT(right_by_elimination(machine, {210, 215, 250, 280, 380}, 200), 180);
}

TEST(SuccessiveElimination, MetersThatAreSureOverruleAPrediction) {
  const Machine scattering{{200, 240, 260, 300, 400}, 0.07};
  EXPECT_GT(right_by_elimination(scattering, {240, 210, 250, 280, 380}, 200), 190);
  const Machine quiet{{227, 233, 260, 300, 400}, 0.01};
  EXPECT_GT(right_by_elimination(quiet, {220, 210, 250, 280, 380}, 200), 190);
}

TEST(SuccessiveElimination, GoOnOnlyAmongThoseThatMayBeBest) {
  const Machine machine{{227, 230, 400}, 0.04};
  NoisyMeter meter(machine, 3);
  const EliminationResult result =
      eliminate_successively(predicted({227, 230, 400}), kLimits, std::ref(meter));
  EXPECT_LE(result.tried[2].seen.size(), 4U);
  EXPECT_GT(result.tried[0].seen.size(), 10U);
  EXPECT_NEAR(result.tried[0].mean, 227, 2 * result.tried[0].error);
  EXPECT_THAT(result.tied, ElementsAre(0, 1));
}

TEST(SuccessiveElimination, EndWhenOneIsLeft) {
  const Machine machine{{200, 300, 400}, 0.01};
  NoisyMeter meter(machine, 1);
  const EliminationResult result = eliminate_successively(predicted({1, 1, 1}), kLimits, std::ref(meter));
  EXPECT_EQ(meter.trials, 6);
  EXPECT_EQ(result.best, 0U);
  EXPECT_THAT(result.tied, ElementsAre(0));
}

TEST(SuccessiveElimination, EndAtTheLimit) {
  const Machine machine{{200, 200, 200, 200, 200}, 0.2};
  for (const int limit : {0, 11, 40}) {
    NoisyMeter meter(machine, 1);
    eliminate_successively(predicted({1, 1, 1, 1, 1}), {2, limit}, std::ref(meter));
    EXPECT_EQ(meter.trials, std::max(limit, 10));
  }
}

TEST(SuccessiveElimination, WhatDriftsMeetsAllAlike) {
  double joules = 100;  // more with each trial, as where a processor gets warm
  const auto drifting = [&](std::size_t) { return std::optional(joules += 2); };
  const EliminationResult result = eliminate_successively(predicted({3, 2, 1}), {2, 0}, drifting);
  EXPECT_THAT(result.tied, ElementsAre(0, 1, 2));
  EXPECT_EQ(result.tried[0].mean, result.tried[2].mean);
  EXPECT_EQ(result.best, 2U);
}

TEST(SuccessiveElimination, TiesGoToThePredictionThenToFewerProcessorsThenToTheFirst) {
  int turn = 0;
  const auto alike = [&](std::size_t) { return std::optional(100.0 + 10 * (turn++ % 2)); };
  const auto best_of = [&](const std::vector<RaceCandidate>& candidates) {
    return eliminate_successively(candidates, {3, 0}, alike).best;
  };
  EXPECT_EQ(best_of({{5.0, 1}, {4.0, 2}, {6.0, 1}}), 1U);
  EXPECT_EQ(best_of({{4.03, 2}, {4.0, 2}, {4.02, 1}, {4.02, 1}}), 2U) << "within a hundredth";
  EXPECT_EQ(best_of({{4.0, 2}, {4.0, 2}}), 0U);
  EXPECT_EQ(best_of({{std::nullopt, 1}, {9.0, 3}}), 1U) << "one that nothing is known of comes last";
  EXPECT_EQ(best_of({{std::nullopt, 2}, {std::nullopt, 1}}), 1U);
}

// Of frames in flight nothing is predicted, and six with 16 trials mostly stay tied.
TEST(SuccessiveElimination, WhereNothingIsPredictedWhatWasMeasuredCounts) {
  const Machine machine{{250, 238, 230, 225, 224, 226}, 0.04};
  const auto mean_taken = [&](const EliminationLimits& limits) {
    const std::vector<RaceCandidate> alike = predicted(std::vector<double>(6, 200));
    double joules = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
      NoisyMeter meter(machine, seed);
      joules += machine.truth[*eliminate_successively(alike, limits, std::ref(meter)).best];
    }
    return joules / 200;
  };
  EXPECT_GT(mean_taken({2, 16}), 232) << "the first of all that are tied";
  EXPECT_LT(mean_taken({2, 16, 1.03}), 228);
}

TEST(SuccessiveElimination, OfThoseThatAreAsGoodTheFirstIsTaken) {
  // Two readings each, 20% apart: all are tied.
  const auto best_of = [](const std::vector<double>& means, double worth) {
    int turn = 0;
    const auto scattering = [&](std::size_t i) {
      return std::optional(means[i] * (turn++ < static_cast<int>(means.size()) ? 0.9 : 1.1));
    };
    const EliminationLimits limits{2, 0, worth};
    const EliminationResult result =
        eliminate_successively(predicted(std::vector<double>(means.size(), 1)), limits, scattering);
    EXPECT_EQ(result.tied.size(), means.size());
    return result.best;
  };
  EXPECT_EQ(best_of({102, 100, 99.5}, 1.03), 0U);
  EXPECT_EQ(best_of({104, 102, 100}, 1.03), 1U);
  EXPECT_EQ(best_of({104, 103.5, 100}, 1.03), 2U);
  EXPECT_EQ(best_of({104, 102, 100}, 1.1), 0U);
}

TEST(SuccessiveElimination, WhereATrialHasNoResultWhatIsKnownCounts) {
  int trials = 0;
  const auto stopping = [&](std::size_t i) {
    return ++trials > 2 ? std::nullopt : std::optional(100.0 - static_cast<double>(i));
  };
  const EliminationResult result = eliminate_successively(predicted({1, 1, 1}), kLimits, stopping);
  EXPECT_EQ(trials, 3);
  EXPECT_TRUE(result.tried[2].seen.empty());
  EXPECT_THAT(result.tied, ElementsAre(0, 1)) << "nothing was repeated";
  trials = 2;
  const EliminationResult none = eliminate_successively(predicted({1, 1}), kLimits, stopping);
  EXPECT_FALSE(none.best);
  EXPECT_THAT(none.tied, IsEmpty());
  EXPECT_FALSE(eliminate_successively({}, kLimits, stopping).best);
}

}  // namespace
}  // namespace sightline::pipeline
