// The benchmarks of a device: what they time is right (they throw where it is not), every row is there, and
// its values are numbers in order. No timing is judged.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "characterisation/benchmarks.hpp"
#include "characterisation/characterise.hpp"
#include "characterisation/decisions.hpp"
#include "characterisation/host_benchmarks.hpp"
#include "characterisation/programs.hpp"
#include "kernels/opencl_test.hpp"
#include "opencl/error.hpp"
#include "support/errors.hpp"

namespace sightline::characterisation {
namespace {

using testing::IsSupersetOf;

CharacteriseOptions brief() {
  CharacteriseOptions options;
  options.length = Length::brief;
  return options;
}

std::vector<std::string> curves_of(const Characteristics& p) {
  std::vector<std::string> ids;
  for (const Curve& curve : p.curves) ids.push_back(curve.id);
  return ids;
}

std::vector<std::string> figures_of(const Characteristics& p) {
  std::vector<std::string> ids;
  for (const Figure& figure : p.figures) ids.push_back(figure.id);
  return ids;
}

void expect_in_order(const Spread& spread, const std::string& what) {
  EXPECT_TRUE(std::isfinite(spread.smallest) && std::isfinite(spread.largest)) << what;
  EXPECT_GE(spread.smallest, 0) << what;
  EXPECT_LE(spread.smallest, spread.median) << what;
  EXPECT_LE(spread.median, spread.largest) << what;
}

// Times that the filling of local memory is taken off: on a busy machine, two brief repeats may leave
// nothing.
bool is_difference(const Curve& curve) {
  return curve.id == "latency.local" || curve.id.starts_with("banks.");
}

// Each id once, points in order, values that are numbers.
void expect_whole(const Characteristics& p) {
  for (const Loss& loss : p.losses) ADD_FAILURE() << loss.what << ": " << loss.why;
  std::set<std::string> ids;
  for (const Curve& curve : p.curves) {
    EXPECT_TRUE(ids.insert(curve.id).second) << curve.id << " twice";
    EXPECT_GE(curve.points.size(), 2U) << curve.id;
    EXPECT_TRUE(std::ranges::is_sorted(curve.points, std::less_equal<>(), &Point::x)) << curve.id;
    for (const Point& point : curve.points) {
      expect_in_order(point.y, curve.id);
      EXPECT_TRUE(point.y.largest > 0 || is_difference(curve)) << curve.id;
    }
  }
  for (const Figure& figure : p.figures) {
    EXPECT_TRUE(ids.insert(figure.id).second) << figure.id << " twice";
    expect_in_order(figure.value, figure.id);
    EXPECT_TRUE(figure.value.largest > 0 || figure.id == kInterruptedLoops) << figure.id;
  }
  EXPECT_GT(p.memory_ns, 0);
  EXPECT_GT(p.seconds, 0);
}

class Characterisation : public test::ExactDevicesTest {};

TEST_F(Characterisation, ADeviceHasAllRows) {
  for (const opencl::DeviceInfo& device : devices_) {
    SCOPED_TRACE(device.name);
    const Characteristics host = [] {
      Characteristics made_up;
      made_up.figures = {{"peak.float", "", "", Clock::host, true, {1, 1, 1}},
                         {"launch.latency", "", "", Clock::host, false, {1, 1, 1}}};
      return made_up;
    }();
    const Characteristics p = characterise_device({device, 0, ""}, nullptr, brief(), &host);
    expect_whole(p);
    EXPECT_THAT(curves_of(p),
                IsSupersetOf({"transfer.pageable.up", "transfer.pageable.down", "transfer.pinned.up",
                              "transfer.pinned.down", "transfer.mapped.up", "transfer.mapped.down",
                              "copy.group.float", "copy.group.float4", "read.width", "latency.global",
                              "latency.local", "banks.two", "banks.sub_group", "parallel.group",
                              "parallel.groups", "atomics.global", "atomics.local", "divergence"}));
    EXPECT_EQ(std::ranges::count_if(p.curves, [](const Curve& c) { return c.id.starts_with("shift."); }), 2);
    EXPECT_EQ(std::ranges::count_if(p.curves, [](const Curve& c) { return c.id.starts_with("stride."); }), 2);
    EXPECT_THAT(figures_of(p), IsSupersetOf({"peak.float",
                                             "peak.int",
                                             "cached.global",
                                             "cached.local",
                                             "cached.constant",
                                             "codes.buffer",
                                             "codes.image",
                                             "latency.int.add",
                                             "latency.int.subtract",
                                             "latency.int.multiply",
                                             "latency.int.divide",
                                             "latency.float.add",
                                             "latency.float.subtract",
                                             "latency.float.multiply",
                                             "latency.float.divide",
                                             "parallel.group.knee",
                                             "parallel.groups.knee",
                                             "launch.latency",
                                             "launch.interval",
                                             "launch.event",
                                             "sub_group"}));
    EXPECT_GT(p.build_seconds, 0);
    EXPECT_EQ(p.parts.size(), 12U);
    double parts = p.build_seconds;
    for (const Part& part : p.parts) parts += part.seconds;
    EXPECT_LE(parts, p.seconds) << "no second is counted twice";
    EXPECT_EQ(p.figure("peak.double") > 0, has_numbers(device, Number::double_number));
    EXPECT_EQ(p.figure("peak.half") > 0, has_numbers(device, Number::half_number));
    EXPECT_EQ(p.figure("peak.dot") > 0, has_numbers(device, Number::bytes));
    std::set<std::string> decisions;
    for (const Decision& one : p.decisions) {
      EXPECT_FALSE(one.choice.empty() || one.text.empty()) << one.id;
      decisions.insert(one.id);
    }
    decisions.insert("fill");  // only where it says more than the work-groups' size
    EXPECT_EQ(decisions,
              (std::set<std::string>{"transfer", "work_group", "vector_width", "alignment", "local_memory",
                                     "counting", "branches", "fill", "numbers", "stage_place"}));
  }
}

TEST_F(Characterisation, AllKernelsAreBuiltBeforeAnythingIsMeasured) {
  for (const opencl::DeviceInfo& device : devices_) {
    const opencl::Context& context = test::shared_context(device);
    DeviceSession session(context, nullptr, {Length::brief});
    session.build(programs_of(context.device()));
    const std::size_t built = session.programs();
    EXPECT_EQ(built, programs_of(context.device()).size()) << device.name;
    EXPECT_GT(session.build_seconds(), 0);
    Characteristics result;
    for (const auto measure : {measure_launches, measure_peaks, measure_transfers, measure_access,
                               measure_cached_reads, measure_images, measure_latency, measure_local_memory,
                               measure_operations, measure_parallelism, measure_atomics, measure_divergence})
      measure(session, result);
    EXPECT_EQ(session.programs(), built) << device.name << ": one was not built beforehand";
  }
}

TEST_F(Characterisation, AProgramThatDoesNotBuildIsLeftToWhoeverNeedsIt) {
  const opencl::Context& context = test::shared_context(devices_.front());
  DeviceSession session(context, nullptr, {Length::brief});
  const ProgramName broken{"peak.cl", "-DV=1 -DNUMBER=no_such_type"};
  session.build({broken, kLaunchProgram});
  EXPECT_EQ(session.programs(), 1U);
  EXPECT_NO_THROW(session.kernel(kLaunchProgram, "nothing"));
  EXPECT_THROW(session.kernel(broken, "multiply_adds"), Error);
}

TEST_F(Characterisation, ABenchmarkThatFailsIsLostAlone) {
  // Maps are for transfers and pinned memory only.
  opencl::fail_calls_for_test("clEnqueueMapBuffer", 1);
  const Characteristics p = characterise_device({devices_.front(), 0, ""}, nullptr, brief(), nullptr);
  opencl::fail_calls_for_test("", 0);
  ASSERT_EQ(p.losses.size(), 1U);
  EXPECT_EQ(p.losses[0].what, "transfers");
  EXPECT_NE(p.losses[0].why.find("clEnqueueMapBuffer"), std::string::npos) << p.losses[0].why;
  EXPECT_NE(p.curve("copy.group.float4"), nullptr);
  EXPECT_NE(p.curve("divergence"), nullptr);
}

TEST_F(Characterisation, StoppingIsNoLoss) {
  CharacteriseOptions options = brief();
  int calls = 0;
  options.check_stop = [&calls] {
    if (++calls > 5) throw Error(ExitCode::failed, "stopped");
  };
  test::expect_error(ExitCode::failed, "stopped", [&] {
    characterise_device({devices_.front(), 0, ""}, nullptr, options, nullptr);
  });
  calls = 0;
  test::expect_error(ExitCode::failed, "stopped", [&] { characterise_host(options); });
}

TEST(CharacterisationOfTheCpu, HasAllRows) {
  const Characteristics p = characterise_host(brief());
  expect_whole(p);
  EXPECT_TRUE(p.is_host());
  EXPECT_THAT(curves_of(p), testing::UnorderedElementsAre("transfer.memory", "shift.host", "stride.host",
                                                          "latency.global", "atomics.global"));
  EXPECT_THAT(figures_of(p),
              IsSupersetOf({"launch.latency", "launch.interrupted", "peak.float", "peak.int", "cached.global",
                            "copy.threads", "latency.int.add", "latency.int.subtract", "latency.int.multiply",
                            "latency.int.divide", "latency.float.add", "latency.float.subtract",
                            "latency.float.multiply", "latency.float.divide"}));
}

}  // namespace
}  // namespace sightline::characterisation
