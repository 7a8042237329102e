// The steps of WaldBoost's progressive kernels: from the model's survivors, and as users give them.
#include "detectors/waldboost/steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "detectors/waldboost/detector.hpp"
#include "support/errors.hpp"
#include "support/waldboost.hpp"

namespace sightline::waldboost {
namespace {

using Steps = std::vector<ProgressiveStep>;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Model model_of_eight() {
  Model model = test::random_waldboost(1, 8);
  model.survivors = {0.5F, 0.4F, 0.25F, 0.2F, 0.06F, 0.02F, 0.01F, 0.001F};
  return model;
}

TEST(WaldboostSteps, FollowTheSurvivors) {
  Model model = model_of_eight();
  EXPECT_EQ(progressive_steps(model, usual_shares(2)), (Steps{{8, 3, 0}, {4, 2, 0}, {4, 2, 0}, {4, 0, 8}}));
  EXPECT_EQ(progressive_steps(model, usual_shares(0)), (Steps{{8, 3, 0}, {4, 0, 5}}));
  EXPECT_EQ(progressive_steps(model, usual_shares(3)),
            (Steps{{8, 3, 0}, {4, 2, 0}, {4, 2, 0}, {4, 1, 0}, {4, 0, 8}}));
  EXPECT_EQ(progressive_steps(model, std::vector{4, 2}), (Steps{{4, 1, 0}, {2, 0, 3}}));
  model.survivors.clear();
  EXPECT_EQ(progressive_steps(model, usual_shares(2)), (Steps{{8, 4, 0}, {4, 8, 0}, {4, 8, 0}, {4, 0, 28}}));
}

TEST(WaldboostSteps, ComeToThePhasesThatAreGiven) {
  const Steps steps = progressive_steps(std::vector{8, 4, 2}, std::vector{26, 41, 56});
  EXPECT_EQ(steps, (Steps{{8, 0, 26}, {4, 0, 41}, {2, 0, 56}}));
  EXPECT_THAT(phases_of(steps), ElementsAre(26, 41, 56));
  EXPECT_THAT(phases_of(progressive_steps(model_of_eight(), usual_shares(2))), ElementsAre(3, 5, 7, 8));
}

// M. Hruby's sets, which all leave one window in 512.
TEST(WaldboostSteps, SharesReduceWindowsAlike) {
  EXPECT_EQ(usual_shares(), (std::vector{8, 4, 4, 4}));
  EXPECT_EQ(shares_of(8, 4), (std::vector{8, 4, 4, 4}));
  EXPECT_EQ(shares_of(4, 4), (std::vector{4, 4, 4, 4, 2}));
  EXPECT_EQ(shares_of(8, 8), (std::vector{8, 8, 8}));
  EXPECT_EQ(shares_of(4, 2), (std::vector{4, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(shares_of(16, 8), (std::vector{16, 8, 4}));
  EXPECT_EQ(shares_of(32, 16), (std::vector{32, 16}));
  EXPECT_LE(shares_of(2, 2).size(), static_cast<std::size_t>(kMostSteps));
}

TEST(WaldboostSteps, AreReadFromText) {
  EXPECT_THAT(parse_shares("", "a.toml"), ElementsAre());
  EXPECT_THAT(parse_shares("16,8,4", "a.toml"), ElementsAre(16, 8, 4));
  EXPECT_THAT(parse_phases("4,4,4096", "a.toml"), ElementsAre(4, 4, 4096));
  const auto complaint = [](auto parse, const char* text) {
    return test::error_of(ExitCode::usage, [&] { parse(text, "a.toml"); });
  };
  EXPECT_THAT(complaint(parse_shares, "8,x"), AllOf(HasSubstr("a.toml:"), HasSubstr("'shares'")));
  for (const char* text : {"8", "8,1", "8,257", "8,4,", ",8", "8,,4", "8 4", "8,4.0", "8,-4",
                           "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2"})
    EXPECT_THAT(complaint(parse_shares, text), HasSubstr("256")) << text;
  EXPECT_THAT(complaint(parse_phases, "0,4"), AllOf(HasSubstr("'0'"), HasSubstr("4096")));
  EXPECT_THAT(complaint(parse_phases, "4,12,8"), HasSubstr("falls"));
}

TEST(WaldboostSteps, PhasesAndSharesAreOfEquallyMany) {
  const Model model = model_of_eight();
  EXPECT_EQ(steps_for(model, {}, {}), progressive_steps(model, usual_shares()));
  EXPECT_EQ(steps_for(model, std::vector{4, 4}, {}), progressive_steps(model, std::vector{4, 4}));
  EXPECT_EQ(steps_for(model, {}, std::vector{1, 2, 3, 4}),
            (Steps{{8, 0, 1}, {4, 0, 2}, {4, 0, 3}, {4, 0, 4}}));
  Options options;
  options.phases = {1, 2, 3};
  EXPECT_THAT(test::error_of(ExitCode::usage, [&] { WaldboostDetector(model, options); }),
              AllOf(HasSubstr("'phases'"), HasSubstr("3 steps")));
  options.shares = {4, 4};
  EXPECT_THAT(test::error_of(ExitCode::usage, [&] { WaldboostDetector(model, options); }),
              AllOf(HasSubstr("'phases'"), HasSubstr("3 steps")));
}

}  // namespace
}  // namespace sightline::waldboost
