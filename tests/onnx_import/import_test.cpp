// The import of ONNX files: graphs of primitives against the interpreter of operators, to the bit, and
// against ONNX's own tests of nodes (Debian's libonnx-testdata).
#include "onnx/import.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "detectors/network/interpreter.hpp"
#include "network/fill.hpp"
#include "network/onnx_builder.hpp"
#include "network/random_chain.hpp"
#include "network/random_network.hpp"
#include "network/reference.hpp"
#include "onnx/file.hpp"
#include "onnx_import/random_operator.hpp"

namespace sightline::nn {
namespace {

namespace fs = std::filesystem;
using test::Fill;
using TestAttribute = test::OnnxAttribute;
using test::OnnxBuilder;

constexpr std::int64_t kMemoryOfImport = std::int64_t{1} << 30;

// --- against the interpreter

network::Tensor tensor_of_interpreter(const Tensor& tensor) {
  const bool is_real = tensor.data() == DataType::f32;
  network::Tensor made(is_real ? network::Kind::real : network::Kind::whole, tensor.shape());
  with_type(tensor.data(), [&]<typename T>() {
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const T one = tensor.as<T>()[static_cast<std::size_t>(i)];
      is_real ? void(made.reals()[i] = static_cast<float>(one))
              : void(made.wholes()[i] = static_cast<std::int64_t>(one));
    }
  });
  return made;
}

Tensor filled_tensor(const TensorType& type, Fill fill) {
  Tensor made(type);
  with_type(type.data, [&]<typename T>() {
    for (std::int64_t i = 0; i < made.size(); ++i) {
      const float value = test::value_of(type.data == DataType::f32 ? fill : Fill::ordinary, i);
      made.as<T>()[static_cast<std::size_t>(i)] =
          static_cast<T>(type.data == DataType::f32 ? value : value * 3 + 9);
    }
  });
  return made;
}

// What differs; NaN is NaN, whatever its bits.
std::string difference_between(const Tensor& got, const network::Tensor& expected, bool with_signs_of_zeros) {
  const network::Tensor made = tensor_of_interpreter(got);
  if (made.type() != expected.type())
    return text_of(got.type()) + " instead of " + network::text_of(expected.shape());
  for (std::int64_t i = 0; i < made.size(); ++i) {
    if (made.kind() == network::Kind::whole) {
      if (made.wholes()[i] != expected.wholes()[i])
        return std::to_string(made.wholes()[i]) + " instead of " + std::to_string(expected.wholes()[i]) +
               " at " + std::to_string(i);
      continue;
    }
    const float x = made.reals()[i], y = expected.reals()[i];
    const bool is_same = std::isnan(x)
                             ? std::isnan(y)
                             : std::memcmp(&x, &y, sizeof x) == 0 || (!with_signs_of_zeros && x == y);
    if (!is_same) return std::to_string(x) + " instead of " + std::to_string(y) + " at " + std::to_string(i);
  }
  return "";
}

// Both import a network; returns what differs. The interpreter's definitions of these leave the sign of zero
// open, or differ in it.
std::string compared(const OnnxBuilder& builder, const std::vector<Fill>& fills) {
  const std::string bytes = builder.bytes();
  OnnxModel model = parse_onnx(bytes, "test.onnx");
  network::Graph graph = builder.typed_graph();
  network::simplify(graph, kMemoryOfImport);
  Graph imported;
  try {
    imported = import_onnx(model, kMemoryOfImport);
  } catch (const Problem& problem) {
    return std::string("is refused: ") + problem.what();
  }
  const auto leaves_zeros_open = [](const onnx::NodeProto& node) {
    return std::set<std::string>{"Max", "Min", "ReduceMax", "ReduceMin", "ConvTranspose"}.contains(
        node.op_type());
  };
  const bool with_signs = std::ranges::none_of(builder.proto().graph().node(), leaves_zeros_open);
  for (const Fill fill : fills) {
    network::Interpreter interpreter(graph, kMemoryOfImport);
    std::vector<Tensor> inputs;
    std::vector<const Tensor*> pointers;
    for (const int input : imported.inputs()) inputs.push_back(filled_tensor(imported.type(input), fill));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      pointers.push_back(&inputs[i]);
      interpreter.input(i) = tensor_of_interpreter(inputs[i]);
    }
    interpreter.run_all();
    const std::vector<Tensor> outputs = run_reference(imported, pointers);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string what = difference_between(outputs[i], interpreter.output(i), with_signs);
      if (!what.empty())
        return "output " + std::to_string(i) + ", fill " + std::to_string(static_cast<int>(fill)) + ": " +
               what + "\n" + test::text_of(builder) + text_of(imported);
    }
  }
  return "";
}

TEST(OnnxImport, OfChainsGivesTheInterpretersBits) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed)
    EXPECT_EQ(compared(test::random_chain(seed), test::kAllFills), "") << "seed " << seed;
}

// Draws that the interpreter refuses are no operators.
TEST(OnnxImport, OfOperatorsGivesTheInterpretersBits) {
  for (const std::string_view name : test::random_operators()) {
    int drawn = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const OnnxBuilder builder = test::random_operator(name, seed);
      try {
        EXPECT_EQ(compared(builder, test::kAllFills), "") << name << ", seed " << seed;
        ++drawn;
      } catch (const network::Problem&) {
      }
    }
    EXPECT_GT(drawn, 120) << name;
  }
}

TEST(OnnxImport, OfNetworksGivesTheInterpretersBits) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    EXPECT_EQ(compared(test::random_network(seed), {seed % 2 == 0 ? Fill::ordinary : Fill::special}), "")
        << "seed " << seed;
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
    onnx::NodeProto& node = builder.node("If", {"is_one"}, {"y"});
    for (const auto& [name, branch] : {std::pair{"then_branch", &negated}, {"else_branch", &same}}) {
      onnx::AttributeProto& attribute = *node.add_attribute();
      attribute.set_name(name);
      attribute.set_type(onnx::AttributeProto::GRAPH);
      *attribute.mutable_g() = branch->proto().graph();
    }
    builder.output("y");
    EXPECT_EQ(compared(builder, test::kAllFills), "") << side;
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
