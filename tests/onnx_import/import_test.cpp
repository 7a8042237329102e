// The import of ONNX files: graphs of primitives against ONNX's own tests of nodes (Debian's
// libonnx-testdata), and the bits of random networks.
#include "onnx/import.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "network/onnx_builder.hpp"
#include "onnx/file.hpp"
#include "onnx_import/fill.hpp"
#include "onnx_import/random_chain.hpp"
#include "onnx_import/random_network.hpp"
#include "onnx_import/random_operator.hpp"
#include "onnx_import/run_imported.hpp"

namespace sightline::nn {
namespace {

namespace fs = std::filesystem;
using test::Fill;
using TestAttribute = test::OnnxAttribute;
using test::OnnxBuilder;

constexpr std::int64_t kMemoryOfImport = std::int64_t{1} << 30;

// --- bits

/// FNV-1a, of tensors; NaN is NaN, whatever its bits.
class Digest {
 public:
  void add(const Tensor& tensor) {
    for (const std::int64_t side : tensor.shape()) add(static_cast<std::uint64_t>(side));
    with_type(tensor.data(), [&]<typename T>() {
      for (const T one : tensor.as<T>()) {
        if constexpr (std::is_same_v<T, float>) {
          add(std::isnan(one) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(one));
        } else {
          add(static_cast<std::uint64_t>(one));
        }
      }
    });
  }
  std::uint64_t value() const { return value_; }

 private:
  void add(std::uint64_t number) {
    for (int byte = 0; byte < 8; ++byte, number >>= 8) value_ = (value_ ^ (number & 255)) * 0x100000001b3U;
  }

  std::uint64_t value_ = 0xcbf29ce484222325U;
};

// Adds what a network makes of each fill; nothing where it fails with such numbers. Returns whether it is
// imported.
bool add_bits(Digest& digest, const OnnxBuilder& builder, const std::vector<Fill>& fills) {
  try {
    const Graph graph = builder.imported();
    for (const Fill fill : fills) {
      try {
        for (const Tensor& output : test::run_imported(
                 graph, [&](std::int64_t i) { return std::round(8 * test::value_of(fill, i)) / 8; }))
          digest.add(output);
      } catch (const Error&) {
      }
    }
    return true;
  } catch (const Problem&) {
    return false;
  }
}

// Everyone's results change with these numbers: a commit that changes one says why.
TEST(OnnxImport, KeepsItsBits) {
  const std::vector<Fill> fills{Fill::ordinary, Fill::tiny};
  Digest chains, operators, networks;
  for (std::uint64_t seed = 0; seed < 300; ++seed) add_bits(chains, test::random_chain(seed), fills);
  for (std::uint64_t seed = 0; seed < 50; ++seed) add_bits(networks, test::random_network(seed), fills);
  for (const std::string_view name : test::random_operators()) {
    int drawn = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed)
      drawn += add_bits(operators, test::random_operator(name, seed), fills);
    EXPECT_GT(drawn, 24) << name;  // others are refused
  }
  EXPECT_EQ(chains.value(), 9276273596352386183U);
  EXPECT_EQ(networks.value(), 13315947620830037255U);
  EXPECT_EQ(operators.value(), 3987829242933297008U);
}

// --- what is refused, and branches

// What import says of a network; empty: it is imported.
std::string complaint_about_import(const OnnxBuilder& builder) {
  const std::string bytes = builder.bytes();
  const OnnxModel model = parse_onnx(bytes, "test.onnx");
  try {
    import_onnx(model, kMemoryOfImport);
    return "";
  } catch (const Problem& problem) {
    return problem.what();
  }
}

TEST(OnnxImport, NamesTheNodeThatItRefuses) {
  const auto complaint = [](const std::string& op, const std::vector<TestAttribute>& attributes,
                            const std::string& domain = "") {
    OnnxBuilder builder;
    builder.input("x", {1, 3, 4, 4});
    builder.node("Relu", {"x"}, {"first"});
    builder.node(op, {"first"}, {"second"}, attributes).set_domain(domain);
    builder.output("second");
    return complaint_about_import(builder);
  };
  EXPECT_EQ(complaint("MaxPool", {{"kernel_shape", {2, 2}}}), "");
  for (const std::string& said : {complaint("Whirl", {}), complaint("Relu", {}, "com.other"),
                                  complaint("MaxPool", {}), complaint("MaxPool", {{"kernel_shape", {5, 5}}}),
                                  complaint("Softmax", {{"axis", 4}}), complaint("Conv", {})})
    EXPECT_TRUE(said.starts_with("node 'second' (")) << said;
  EXPECT_NE(complaint("Whirl", {}).find("LeakyRelu"), std::string::npos);
}

// The second of two sides is 1, or is not.
TEST(OnnxImport, TakesTheBranchOfAKnownCondition) {
  for (const std::int64_t side : {1, 2}) {
    OnnxBuilder builder, negated, same;
    builder.input("x", {2, side});
    builder.node("Shape", {"x"}, {"sides"});
    builder.node("Gather", {"sides", builder.wholes("second", {}, {1})}, {"side"});
    builder.node("Equal", {"side", builder.wholes("one", {}, {1})}, {"is_one"});
    negated.node("Neg", {"x"}, {"then"});
    negated.output("then");
    same.node("Abs", {"x"}, {"else"});
    same.output("else");
    builder.branch("is_one", negated, same, "y");
    builder.output("y");
    const Tensor made = test::run_imported(builder.imported(), [](std::int64_t) { return 3.0F; })[0];
    EXPECT_EQ(number_at(made, 0), side == 1 ? -3 : 3);
    builder.proto().mutable_graph()->mutable_node(3)->set_input(0, "x");
    EXPECT_NE(complaint_about_import(builder).find("branches"), std::string::npos);
  }
}

// --- against ONNX's tests

Tensor tensor_in(const fs::path& file) {
  OnnxBuilder builder;
  std::ifstream stream(file, std::ios::binary);
  if (!builder.proto().mutable_graph()->add_initializer()->ParseFromIstream(&stream))
    throw Problem("is no tensor");
  builder.proto().mutable_graph()->mutable_initializer(0)->set_name("tensor");
  builder.node("Identity", {"tensor"}, {"copy"});
  builder.output("copy");
  const std::string bytes = builder.bytes();
  return *parse_onnx(bytes, file.string()).graph.values[0].constant;
}

// Results of half precision are floats here, and some tests have a rough pi.
std::string difference_from_expected(const Tensor& got, const Tensor& expected, bool is_rough) {
  if (got.type() != expected.type()) return text_of(got.type()) + " instead of " + text_of(expected.type());
  const double tolerance = is_rough ? 1e-3 : 1e-5;
  return with_type(got.data(), [&]<typename T>() -> std::string {
    for (std::size_t i = 0; i < got.as<T>().size(); ++i) {
      const auto a = static_cast<double>(got.as<T>()[i]), b = static_cast<double>(expected.as<T>()[i]);
      const bool is_same = a == b || (std::isnan(a) && std::isnan(b)) ||
                           (std::is_same_v<T, float> && std::fabs(a - b) <= tolerance * (1 + std::fabs(b)));
      if (!is_same)
        return std::to_string(a) + " instead of " + std::to_string(b) + " at " + std::to_string(i);
    }
    return "";
  });
}

// Outputs of a model for inputs. @param known  whether all inputs but the first are constants, as weights and
// sizes are in users' networks
std::vector<Tensor> outputs_of(OnnxModel model, const std::vector<Tensor>& inputs, bool known) {
  std::vector<OnnxInput> open;
  std::vector<const Tensor*> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    OnnxInput input = model.graph.inputs.at(i);
    if (known && i > 0) {
      model.graph.values[static_cast<std::size_t>(input.value)].constant =
          std::make_shared<const Tensor>(inputs[i]);
      continue;
    }
    input.type.shape = inputs[i].shape();
    open.push_back(input);
    given.push_back(&inputs[i]);
  }
  model.graph.inputs = open;
  return run_reference(import_onnx(model, kMemoryOfImport), given);
}

