#include "network/graph.hpp"
#include "base/error.hpp"
#include "made_tensors.hpp"
#include "network/constant_folder.hpp"
#include "network/reference.hpp"

namespace sightline::nn {
namespace {

Map function(Function one, std::size_t operands) {
  return {Expression::of(one, std::vector<DataType>(operands, DataType::f32))};
}

// Two branches, one of which nobody reads.
struct Diamond {
  Graph graph;
  int input, root, left, sum;

  Diamond() {
    input = graph.add_input("x", {DataType::f32, {4}});
    root = graph.add_single("root", function(Function::square_root, 1), {input});
    left = graph.add_single("left", function(Function::negate, 1), {root});
    graph.add("unused", TopK{0, 2, true}, {root});
    sum = graph.add_single("sum", function(Function::add, 2), {left, root});
    graph.add_output(sum);
    graph.add_output(root);
  }
};

TEST(NetworkGraph, NumbersNodesAndTensors) {
  const Diamond made;
  EXPECT_EQ(made.graph.inputs(), std::vector{made.input});
  EXPECT_EQ(made.graph.tensor(made.sum).maker, 3);
  EXPECT_EQ(made.graph.tensor(made.input).maker, kNone);
  EXPECT_EQ(made.graph.node(2).outputs.size(), 2U);
  EXPECT_EQ(readers_of(made.graph)[static_cast<std::size_t>(made.root)], (std::vector{1, 2, 3}));
  EXPECT_EQ(needed_nodes(made.graph), (std::vector{0, 1, 3}));
  const std::vector<int> nodes = needed_nodes(made.graph);
  const std::vector<std::vector<int>> ends = tensors_that_end(made.graph, nodes);
  EXPECT_EQ(ends, (std::vector<std::vector<int>>{{made.input}, {}, {made.left}}));
  EXPECT_NE(text_of(made.graph).find("= map add(x0, x1)(t"), std::string::npos);
}

TEST(NetworkGraph, ErrorsNameTheNode) {
  Graph graph;
  const int x = graph.add_input("x", {DataType::f32, {2, 3}});
  try {
    graph.add("'Conv_3' (Conv)", Transpose{{0}}, {x});
    FAIL();
  } catch (const Problem& problem) {
    EXPECT_NE(std::string(problem.what()).find("'Conv_3' (Conv)"), std::string::npos);
  }
  EXPECT_TRUE(graph.nodes().empty());
}

TEST(NetworkReference, RunsAllThatOutputsNeed) {
  const Diamond made;
  const Tensor x = Tensor::vector<float>({1, 4, 9, 0.25F});
  const Tensor* const input = &x;
  const std::vector<Tensor> outputs = run_reference(made.graph, {&input, 1});
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_TRUE(same(outputs[0], Tensor::vector<float>({0, 0, 0, 0})));
  EXPECT_TRUE(same(outputs[1], Tensor::vector<float>({1, 2, 3, 0.5F})));
  EXPECT_THROW(run_reference(made.graph, {}), std::logic_error);
}

TEST(NetworkReference, RunsSizesThatTheFrameDecides) {
  Graph graph;
  const int x = graph.add_input("x", {DataType::f32, {5}});
  const int places = graph.add_single("places", NonZero{}, {x});
  const int flat = graph.add_single("flat", Reshape{{kUnknown}}, {places});
  const int values = graph.add_single("values", Gather{By::index, 0}, {x, flat});
  const int count = graph.add_single("count", Dimension{0}, {values});
  EXPECT_EQ(graph.shape(values), (Shape{kUnknown}));
  graph.add_output(values);
  graph.add_output(graph.add_single("numbers", Iota{Scalar(1.0F), Scalar(1.0F), kUnknown}, {count}));
  const Tensor input = Tensor::vector<float>({0, 7, 0, 8, 9});
  const Tensor* const pointer = &input;
  const std::vector<Tensor> outputs = run_reference(graph, {&pointer, 1});
  EXPECT_TRUE(same(outputs[0], Tensor::vector<float>({7, 8, 9})));
  EXPECT_TRUE(same(outputs[1], Tensor::vector<float>({1, 2, 3})));
}

TEST(NetworkReference, ErrorsNameTheNode) {
  Graph graph;
  const int x = graph.add_input("x", {DataType::i64, {1}});
  const int table = graph.add_constant("table", Tensor::vector<float>({1, 2}));
  graph.add_output(graph.add_single("'Look_up'", Gather{By::index, 0}, {table, x}));
  const Tensor index = Tensor::vector<std::int64_t>({2});
  const Tensor* const input = &index;
  const auto fails = [&](std::int64_t limit) {
    try {
      run_reference(graph, {&input, 1}, limit);
    } catch (const Error& error) {
      return error.code() == ExitCode::failed &&
             std::string(error.what()).find("'Look_up'") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(fails(1 << 20));
  index.as<std::int64_t>();
  Graph large;
  const int y = large.add_input("y", {DataType::f32, {100}});
  large.add_output(large.add_single("large", function(Function::negate, 1), {y}));
  const Tensor values = made({100});
  const Tensor* const pointer = &values;
  EXPECT_THROW(run_reference(large, {&pointer, 1}, 399), Error);
  EXPECT_NO_THROW(run_reference(large, {&pointer, 1}, 400));
}

TEST(NetworkFolder, ComputesWhatIsConstant) {
  Graph graph;
  ConstantFolder folder(graph, 1000);
  const int x = graph.add_input("x", {DataType::f32, {2, 3, kUnknown}});
  const int side = folder.add_single("side", Dimension{1}, {x});
  ASSERT_TRUE(graph.constant(side));
  EXPECT_TRUE(same(*graph.constant(side), Tensor::scalar<std::int64_t>(3)));
  EXPECT_FALSE(graph.constant(folder.add_single("unknown", Dimension{2}, {x})));
  const int table = graph.add_constant("table", made({10}));
  EXPECT_TRUE(graph.constant(folder.add_single("small", Reshape{{2, 5}}, {table})));
  EXPECT_FALSE(graph.constant(folder.add_single("large", Expand{{100, 10}}, {table})));  // 4,000 bytes
  EXPECT_FALSE(graph.constant(folder.add_single("map", function(Function::negate, 1), {x})));
  EXPECT_THROW(folder.add("bad", Reshape{{3}}, {table}), Problem);
  EXPECT_THROW(folder.add("range", Gather{By::index, 0},
                          {table, graph.add_constant("i", Tensor::scalar<std::int64_t>(10))}),
               Problem);
}

TEST(NetworkFolder, LeavesLongWorkToFrames) {
  Graph graph;
  ConstantFolder folder(graph, std::int64_t{1} << 40);
  const int a = graph.add_constant("a", Tensor(DataType::f32, {1024, 1024}));
  const int product = folder.add_single("product", Product{}, {a, a});
  EXPECT_FALSE(graph.constant(product));
  EXPECT_GE(work_of(graph, graph.node(0)), std::int64_t{1} << 30);
}

}  // namespace
}  // namespace sightline::nn
