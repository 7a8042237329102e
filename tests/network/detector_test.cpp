// The detector of networks: parts, memory, times.
#include "detectors/network/detector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <sstream>

#include "detectors/network/explain.hpp"
#include "network/onnx_builder.hpp"
#include "support/errors.hpp"

namespace sightline::network {
namespace {

using test::OnnxBuilder;
using testing::HasSubstr;

Network made_network(std::int64_t memory_limit = std::int64_t{1} << 30) {
  Settings settings;
  settings.file = "small.onnx";
  settings.threshold = 0.1;
  settings.memory_limit = memory_limit;
  return make_network(test::small_yolox(64, 2).model(), settings);
}

TEST(NetworkDetector, FindsWhatTheReferenceFinds) {
  std::vector<std::uint8_t> pixels(100 * 70 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i >> 3);
  const PackedView frame{pixels.data(), 100, 70, 300, PackedFormat::rgb24},
      smaller{pixels.data(), 80, 70, 300, PackedFormat::rgb24};
  const NetworkDetector plain(made_network(), true), planned(made_network());
  EXPECT_FALSE(plain.parts());
  ASSERT_TRUE(planned.parts());
  EXPECT_EQ(plain.stages().size(), planned.stages().size());
  const auto workspace = plain.make_workspace(), one = planned.make_workspace(),
             other = planned.make_workspace();
  const std::vector<Detection> wanted = detect(plain, *workspace, frame);
  const std::vector<Detection> of_smaller = detect(plain, *workspace, smaller);
  EXPECT_FALSE(wanted.empty());
  EXPECT_NE(wanted, of_smaller);
  EXPECT_EQ(detect(planned, *one, frame), wanted);
  oneapi::tbb::task_arena(3).execute([&] { EXPECT_EQ(detect(planned, *other, smaller), of_smaller); });
  EXPECT_EQ(detect(planned, *other, frame), wanted);  // in a used workspace
}

TEST(NetworkDetector, CountsTheMemoryOfAllFramesInFlight) {
  const std::int64_t bytes = NetworkDetector(made_network()).parts()->frame_bytes();
  const NetworkDetector detector(made_network(2 * bytes));
  auto first = detector.make_workspace();
  const auto second = detector.make_workspace();
  EXPECT_THAT(test::error_of(ExitCode::model, [&] { detector.make_workspace(); }), HasSubstr("in flight"));
  first.reset();
  EXPECT_TRUE(detector.make_workspace());
}

TEST(NetworkDetector, TimesEachWaveOnce) {
  const NetworkDetector detector(made_network());
  const auto workspace = detector.make_workspace();
  const std::vector<StepTime> waves = wave_times(detector, static_cast<NetworkWorkspace&>(*workspace));
  const nn::CpuPlan& plan = detector.parts()->parts.at(0).plan;
  ASSERT_EQ(waves.size(), plan.waves.size() + (plan.copies.empty() ? 0 : 1));
  std::int64_t sum = 0;
  for (const StepTime& wave : waves) {
    sum += wave.multiply_adds;
    EXPECT_LT(wave.seconds, 10);
    EXPECT_NE(wave.parts, "");
  }
  EXPECT_EQ(sum, detector.network().multiply_adds);
  std::istringstream table(times_text(waves, "on the CPU", 1e11));
  std::size_t rows = 0;
  for (std::string row; std::getline(table, row);) {
    std::istringstream words(row);
    std::size_t number = 0;
    double ms = 0, share = 0;
    if (words >> number >> ms >> share) {
      EXPECT_EQ(number, ++rows) << row;
    }
  }
  EXPECT_EQ(rows, waves.size());
  EXPECT_THAT(plan_text(detector), HasSubstr("waves"));
}

// Parts whose results have known and unknown sizes, and an input besides the picture.
TEST(NetworkRunner, PassesTensorsFromPartToPart) {
  OnnxBuilder builder;
  builder.input("picture", {1, 2, 6, 8});
  builder.input("sizes", {1, 2}, onnx::TensorProto::INT64);
  builder.convolution("a", "picture", 2, 20, 3);
  builder.node("Relu", {"a"}, {"b"});
  builder.node("NonZero", {"b"}, {"places"});
  builder.node("Transpose", {"places"}, {"rows"}, {{"perm", {1, 0}}});
  builder.node("GatherND", {"b", "rows"}, {"found"});
  builder.node("Add", {"sizes", "sizes"}, {"twice"});
  for (const char* const output : {"b", "found", "twice", "places"}) builder.output(output);
  const nn::Graph graph = builder.imported();
  const Parts parts = plan_parts(graph, 0, std::int64_t{1} << 30);
  ASSERT_GE(parts.parts.size(), 2);
  const auto runner = make_runner(parts, std::int64_t{1} << 30),
             reference = make_reference_runner(graph, std::int64_t{1} << 30);
  for (const int frame : {1, 2}) {
    for (Runner* const one : {runner.get(), reference.get()}) {
      const std::span<float> picture = one->input(0).as<float>();
      for (std::size_t i = 0; i < picture.size(); ++i)
        picture[i] = static_cast<float>(static_cast<int>(i * 37 % 11) - 5) * static_cast<float>(frame);
      std::ranges::fill(one->input(1).as<std::int64_t>(), 7 * frame);
      one->run_all();
    }
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
      EXPECT_EQ(runner->output(i).type(), reference->output(i).type());
      EXPECT_TRUE(std::ranges::equal(runner->output(i).bytes(), reference->output(i).bytes())) << i;
    }
  }
}

TEST(NetworkRunner, FailuresNameTheNode) {
  // An index that the frame decides, out of range.
  OnnxBuilder builder;
  builder.input("x", {1, 4, 4, 4});
  builder.node("Cast", {"x"}, {"whole"}, {{"to", 7}});
  builder.node("GatherElements", {"x", "whole"}, {"y"}, {{"axis", 2}});
  builder.output("y");
  const Parts parts = plan_parts(builder.imported(), 0, std::int64_t{1} << 30);
  const auto runner = make_runner(parts, std::int64_t{1} << 30);
  std::ranges::fill(runner->input(0).as<float>(), 9.0F);
  EXPECT_THAT(test::error_of(ExitCode::failed, [&] { runner->run_all(); }),
              HasSubstr("'y' (GatherElements)"));
  std::ranges::fill(runner->input(0).as<float>(), 1.0F);  // and the next frame is well
  EXPECT_NO_THROW(runner->run_all());
}

}  // namespace
}  // namespace sightline::network
