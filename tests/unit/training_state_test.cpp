#include "training/state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <set>
#include <vector>

#include "support/filterbank.hpp"
#include "support/training.hpp"
#include "training/progress.hpp"

namespace sightline::training {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

class State : public ::testing::Test {
 protected:
  State() { spdlog::set_level(spdlog::level::err); }
  ~State() override { spdlog::set_level(spdlog::level::info); }

  static void save(const TrainingState& state, const std::string& step, const std::vector<float>& values) {
    Safetensors arrays;
    arrays.set<float>("values", {static_cast<std::int64_t>(values.size())}, values);
    state.save(step, std::move(arrays));
  }
  static std::optional<std::vector<float>> load(const TrainingState& state, const std::string& step,
                                                const std::string& array = "values") {
    return state.load(step, [&](const Safetensors& arrays) {
      const auto values = arrays.array<float>(array, {Safetensors::kAny});
      return std::vector<float>(values.begin(), values.end());
    });
  }

  test::TempDir folder;
};

TEST_F(State, FinishedStepsOutliveTheRun) {
  {
    const TrainingState state(folder / "a/b", "run");
    EXPECT_EQ(load(state, "first"), std::nullopt);
    save(state, "first", {1, 2});
    save(state, "second", {3});
    save(state, "second", {4, 5, 6});  // the later one counts
  }
  const TrainingState state(folder / "a/b", "run");
  EXPECT_THAT(load(state, "first"), Optional(ElementsAre(1, 2)));
  EXPECT_THAT(load(state, "second"), Optional(ElementsAre(4, 5, 6)));
  EXPECT_EQ(load(state, "third"), std::nullopt);
}

TEST_F(State, AnotherRunsStepsAreNotUsedButReplaced) {
  save(TrainingState(folder / "state", "run"), "first", {1});
  const TrainingState other(folder / "state", "another run");
  EXPECT_EQ(load(other, "first"), std::nullopt);
  save(other, "first", {2});
  EXPECT_THAT(load(other, "first"), Optional(ElementsAre(2)));
  EXPECT_EQ(load(TrainingState(folder / "state", "run"), "first"), std::nullopt);
}

TEST_F(State, DamagedFilesAreStepsToDoAgain) {
  const TrainingState state(folder / "state", "run");
  const auto file = folder / "state/first.safetensors";
  save(state, "first", {1, 2, 3});
  const std::string whole = test::bytes_of(file);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, length);
    ASSERT_EQ(load(state, "first"), std::nullopt) << length << " bytes of " << whole.size();
  }
  std::ofstream(file, std::ios::binary | std::ios::trunc) << whole;
  EXPECT_THAT(load(state, "first"), Optional(ElementsAre(1, 2, 3)));
  // A whole file without the array that the step needs, and one that nobody signed.
  EXPECT_EQ(load(state, "first", "weights"), std::nullopt);
  Safetensors unsigned_arrays;
  unsigned_arrays.save(file);
  EXPECT_EQ(load(state, "first"), std::nullopt);
}

TEST_F(State, FolderThatCannotBeMade) {
  std::ofstream(folder / "file") << "x";
  test::expect_error(ExitCode::failed, "--state", [&] { TrainingState(folder / "file/state", "run"); });
}

TEST(RunSignature, OfOptionsAndPictures) {
  class Named : public ImageSet {
   public:
    explicit Named(std::vector<std::string> names) : names_(std::move(names)) {}
    std::size_t size() const override { return names_.size(); }
    std::string name(std::size_t index) const override { return names_[index]; }
    Image<std::uint8_t> load(std::size_t) const override { return {}; }

   private:
    std::vector<std::string> names_;
  };
  const Named none({}), a({"a"}), ab({"a", "b"}), ba({"b", "a"}), b({"b"}), c({"c"});
  EXPECT_EQ(run_signature("options", {&ab, &c}), run_signature("options", {&ab, &c}));
  const std::set<std::string> all{
      run_signature("options", {&ab, &c}), run_signature("others", {&ab, &c}),
      run_signature("options", {&ba, &c}), run_signature("options", {&c, &ab}),
      run_signature("options", {&a, &b}),  run_signature("options", {&ab, &none}),
      run_signature("options", {&ab}),     run_signature("options", {}),
  };
  EXPECT_EQ(all.size(), 8U);
}

class Clock : public ::testing::Test {
 protected:
  ProgressClock make(double total_cost) {
    return ProgressClock(
        [this](const TrainingProgress& progress) {
          reports.push_back(progress);
          return !stop;
        },
        total_cost);
  }
  // The part of the whole that the last report's estimate takes for done.
  double done() const {
    const TrainingProgress& last = reports.back();
    return last.elapsed / (last.elapsed + last.left);
  }

  std::vector<TrainingProgress> reports;
  bool stop = false;
};

TEST_F(Clock, PhasesAndTheirFractions) {
  ProgressClock clock = make(100);
  clock.enter("first", 10);
  clock.tick(0.5);
  clock.enter("second", 90);
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_EQ(reports[0].phase, "first");
  EXPECT_EQ(reports[0].fraction, 0);
  EXPECT_EQ(reports[1].phase, "first");
  EXPECT_EQ(reports[1].fraction, 0.5);
  EXPECT_EQ(reports[2].phase, "second");
  EXPECT_EQ(reports[2].fraction, 0);
  EXPECT_LE(reports[0].elapsed, reports[1].elapsed);
  EXPECT_LE(reports[1].elapsed, reports[2].elapsed);
}

TEST_F(Clock, EstimatesByCost) {
  ProgressClock clock = make(100);
  clock.enter("first", 10);
  clock.tick(0.2);
  EXPECT_LT(reports.back().left, 0);  // 2% tell nothing
  clock.tick(0.3);
  EXPECT_NEAR(done(), 0.03, 1e-9);
  clock.enter("second", 40);
  EXPECT_NEAR(done(), 0.1, 1e-9);
  clock.tick(0.5);
  EXPECT_NEAR(done(), 0.3, 1e-9);
  clock.enter("third", 50);
  clock.tick(1);
  EXPECT_NEAR(reports.back().left, 0, 1e-9);
}

TEST_F(Clock, SkippedPhasesTeachNothing) {
  ProgressClock clock = make(100);
  clock.skip(60);
  clock.enter("first", 10);
  clock.tick(1);
  EXPECT_NEAR(done(), 0.25, 1e-9);
}

TEST_F(Clock, StopsWhereAsked) {
  ProgressClock clock = make(100);
  clock.enter("first", 10);
  EXPECT_TRUE(clock.tick(0.1));
  EXPECT_NO_THROW(clock.check(0.2));
  stop = true;
  EXPECT_FALSE(clock.tick(0.3));
  EXPECT_NO_THROW(clock.enter("second", 10));  // between two phases, there may be something to save
  EXPECT_THROW(clock.check(0), TrainingStopped);
}

}  // namespace
}  // namespace sightline::training
