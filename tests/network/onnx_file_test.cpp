// ONNX files: what is taken, and what is refused before it costs anything.
#include "onnx/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "detectors/network/detector.hpp"
#include "detectors/network/explain.hpp"
#include "detectors/network/labels.hpp"
#include "detectors/network/network.hpp"
#include "network/onnx_builder.hpp"
#include "onnx_import/run_imported.hpp"
#include "support/errors.hpp"

namespace sightline::network {
namespace {

using test::OnnxBuilder;
using ::testing::HasSubstr;

std::string complaint_about(const OnnxBuilder& builder) {
  return test::error_of(ExitCode::model, [&] {
    Settings settings;
    settings.file = "test.onnx";
    settings.memory_limit = 64 << 20;
    make_network(builder.model(), settings);
  });
}

// A network that needs one change to be wrong.
OnnxBuilder plain() {
  return test::small_yolox(64, 2);
}

TEST(OnnxFile, TakesANetwork) {
  EXPECT_EQ(complaint_about(plain()), "");
}

TEST(OnnxFile, RefusesOpsetsThatAreNotKnown) {
  for (const int opset : {0, 8, nn::kNewestOpset + 1, 1 << 30}) {
    OnnxBuilder builder = plain();
    builder.proto().mutable_opset_import(0)->set_version(opset);
    EXPECT_THAT(complaint_about(builder), HasSubstr("opset")) << opset;
  }
}

TEST(OnnxFile, NamesTheNodeThatItDoesNotKnow) {
  OnnxBuilder builder = plain();
  builder.proto().mutable_graph()->mutable_node(3)->set_op_type("Whirl");
  const std::string name = builder.proto().graph().node(3).name();
  EXPECT_THAT(complaint_about(builder),
              testing::AllOf(HasSubstr("'" + name + "' (Whirl)"), HasSubstr("LeakyRelu")));
  builder.proto().mutable_graph()->mutable_node(3)->set_op_type("DynamicQuantizeLinear");
  EXPECT_THAT(complaint_about(builder), HasSubstr("float32"));
  builder.proto().mutable_graph()->mutable_node(3)->set_op_type("EfficientNMS_TRT");
  builder.proto().mutable_graph()->mutable_node(3)->set_domain("TRT");
  EXPECT_THAT(complaint_about(builder), HasSubstr("'TRT'"));
}

// Seven columns, of as many rows as there are numbers above 0.
Network rows_that_vary() {
  OnnxBuilder builder;
  const std::string x = builder.convolution("x", builder.input("images", {1, 3, 64, 64}), 3, 7, 3);
  builder.node("ReduceMax", {x}, {"largest"});
  builder.node("NonZero", {"largest"}, {"found"});
  builder.node("Cast", {"found"}, {"numbers"}, {{"to", 1}});
  builder.node("Reshape", {"numbers", builder.wholes("shape", {2}, {-1, 7})}, {"output"});
  builder.output("output", {-1, 7});
  Settings settings;
  settings.file = "rows.onnx";
  return make_network(builder.model(), settings);
}

TEST(OnnxFile, TellsColumnsOfRowsThatVary) {
  EXPECT_EQ(rows_that_vary().scheme.heads.at(0).box.place_step, 7);
}

TEST(OnnxFile, SaysWhichNodesHaveNoPlan) {
  const NetworkDetector detector(rows_that_vary());
  EXPECT_THAT(plan_text(detector), HasSubstr("from 'found' (NonZero) on"));
}

TEST(OnnxFile, RepeatsNoControlCharacters) {
  OnnxBuilder builder = plain();
  builder.proto().mutable_graph()->mutable_node(3)->set_op_type("Whi\x1b[31mrl\nerror: ");
  EXPECT_THAT(complaint_about(builder), HasSubstr("(Whi?[31mrl?error: )"));
}

TEST(OnnxFile, RefusesInputsThatAreNoPictures) {
  const auto complaint = [](const std::vector<std::int64_t>& shape, int type) {
    OnnxBuilder builder;
    builder.input("images", shape, type);
    builder.node("Relu", {"images"}, {"output"});
    builder.output("output");
    return complaint_about(builder);
  };
  constexpr int kFloat = onnx::TensorProto::FLOAT;
  EXPECT_THAT(complaint({1, 3, 4, 64, 64}, kFloat), HasSubstr("'images' of 1x3x4x64x64"));
  EXPECT_THAT(complaint({1, 64, 64}, onnx::TensorProto::UINT8), HasSubstr("whole numbers"));
  EXPECT_THAT(complaint({1, 3, 0, 0}, kFloat), HasSubstr("--input-size"));
  EXPECT_THAT(complaint({8, 3, 64, 64}, kFloat), HasSubstr("8 pictures"));
  EXPECT_THAT(complaint({1, 3, 64, 64}, onnx::TensorProto::STRING), HasSubstr("type"));
  EXPECT_THAT(complaint(std::vector<std::int64_t>(100, 1), kFloat), HasSubstr("'images'"));
  EXPECT_THAT(complaint({1, 3, std::int64_t{1} << 40, 64}, kFloat), HasSubstr("large"));
}

// As DETR has it: where the picture is not padded.
TEST(OnnxFile, TakesAMaskOfThePicture) {
  OnnxBuilder builder = plain();
  builder.input("pixel_mask", {-1, 64, -1}, onnx::TensorProto::INT64);
  Settings settings;
  settings.file = "test.onnx";
  const Network network = make_network(builder.model(), settings);
  Tensor mask(network.inputs.at(1).type);
  EXPECT_EQ(mask.shape(), (Shape{1, 64, 64}));
  fill_sizes(network, {640, 480}, [&](std::size_t) -> Tensor& { return mask; });
  EXPECT_EQ(std::ranges::count(mask.as<std::int64_t>(), 1), 64 * 64);
}

// Whose graphs are nested as deep as a reader's stack.
TEST(OnnxFile, RefusesGraphsInGraphs) {
  for (const int depth : {1, 30, 2000}) {
    OnnxBuilder builder;
    builder.input("images", {1, 3, 64, 64});
    onnx::GraphProto* graph = builder.proto().mutable_graph();
    for (int i = 0; i < depth; ++i) {
      onnx::NodeProto* const node = graph->add_node();
      node->set_op_type("If");
      node->add_input("images");
      node->add_output("output");
      onnx::AttributeProto* const branch = node->add_attribute();
      branch->set_name("then_branch");
      branch->set_type(onnx::AttributeProto::GRAPH);
      graph = branch->mutable_g();
    }
    EXPECT_NE(complaint_about(builder), "") << depth;
  }
}

TEST(OnnxFile, RefusesCyclesAndMissingValues) {
  OnnxBuilder builder = plain();
  builder.proto().mutable_graph()->mutable_node(0)->set_input(0, "output");  // made by the last node
  EXPECT_THAT(complaint_about(builder), HasSubstr("'output'"));
  builder = plain();
  builder.proto().mutable_graph()->mutable_initializer()->RemoveLast();
  EXPECT_NE(complaint_about(builder), "");
}

TEST(OnnxFile, RefusesAValueThatIsMadeTwice) {
  OnnxBuilder builder = plain();
  builder.proto().mutable_graph()->mutable_node(5)->set_output(0, builder.proto().graph().node(4).output(0));
  EXPECT_THAT(complaint_about(builder), HasSubstr("twice"));
}

TEST(OnnxFile, RefusesTensorsThatAreHugeOrLackData) {
  OnnxBuilder builder = plain();
  builder.proto().mutable_graph()->mutable_initializer(0)->set_dims(0, std::int64_t{1} << 40);
  EXPECT_NE(complaint_about(builder), "");
  builder = plain();
  builder.proto().mutable_graph()->mutable_initializer(0)->set_dims(0, -5);
  EXPECT_NE(complaint_about(builder), "");
  builder = plain();
  builder.proto().mutable_graph()->mutable_initializer(0)->mutable_raw_data()->pop_back();
  EXPECT_THAT(complaint_about(builder), HasSubstr("data"));
}

TEST(OnnxFile, RefusesWrongTypesOfAttributes) {
  OnnxBuilder builder = plain();
  onnx::AttributeProto& strides = *builder.proto().mutable_graph()->mutable_node(0)->mutable_attribute(1);
  strides.set_type(onnx::AttributeProto::FLOAT);
  EXPECT_THAT(complaint_about(builder), HasSubstr("strides"));
}

TEST(OnnxFile, RefusesNetworksThatNeedTooMuchMemory) {
  Settings settings;
  settings.file = "test.onnx";
  settings.memory_limit = 1 << 20;
  const std::string complaint = test::error_of(
      ExitCode::model, [&] { NetworkDetector(make_network(test::small_yolox(1024, 2).model(), settings)); });
  EXPECT_THAT(complaint, testing::AllOf(HasSubstr("memory"), HasSubstr("1x16x512x512")));
  // Constants that unfold do not, either.
  OnnxBuilder unfolding;
  unfolding.input("images", {1, 3, 64, 64});
  unfolding.node("ConstantOfShape", {unfolding.wholes("shape", {2}, {16384, 16384})}, {"constant"});
  unfolding.output("constant");
  EXPECT_THROW(plan_parts(unfolding.imported(), 0, 64 << 20), nn::Problem);
}

TEST(OnnxFile, RefusesWhatIsNoDetector) {
  OnnxBuilder builder;
  builder.input("images", {1, 3, 64, 64});
  builder.convolution("features", "images", 3, 7, 3, 2);
  builder.output("features");
  EXPECT_THAT(complaint_about(builder),
              testing::AllOf(HasSubstr("'features'"), HasSubstr("1x7x32x32"), HasSubstr("model_type")));
}

TEST(OnnxFile, RefusesDamage) {
  const std::string whole = plain().bytes();
  for (std::size_t i = 0; i < whole.size(); i += 97) {
    const std::string cut = whole.substr(0, i);
    EXPECT_NE(test::error_of(ExitCode::model, [&] { nn::parse_onnx(cut, "cut.onnx"); }), "") << i;
  }
}

// An empty part takes two bytes in the file and many more in memory.
TEST(OnnxFile, CountsPartsBeforeItReadsThem) {
  const std::string whole = plain().bytes();
  const auto with = [&](const std::string& part, int times) {
    std::string bytes = whole;
    for (int i = 0; i < times; ++i) bytes += part;
    return bytes;
  };
  const auto refusal = [](const std::string& bytes) {
    return test::error_of(ExitCode::model, [&] { nn::parse_onnx(bytes, "many.onnx"); });
  };
  constexpr int kMany = 4'000'000;
  const std::string one_node("\x0a\x00", 2), one_entry("\x72\x00", 2), unknown("\xfa\x07\x00", 3);
  std::string graph;
  for (int i = 0; i < kMany; ++i) graph += one_node;
  const auto length_of = [](std::size_t length) {
    std::string text;
    for (; length > 127; length >>= 7) text += static_cast<char>((length & 127) | 128);
    return text + static_cast<char>(length);
  };
  EXPECT_THAT(refusal(whole + "\x3a" + length_of(graph.size()) + graph), HasSubstr("MiB of memory"));
  EXPECT_THAT(refusal(with(one_entry, kMany)), HasSubstr("MiB of memory"));
  EXPECT_THAT(refusal(with(unknown, kMany)), HasSubstr("MiB of memory"));
  EXPECT_EQ(refusal(with(one_entry, 1000)), "");
  // A graph in an attribute of a node, in a graph, and so on.
  std::string deep;
  for (int i = 0; i < 40; ++i) {
    for (const char field : {'\x32', '\x2a', '\x0a'}) deep = field + length_of(deep.size()) + deep;
  }
  EXPECT_THAT(refusal("\x3a" + length_of(deep.size()) + deep), HasSubstr("too deep"));
}

TEST(OnnxFile, RefusesManyInputsAndOutputs) {
  OnnxBuilder outputs = plain(), inputs = plain();
  for (int i = 0; i < 300; ++i) {
    outputs.output("images");
    inputs.input("more" + std::to_string(i), {1, 2});
  }
  EXPECT_THAT(complaint_about(outputs), HasSubstr("outputs"));
  EXPECT_THAT(complaint_about(inputs), HasSubstr("inputs"));
}

TEST(OnnxFile, RefusesClassNamesThatAreTooLong) {
  OnnxBuilder builder = plain();
  builder.metadata("names", "{0: '" + std::string(257, 'a') + "', 1: 'b'}");
  EXPECT_THAT(complaint_about(builder), HasSubstr("too long"));
}

TEST(OnnxFile, ReadsNamesFromFilesOfNamesAlone) {
  EXPECT_NE(test::error_of(ExitCode::usage, [] { labels_from("passwd", "/etc/passwd", "here"); }), "");
}

TEST(OnnxFile, TakesWeightsThatAreInputsToo) {
  OnnxBuilder builder = plain();
  const std::string name = builder.proto().graph().initializer(0).name();
  builder.input(name, {16, 3, 3, 3});
  EXPECT_EQ(complaint_about(builder), "");
}

TEST(NetworkGraph, FoldsConstantsCopiesAndBatchNormalisation) {
  OnnxBuilder builder;
  builder.input("x", {1, 2, 8, 8});
  builder.convolution("conv", "x", 2, 3, 3);
  const auto parameter = [&](const std::string& name, float first) {
    return builder.reals(name, {3}, {first, first + 0.5F, first + 1});
  };
  builder.node("Identity", {"conv"}, {"copy"});
  builder.node("BatchNormalization",
               {"copy", parameter("s", 1), parameter("b", -1), parameter("m", 0.25F), parameter("v", 2)},
               {"norm"});
  builder.node("Add", {builder.reals("one", {}, {1}), builder.reals("two", {}, {2})}, {"three"});
  builder.node("Mul", {"norm", "three"}, {"y"});
  builder.output("y");
  const nn::Graph folded = builder.imported();
  ASSERT_EQ(folded.nodes().size(), 2);  // the convolution and the product
  EXPECT_EQ(nn::multiply_adds_of(folded, folded.node(0)), 64 * 3 * 2 * 9);
  // A reader beside the normalisation keeps it.
  builder.output("copy");
  const nn::Graph literal = builder.imported();
  EXPECT_GT(literal.nodes().size(), 2);
  const auto number = [](std::int64_t i) { return static_cast<float>(i % 13) - 6; };
  const nn::Tensor one = test::run_imported(folded, number)[0],
                   other = test::run_imported(literal, number)[0];
  for (std::int64_t i = 0; i < one.size(); ++i)
    EXPECT_NEAR(number_at(one, i), number_at(other, i), 1e-4) << i;
}

// Attributes of other operators must not make windows that reach beyond the padding.
// What takes long is computed for each frame instead, whatever attributes say.
TEST(NetworkGraph, FoldsOnlyWhatEndsSoon) {
  const std::clock_t started = std::clock();      // processor time: others may load the machine
  const std::vector<std::int64_t> huge(8, 1024);  // whose product is 2^80
  for (const char* const op : {"MatMul", "AveragePool", "NonMaxSuppression"}) {
    OnnxBuilder builder;
    builder.input("images", {1, 3, 64, 64});
    const bool is_pool = std::string(op) == "AveragePool", is_product = std::string(op) == "MatMul";
    builder.node("ConstantOfShape",
                 {builder.wholes("shape",
                                 {is_product ? 2
                                  : is_pool  ? 4
                                             : 3},
                                 is_product ? std::vector<std::int64_t>{4096, 4096}
                                 : is_pool  ? std::vector<std::int64_t>{1, 1, 2048, 2048}
                                            : std::vector<std::int64_t>{1, 100'000, 4})},
                 {"boxes"});
    if (is_product) builder.node(op, {"boxes", "boxes"}, {"slow"}, {{"kernel_shape", huge}});
    if (is_pool)
      builder.node(op, {"boxes"}, {"slow"},
                   {{"kernel_shape", std::vector<std::int64_t>{1024, 1024}},
                    {"pads", std::vector<std::int64_t>{512, 512, 511, 511}}});
    if (!is_product && !is_pool) {
      builder.node("ConstantOfShape", {builder.wholes("score_shape", {3}, {1, 1, 100'000})}, {"scores"});
      builder.node(op,
                   {"boxes", "scores", builder.wholes("most", {1}, {1'000'000}),
                    builder.reals("overlap", {1}, {2.0F})},
                   {"slow"});
    }
    builder.output("slow");
    const nn::Graph graph = builder.imported();
    EXPECT_FALSE(graph.constant(graph.outputs()[0])) << op;
  }
  EXPECT_LT(std::clock() - started, 20 * CLOCKS_PER_SEC);
}

TEST(NetworkGraph, RoundsSizesOfConvolutionsDown) {
  OnnxBuilder builder;
  builder.input("x", {1, 1, 8, 8});
  builder.node("Conv", {"x", builder.weights("w", {1, 1, 3, 3})}, {"y"},
               {{"strides", {2, 2}}, {"ceil_mode", 1}});
  builder.output("y");
  const nn::Graph graph = builder.imported();
  EXPECT_EQ(graph.shape(graph.outputs()[0]), (Shape{1, 1, 3, 3}));
}

TEST(NetworkGraph, RunsNodesWhoseSizesTheFrameDecides) {
  // The places of a tensor that are not zero: their number is known at run time alone.
  OnnxBuilder builder;
  builder.input("x", {6});
  builder.node("NonZero", {"x"}, {"places"});
  builder.output("places");
  const nn::Graph graph = builder.imported();
  for (const float only : {0.0F, 1.0F}) {
    const nn::Tensor made = test::run_imported(graph, [&](std::int64_t i) { return i == 4 ? 5 : only; })[0];
    EXPECT_EQ(made.dim(1), only > 0 ? 6 : 1);
    EXPECT_EQ(number_at(made, only > 0 ? 4 : 0), 4);
  }
}

}  // namespace
}  // namespace sightline::network
