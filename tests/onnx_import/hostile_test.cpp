// Every operator in valid graphs with hostile shapes, attributes and values: each is run or refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.hpp"
#include "network/onnx_builder.hpp"
#include "network/plan/cpu_runner.hpp"
#include "network/reference.hpp"
#include "onnx/operators.hpp"
#include "support/thorough.hpp"

namespace sightline::nn {
namespace {

constexpr std::int64_t kSmallMemory = std::int64_t{4} << 20;
constexpr std::int64_t kMostWork = 1 << 22;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNumbers[] = {-1,           0, 1, 2, 3, 7, -2, 1 << 16, std::int64_t{1} << 32, kLeast,
                                     -(kLeast + 1)};
constexpr const char* kAttributes[] = {"axis",
                                       "axes",
                                       "keepdims",
                                       "kernel_shape",
                                       "pads",
                                       "strides",
                                       "dilations",
                                       "group",
                                       "ceil_mode",
                                       "to",
                                       "perm",
                                       "size",
                                       "blocksize",
                                       "num_groups",
                                       "transA",
                                       "transB",
                                       "largest",
                                       "sorted",
                                       "batch_dims",
                                       "center_point_box",
                                       "allowzero",
                                       "exclusive",
                                       "output_shape",
                                       "split",
                                       "num_outputs",
                                       "starts",
                                       "ends",
                                       "upper",
                                       "k",
                                       "start",
                                       "end",
                                       "reverse",
                                       "value_ints",
                                       "output_padding",
                                       "count_include_pad",
                                       "p",
                                       "antialias",
                                       "exclude_outside"};

constexpr const char* kEquations[] = {
    "abcd->dcba",       "abcd,efgh->ag", "...,...->...", "a...b,...b->...a",
    "abcd,abcd,abcd->", "ab,bc->ac",     "->",           "abcd,efgh->abcdefgh",
    "aaaa->a",          "....,",         ",,,,"};

class RandomCase {
 public:
  explicit RandomCase(std::uint32_t seed) : random_(seed) {}

  test::OnnxBuilder graph(const OnnxOperator& code) {
    test::OnnxBuilder builder(below(2) == 0 ? 13 : 18);
    builder.input("picture", shape());
    std::vector<std::string> inputs, outputs;
    const std::size_t most = std::min<std::size_t>(code.most_inputs, 5);
    const std::size_t count = code.least_inputs + below(most - std::min(most, code.least_inputs) + 1);
    for (std::size_t i = 0; i < count; ++i) inputs.push_back(input(builder, i));
    for (std::size_t i = 0; i < std::min<std::size_t>(code.most_outputs, 1 + below(3)); ++i)
      outputs.push_back("out" + std::to_string(i));
    std::vector<test::OnnxAttribute> attributes;
    for (const char* const name : kAttributes) {
      if (below(4) != 0) continue;
      const bool is_list = std::string_view(name).ends_with("s") || name == std::string("kernel_shape") ||
                           name == std::string("perm") || name == std::string("split") ||
                           name == std::string("output_shape");
      if (is_list && name != std::string("keepdims") && name != std::string("antialias")) {
        attributes.emplace_back(name, list());
      } else {
        attributes.emplace_back(name, number());
      }
    }
    if (code.name == "Resize" && below(2) == 0)
      attributes.emplace_back("mode", std::string(below(2) == 0 ? "cubic" : "linear"));
    if (code.name == "Einsum")
      attributes.emplace_back("equation", std::string(kEquations[below(std::size(kEquations))]));
    builder.node(std::string(code.name), inputs, outputs, attributes).set_domain(std::string(code.domain));
    for (const std::string& name : outputs) builder.output(name);
    return builder;
  }
  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }
  float real() {
    constexpr float kReals[] = {0, -0.0F, 1, -1, 0.5F, 1e-40F, 3e38F, -3e38F, INFINITY, NAN, 2, 7};
    return kReals[below(std::size(kReals))];
  }

 private:
  std::int64_t number() { return kNumbers[below(below(3) == 0 ? std::size(kNumbers) : 6)]; }
  std::vector<std::int64_t> list() {
    std::vector<std::int64_t> all(below(6));
    for (std::int64_t& one : all) one = number();
    return all;
  }
  std::vector<std::int64_t> shape() {
    constexpr std::int64_t kSides[] = {1, 2, 3, 5, 8, 17};
    std::vector<std::int64_t> all(below(4) == 0 ? below(6) : 4);
    for (std::int64_t& side : all) side = kSides[below(std::size(kSides))];
    return all;
  }
  // What comes before it, a constant of real or of whole numbers, or nothing.
  std::string input(test::OnnxBuilder& builder, std::size_t i) {
    const std::string name = "constant" + std::to_string(i);
    switch (below(i == 0 ? 3 : 6)) {
      case 0:
      case 1:
        return "picture";
      case 2: {
        std::vector<std::int64_t> sides = shape();
        std::int64_t count = 1;
        for (const std::int64_t side : sides) count *= side;
        std::vector<float> values(static_cast<std::size_t>(std::min<std::int64_t>(count, 4096)));
        if (count > 4096) sides = {4096};
        for (float& value : values) value = real();
        return builder.reals(name, sides, values);
      }
      case 5:
        return i < 2 ? "picture" : "";
      default: {
        const std::vector<std::int64_t> values = list();
        if (values.size() == 1 && below(2) == 0) return builder.wholes(name, {}, values);
        return builder.wholes(name, {static_cast<std::int64_t>(values.size())}, values);
      }
    }
  }

  std::mt19937 random_;
};

std::int64_t work_of(const Graph& graph) {
  std::int64_t work = 0;
  for (const GraphNode& node : graph.nodes()) work += multiply_adds_of(graph, node);
  return work;
}

// Returns whether it ran.
bool takes_or_refuses(const OnnxOperator& code, std::uint32_t seed) {
  RandomCase random(seed);
  try {
    const Graph graph = random.graph(code).imported(kSmallMemory);
    if (work_of(graph) > kMostWork) return false;
    Tensor picture(graph.type(graph.inputs()[0]));
    for (float& value : picture.as<float>()) value = random.real();
    const std::vector<const Tensor*> inputs{&picture};
    CpuPlanOptions options;
    options.memory_limit = kSmallMemory;
    const CpuPlan plan = plan_for_cpu(graph, options);
    CpuRunner(plan, kSmallMemory).run(inputs);
    run_reference(graph, inputs, kSmallMemory);
    return true;
  } catch (const Problem&) {
  } catch (const Error&) {
  }
  return false;
}

TEST(HostileOperators, AreRunOrRefused) {
  const long seeds = test::is_thorough() ? 2000 : 60;
  long ran = 0;
  for (const std::span<const OnnxOperator> part :
       {elementwise_operators(), shape_operators(), compute_operators(), norm_operators(), resize_operators(),
        quantised_operators()}) {
    for (const OnnxOperator& code : part) {
      SCOPED_TRACE(std::string(code.name));
      for (long seed = 0; seed < seeds; ++seed)
        EXPECT_NO_THROW(ran += takes_or_refuses(code, static_cast<std::uint32_t>(seed))) << seed;
    }
  }
  EXPECT_GT(ran, seeds * 10);  // most operators, sometimes
}

}  // namespace
}  // namespace sightline::nn
