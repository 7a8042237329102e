// Texts about a run.
#include "apps/common/run_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sightline::apps {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// Ten seconds, in which decoding, the device and the output were busy so long.
pipeline::RunReport run(double decode, double device, double output) {
  pipeline::RunReport report;
  report.seconds = 10;
  report.stages = {{"decode", "CPU", decode, decode},
                   {"pyramid", "CPU", 9.9, 2},
                   {"filter", "GPU", 3 * device, 0},  // of overlapping frames
                   {"output", "CPU", output, output}};
  report.devices = {{"GPU", device}};
  return report;
}

constexpr RunLoad kIdle{.cpu_seconds = 5, .threads = 4};

TEST(LimitText, NamesWhatWasBusyNearlyAllTheTime) {
  EXPECT_THAT(limit_text(run(9.5, 5, 1), kIdle), StartsWith("limited by decoding, busy 95% of the time"));
  EXPECT_THAT(limit_text(run(5, 9.7, 1), kIdle), StartsWith("limited by GPU, busy 97% of the time"));
  EXPECT_THAT(limit_text(run(5, 6, 9), kIdle), StartsWith("limited by writing, busy 90% of the time"));
}

TEST(LimitText, SaysNothingWhereNothingWas) {
  EXPECT_THAT(limit_text(run(8, 8, 8), kIdle), IsEmpty());
  EXPECT_THAT(limit_text({}, kIdle), IsEmpty());
}

// Stages seem busy while their threads wait for the CPU.
TEST(LimitText, BlamesTheCpuFirst) {
  EXPECT_THAT(limit_text(run(9.9, 9, 1), {.cpu_seconds = 38, .threads = 4}),
              StartsWith("limited by the CPU, busy 95% of the time"));
}

TEST(LimitText, OfSourcesSideBySideEachHasADecoder) {
  pipeline::RunReport four = run(20, 5, 1);
  four.sources = 4;
  EXPECT_THAT(limit_text(four, kIdle), IsEmpty());
  four.stages[0].seconds = 38;
  EXPECT_THAT(limit_text(four, kIdle), StartsWith("limited by decoding, busy 95%"));
}

TEST(LimitText, AdvisesAnotherDecoderOnlyWhereItWouldDecode) {
  EXPECT_THAT(limit_text(run(9.5, 5, 1), kIdle), HasSubstr("--decoder auto"));
  EXPECT_THAT(limit_text(run(9.5, 5, 1), {.cpu_seconds = 5, .threads = 4, .decodes_video = false}),
              Not(HasSubstr("--decoder")));
  EXPECT_THAT(limit_text(run(5, 9.5, 1), kIdle), Not(HasSubstr("--decoder")));
}

}  // namespace
}  // namespace sightline::apps
