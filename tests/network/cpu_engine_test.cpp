// Networks on the CPU by the network engine: results are those of the plan that devices need, to the bit.
#include "detectors/network/cpu_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <cmath>
#include <cstring>

#include "detectors/network/detector.hpp"
#include "detectors/network/explain.hpp"
#include "detectors/network/interpreter.hpp"
#include "detectors/network/onnx_file.hpp"
#include "network/onnx_builder.hpp"
#include "network/random_network.hpp"
#include "support/errors.hpp"

namespace sightline::network {
namespace {

using test::OnnxBuilder;
using testing::HasSubstr;

constexpr std::int64_t kEngineMemory = std::int64_t{1} << 30;

Graph kept_graph(const OnnxBuilder& builder) {
  Graph graph = parse_onnx(builder.bytes(), "test.onnx", true);
  for (const GraphInput& input : graph.inputs) {
    Value& value = graph.value(input.value);
    value.is_typed = true;
    value.type = input.type;
  }
  simplify(graph, kEngineMemory);
  return graph;
}

// Whether two tensors have equal bits; NaN equals NaN.
bool are_equal(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    if (a.kind() == Kind::whole ? a.wholes()[i] != b.wholes()[i]
                                : std::memcmp(a.reals() + i, b.reals() + i, sizeof(float)) != 0 &&
                                      !(std::isnan(a.reals()[i]) && std::isnan(b.reals()[i])))
      return false;
  }
  return true;
}

TEST(CpuEngine, EqualsTheInterpreter) {
  for (std::uint32_t seed = 0; seed < 25; ++seed) {
    const Graph graph = kept_graph(test::random_network(seed));
    const auto plan = make_cpu_plan(*graph.model, graph, kEngineMemory);
    ASSERT_TRUE(plan) << seed;
    const auto runner = make_cpu_runner(*plan, kEngineMemory);
    Interpreter interpreter(graph, kEngineMemory);
    for (int frame = 0; frame < 2; ++frame) {
      for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        Tensor &a = runner->input(i), &b = interpreter.input(i);
        for (std::int64_t k = 0; k < a.size(); ++k) {
          const auto number = static_cast<std::int64_t>((k * 2654435761U + seed) >> 7 & 15);
          if (a.kind() == Kind::whole) {
            a.wholes()[k] = b.wholes()[k] = number;
          } else {
            a.reals()[k] = b.reals()[k] = static_cast<float>(number + frame) / 8 - 1;
          }
        }
      }
      oneapi::tbb::task_arena(1 + 2 * frame).execute([&] { runner->run_all(); });
      interpreter.run_all();
      for (std::size_t i = 0; i < graph.outputs.size(); ++i)
        EXPECT_TRUE(are_equal(runner->output(i), interpreter.output(i))) << seed << ", output " << i;
    }
  }
}

Network made_network(bool uses_engine, std::int64_t memory_limit = kEngineMemory) {
  Settings settings;
  settings.file = "small.onnx";
  settings.threshold = 0.1;
  settings.memory_limit = memory_limit;
  return make_network(parse_onnx(test::small_yolox(64, 2).bytes(), "small.onnx", uses_engine), settings);
}

TEST(CpuEngine, TheDetectorFindsTheSame) {
  std::vector<std::uint8_t> pixels(100 * 70 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i >> 3);
  const PackedView frame{pixels.data(), 100, 70, 300, PackedFormat::rgb24},
      smaller{pixels.data(), 80, 70, 300, PackedFormat::rgb24};
  const NetworkDetector plain(made_network(false)), engine(made_network(true));
  EXPECT_FALSE(plain.cpu_plan());
  ASSERT_TRUE(engine.cpu_plan());
  EXPECT_FALSE(engine.network().graph.model);
  EXPECT_EQ(plain.stages().size(), engine.stages().size());
  const auto workspace = plain.make_workspace(), one = engine.make_workspace(),
             other = engine.make_workspace();
  const std::vector<Detection> wanted = detect(plain, *workspace, frame);
  const std::vector<Detection> of_smaller = detect(plain, *workspace, smaller);
  EXPECT_FALSE(wanted.empty());
  EXPECT_NE(wanted, of_smaller);
  EXPECT_EQ(detect(engine, *one, frame), wanted);
  oneapi::tbb::task_arena(3).execute([&] { EXPECT_EQ(detect(engine, *other, smaller), of_smaller); });
  EXPECT_EQ(detect(engine, *other, frame), wanted);  // in a used workspace
}

TEST(CpuEngine, CountsTheMemoryOfAllFramesInFlight) {
  const std::int64_t bytes = NetworkDetector(made_network(true)).cpu_plan()->frame_bytes();
  const NetworkDetector detector(made_network(true, 2 * bytes));
  ASSERT_TRUE(detector.cpu_plan());
  auto first = detector.make_workspace();
  const auto second = detector.make_workspace();
  EXPECT_THAT(test::error_of(ExitCode::model, [&] { detector.make_workspace(); }), HasSubstr("in flight"));
  first.reset();
  EXPECT_TRUE(detector.make_workspace());
}

TEST(CpuEngine, TimesEachWaveOnce) {
  const NetworkDetector detector(made_network(true));
  const auto workspace = detector.make_workspace();
  const std::vector<LevelTime> waves = level_times(detector, static_cast<NetworkWorkspace&>(*workspace));
  const nn::CpuPlan& plan = *detector.cpu_plan();
  ASSERT_EQ(waves.size(), plan.waves.size() + (plan.copies.empty() ? 0 : 1));
  std::int64_t sum = 0;
  for (const LevelTime& wave : waves) {
    sum += wave.multiply_adds;
    EXPECT_LT(wave.seconds, 10);
    EXPECT_NE(wave.parts, "");
  }
  EXPECT_EQ(sum, detector.network().cost.multiply_adds);
  EXPECT_THAT(plan_text(detector), HasSubstr("waves"));
}

TEST(CpuEngine, FailuresNameTheNode) {
  // An index that the frame decides, out of range.
  OnnxBuilder builder;
  builder.input("x", {1, 4, 4, 4});
  builder.node("Cast", {"x"}, {"whole"}, {{"to", 7}});
  builder.node("GatherElements", {"x", "whole"}, {"y"}, {{"axis", 2}});
  builder.output("y");
  const Graph graph = kept_graph(builder);
  const auto plan = make_cpu_plan(*graph.model, graph, kEngineMemory);
  ASSERT_TRUE(plan);
  const auto runner = make_cpu_runner(*plan, kEngineMemory);
  std::fill_n(runner->input(0).reals(), 64, 9.0F);
  EXPECT_THAT(test::error_of(ExitCode::failed, [&] { runner->run_all(); }),
              HasSubstr("'y' (GatherElements)"));
  std::fill_n(runner->input(0).reals(), 64, 1.0F);  // and the next frame is well
  EXPECT_NO_THROW(runner->run_all());
}

}  // namespace
}  // namespace sightline::network
