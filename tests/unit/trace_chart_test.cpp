#include "pipeline/report/trace_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "pipeline/report/chrome_trace.hpp"
#include "support/media.hpp"

namespace sightline::pipeline::test {
namespace {

using media::test::TempDir;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMillisecond = 1'000'000;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Two kernels of a stage and an upload on a device, beside decoding; the first kernel takes ten times as long
// in the frames of the second half.
std::string chart_of(int frames, const std::string& path) {
  const std::unique_ptr<TraceFile> chart = open_trace_file(path);
  chart->begin({{"pyramid", "scan"}, {"CPU", "GPU <1>"}, {"a"}, 1, 0});
  for (int i = 0; i < frames; ++i) {
    const std::int64_t first = (i < frames / 2 ? 1 : 10) * kMillisecond;
    const Span spans[] = {{Activity::decode, 0, 0, 0, 0, 2 * kMillisecond},
                          {Activity::wait, 1, 1, 0, 0, 50 * kMillisecond},
                          {Activity::upload, 1, 1, 0, 0, kMillisecond / 2},
                          {Activity::run, 1, 1, 0, 0, first},
                          {Activity::run, 1, 1, 0, first, first + 8 * kMillisecond, 0, 2}};
    FrameTrace trace;
    trace.frame = i;
    trace.spans = spans;
    chart->accept(trace);
  }
  chart->finish();
  chart->finish();
  return text_of(path);
}

TEST(TraceChart, HasALineForEachStep) {
  const TempDir folder;
  const std::string svg = chart_of(4, folder / "steps.SVG");
  for (const char* words : {">decode<", ">upload scan, GPU &lt;1&gt;<", ">scan 1, GPU &lt;1&gt;<",
                            ">scan 2, GPU &lt;1&gt;<", ">frame<", ">ms a frame<"})
    EXPECT_THAT(svg, HasSubstr(words));
  EXPECT_THAT(svg, Not(HasSubstr("wait")));
  // From 0.5 to 10 ms; frames 0 to 3 over the width. The second kernel's 8 ms are shared by two frames.
  EXPECT_THAT(svg, HasSubstr(">10<"));
  EXPECT_THAT(svg, Not(HasSubstr(">20<")));
}

TEST(TraceChart, KeepsMeansOfLongRuns) {
  const TempDir folder;
  const int frames = 2 * static_cast<int>(TraceChart::kMostPoints) + 2;
  const std::string svg = chart_of(frames, folder / "steps.svg");
  EXPECT_THAT(svg, HasSubstr(">frame, means of 4 frames<"));
  EXPECT_LT(svg.size(), 100'000U);
  EXPECT_THAT(svg, HasSubstr(">10<"));
}

TEST(TraceChart, OfNoFramesIsAPicture) {
  const TempDir folder;
  EXPECT_THAT(chart_of(0, folder / "none.svg"), HasSubstr("<svg"));
  EXPECT_THAT(chart_of(1, folder / "events.json"), HasSubstr("traceEvents"));
}

}  // namespace
}  // namespace sightline::pipeline::test
