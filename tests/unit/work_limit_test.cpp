#include "base/work_limit.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <vector>

#include "base/process_policy.hpp"
#include "support/log_capture.hpp"

namespace sightline {
namespace {

// More than the watchdog waits.
void compute() {
  volatile double sum = 0;
  for (const std::clock_t end = std::clock() + 20 * CLOCKS_PER_SEC; std::clock() < end;) sum = sum + 1;
}

std::vector<char> fill(std::size_t bytes) {
  return std::vector<char>(bytes, 'x');
}

TEST(WorkLimit, IsNotPassedByLittle) {
  WorkLimit limit("opening 'a'", {.seconds = 60, .bytes = 1 << 30});
  EXPECT_FALSE(limit.is_passed());
  EXPECT_EQ(limit.problem(), "");
}

TEST(WorkLimit, TellsOfTimeWhereItIsAsked) {
  WorkLimit limit("opening 'a'", {.seconds = 2});
  while (!limit.is_passed()) {
  }
  EXPECT_EQ(limit.problem(), "opening 'a' takes more than 2 s of processor time");
}

TEST(WorkLimit, EndsAComputationThatDoesNotAsk) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const WorkLimit limit("opening 'a\x1b'", {.seconds = 0.1});
        compute();
      },
      testing::ExitedWithCode(3), "opening 'a.x1b' takes more than 0 s of processor time");
}

TEST(WorkLimit, EndsWhatTakesMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const WorkLimit limit("opening 'a'", {.seconds = 60, .bytes = 64 << 20});
        const std::vector<char> large = fill(300 << 20);
        compute();
      },
      testing::ExitedWithCode(3), "more than 64 MiB of memory");
}

// In another program's process.
TEST(WorkLimit, LeavesAProcessAloneThatIsNotItsOwn) {
  set_process_policy({});
  test::LogCapture log;
  {
    const WorkLimit limit("opening 'a'", {.seconds = 0.1});
    while (log.str().empty()) {
    }
    volatile double sum = 0;  // told once
    for (const std::clock_t end = std::clock() + CLOCKS_PER_SEC / 2; std::clock() < end;) sum = sum + 1;
  }
  set_process_policy(kOwnProcess);
  const std::string problem = "opening 'a' takes more than 0 s of processor time";
  EXPECT_NE(log.str().find(problem), std::string::npos);
  EXPECT_EQ(log.str().find(problem), log.str().rfind(problem));
}

// Limits that come and go leave the watchdog asleep or awake.
TEST(WorkLimit, IsForgottenWhenItEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        for (int i = 0; i < 1000; ++i) const WorkLimit limit("opening 'a'", {.seconds = 0.05});
        volatile double sum = 0;
        for (const std::clock_t end = std::clock() + CLOCKS_PER_SEC; std::clock() < end;) sum = sum + 1;
        std::_Exit(7);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace sightline