// Why a test is refused, or what differs; empty: it passes.
struct Outcome {
  std::string refusal, difference;
};
Outcome run_node_test_by_import(const fs::path& folder) {
  try {
    std::ifstream stream(folder / "model.onnx", std::ios::binary);
    onnx::ModelProto proto;
    proto.ParseFromIstream(&stream);
    // What has not changed since an older opset is tested there.
    for (auto& one : *proto.mutable_opset_import())
      one.set_version(std::max<std::int64_t>(one.version(), kOldestOpset));
    const std::string bytes = proto.SerializeAsString();
    const OnnxModel model = parse_onnx(bytes, folder.string());
    const fs::path data = folder / "test_data_set_0";
    const std::string name = folder.filename().string();
    const bool is_rough =
        name.find("_to_FLOAT16") != std::string::npos || name.find("window_") != std::string::npos;
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < model.graph.inputs.size(); ++i)
      inputs.push_back(tensor_in(data / ("input_" + std::to_string(i) + ".pb")));
    std::vector<Tensor> outputs;
    try {
      outputs = outputs_of(model, inputs, false);
    } catch (const Problem&) {
      outputs = outputs_of(model, inputs, true);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const fs::path file = data / ("output_" + std::to_string(i) + ".pb");
      const std::string what = difference_from_expected(outputs[i], tensor_in(file), is_rough);
      if (!what.empty()) return {"", what};
    }
    return {};
  } catch (const Error& error) {
    return {error.what(), ""};
  } catch (const Problem& problem) {
    return {problem.what(), ""};
  }
}

TEST(OnnxImport, GivesWhatOnnxTestsExpect) {
  // What drops elements at random is not for use, and two tests take a size that is no integer.
  const std::set<std::string> others{"test_training_dropout", "test_training_dropout_default",
                                     "test_resize_downsample_scales_linear_align_corners",
                                     "test_resize_downsample_scales_cubic_align_corners"};
  const fs::path folder = "/usr/lib/python3/dist-packages/onnx/backend/test/data/node";
  std::error_code error;
  std::size_t passed = 0;
  std::map<std::string, std::string> refused;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (others.contains(name)) continue;
    const Outcome outcome = run_node_test_by_import(entry.path());
    passed += outcome.refusal.empty() && outcome.difference.empty() ? 1 : 0;
    if (!outcome.refusal.empty()) refused[name] = outcome.refusal;
    EXPECT_EQ(outcome.difference, "") << name;
  }
  if (passed + refused.size() == 0) GTEST_SKIP() << "libonnx-testdata is not installed";
  // A change of these is either an operator more or less, or another version of the tests.
  std::string list;
  for (const auto& [name, why] : refused) list += name + ": " + why.substr(0, 200) + "\n";
  EXPECT_EQ(passed, 664) << list;
  EXPECT_EQ(refused.size(), 264) << list;
}

}  // namespace
}  // namespace sightline::nn
