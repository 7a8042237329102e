// In steady state the pipeline asks for no memory.
#include <gtest/gtest.h>

#include <cstdio>

#include "allocations/allocations.hpp"
#include "detection/composite_detector.hpp"
#include "pipeline/session/pipeline.hpp"
#include "pipeline/session/sources.hpp"
#include "support/no_detector.hpp"

namespace sightline::pipeline {
namespace {

// Notes the number of allocations at two frames.
class Meter : public MemorySource {
 public:
  using MemorySource::MemorySource;
  static constexpr std::int64_t kWarm = 3000, kEnd = 5000;
  std::optional<Frame> read() override {
    std::optional<Frame> frame = MemorySource::read();
    if (frame && frame->number() == kWarm) start_ = test::allocations;
    if (frame && frame->number() == kEnd) end_ = test::allocations;
    return frame;
  }
  std::int64_t counted() const { return end_ - start_; }

 private:
  std::int64_t start_ = 0, end_ = 0;
};

class NoSink : public Sink {
 public:
  void accept(const Frame&, const FrameResult&) override {}
};

void expect_none_a_frame(const Detector& detector) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "this build's memory allocation cannot be counted";
  Image<std::uint8_t> picture(16, 16);
  for (const int in_flight : {1, 4}) {
    Schedule schedule;
    schedule.in_flight = in_flight;
    Pipeline pipeline(detector, nullptr, schedule, {2});
    Meter meter({frame_from_gray(picture.view())}, Meter::kEnd);
    NoSink sink;
    Stream stream{&meter, "a name too long to be kept inside the string object", {&sink}, {}};
    const std::int64_t before = test::allocations;
    pipeline.run(stream);
    EXPECT_GT(test::allocations - before, 10) << "nothing is counted";
    const double a_frame = static_cast<double>(meter.counted()) / (Meter::kEnd - Meter::kWarm);
    testing::Test::RecordProperty("in_flight_" + std::to_string(in_flight), std::to_string(a_frame));
    // TBB's pools of tasks grow now and then, when a thread meets more of another's than before.
    EXPECT_LT(a_frame, 0.02) << meter.counted() << " in " << Meter::kEnd - Meter::kWarm << " frames, "
                             << in_flight << " in flight";
    std::printf("%d in flight: %lld allocations in %lld frames\n", in_flight,
                static_cast<long long>(meter.counted()), static_cast<long long>(Meter::kEnd - Meter::kWarm));
  }
}

TEST(Allocations, NoneAFrame) {
  expect_none_a_frame(test::NoDetector(true));
}

TEST(Allocations, NoneAFrameOfSeveralDetectors) {
  const auto make = [] { return std::make_unique<test::NoDetector>(true); };
  std::vector<NamedDetector> points;
  points.push_back({"accurate", make()});
  points.push_back({"fast", make()});
  std::vector<CompositeBranch> branches;
  branches.emplace_back(std::move(points), 1);
  branches.emplace_back(make());
  expect_none_a_frame(CompositeDetector(std::move(branches)));
}

}  // namespace
}  // namespace sightline::pipeline
