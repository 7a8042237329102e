// Networks on OpenCL devices: they equal the reference to the bit, and equal groups share kernels.
#include <set>

#include "device_test.hpp"
#include "network_builder.hpp"

namespace sightline::nn {
namespace {

/// Blocks whose weights differ from channel to channel.
class DeviceNetwork : public NetworkBuilder {
 public:
  int weights(Shape shape) {
    Tensor values = made(shape, ++seed_);
    for (float& one : values.as<float>()) one *= 0.03F;
    return graph.add_constant("weights", std::move(values));
  }
  /// @param groups  0: depthwise
  int dense(int x, std::int64_t outputs, std::int64_t kernel, std::int64_t step = 1,
            std::int64_t groups = 1) {
    const Shape& from = graph.shape(x);
    groups = groups == 0 ? from[1] : groups;
    const std::int64_t before = kernel / 2;
    Window window{{kernel, kernel}, {step, step}, {1, 1}, {before, before}, {0, 0}};
    for (std::size_t axis = 0; axis < 2; ++axis)
      window.out[axis] = (from[axis + 2] + 2 * before - kernel) / step + 1;
    const int own = weights({outputs, from[1] / groups, kernel, kernel});
    return add(Convolve{window, groups}, {x, own, weights({outputs})});
  }
  int multiply(int x, std::int64_t outputs) {
    return add(Product{}, {x, weights({graph.shape(x).back(), outputs})});
  }

 private:
  std::uint32_t seed_ = 0;
};

class DevicePlanParts : public DeviceTest {
 protected:
  std::string wrong(const DeviceNetwork& network, const DeviceShape& shape) {
    std::vector<Tensor> inputs;
    std::vector<const Tensor*> pointers;
    for (const int input : network.graph.inputs()) inputs.push_back(made(network.graph.shape(input)));
    for (const Tensor& one : inputs) pointers.push_back(&one);
    return wrong_on_device(network.graph, pointers, shape);
  }
};

TEST_F(DevicePlanParts, MapsOfAllKindsEqualTheReference) {
  DeviceNetwork b;
  const int x = b.silu(b.dense(b.picture(20), 24, 3, 2));
  const int deep = b.silu(b.dense(b.silu(b.dense(x, 24, 3, 1, 0)), 40, 1));
  const int both = b.concat({x, b.slice(deep, 1, 3, 24), b.max_pool(x, 5)});
  const int grouped = b.dense(both, 18, 3, 2, 6);
  const int wide =
      b.sum(x, b.map(Function::hard_swish, {b.dense(b.concat({b.upsample(grouped), x}), 24, 1)}));
  const int turned = b.concat({b.slice(wide, 1, 5, 19), b.slice(wide, 1, 0, 5)});
  const int mean = b.add(Reduce{Fold::sum, {2, 3}}, {turned});
  const int scaled = b.map(Function::multiply, {wide, b.map(Function::sigmoid, {b.dense(mean, 24, 1)})});
  b.graph.add_output(b.add(Transpose{{0, 2, 1}}, {b.flattened(b.dense(scaled, 7, 1))}));
  b.graph.add_output(b.softmax(b.dense(deep, 10, 5, 1, 10), 1));
  b.graph.add_output(b.slice(wide, 3, 1, 4));
  const Window beyond{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {12, 11}};  // of a map of 10x10
  b.graph.add_output(b.add(Convolve{beyond, 1}, {wide, b.constant({5, 24, 1, 1}), b.constant({5})}));
  EXPECT_EQ(wrong(b, shape()), "");
  EXPECT_EQ(cpu_parts_, 0);
  // Where there are too few points for a device, products are divided among its work-groups.
  DeviceShape many = shape();
  many.groups = 60;
  EXPECT_EQ(wrong(b, many), "");
}

TEST_F(DevicePlanParts, TokensEqualTheReference) {
  DeviceNetwork b;
  const int x = b.graph.add_input("tokens", {DataType::f32, {1, 30, 40}});
  const int queries = b.multiply(x, 24), keys = b.add(Transpose{{0, 2, 1}}, {b.multiply(x, 24)});
  const int products = b.add(Product{}, {queries, keys});
  const int scores = b.softmax(b.map(Function::multiply, {products}, {0.02F}), 2);
  const int attended = b.add(Product{}, {scores, b.multiply(x, 20)});
  b.graph.add_output(b.multiply(attended, 5));
  const std::vector<int> top =
      b.graph.add("top", TopK{1, 7, true}, {b.add(Reduce{Fold::maximum, {2}}, {attended})});
  const int places = b.add(Expand{{1, 7, 20}}, {top[1]});
  b.graph.add_output(b.add(Gather{By::element, 1, 0}, {attended, places}));
  b.graph.add_output(top[0]);
  const int map = b.add(Reshape{{1, 40, 5, 6}}, {b.add(Transpose{{0, 2, 1}}, {x})});
  const int grid =
      b.add(Reshape{{1, 3, 10, 2}}, {b.map(Function::hyperbolic_tangent, {b.slice(attended, 2, 0, 2)})});
  b.graph.add_output(b.add(GridSample{}, {map, grid}));
  b.graph.add_output(b.add(Pad{{0, 0, 1, 2}, {0, 0, 3, 0}, Padding::reflect, 0.0F}, {map}));
  EXPECT_EQ(wrong(b, shape()), "");
  EXPECT_EQ(cpu_parts_, 0);
}

TEST_F(DevicePlanParts, ProductsOfAllTilesEqualTheReference) {
  DeviceNetwork b;
  const int x = b.silu(b.dense(b.picture(12), 20, 3));
  b.graph.add_output(b.dense(b.concat({x, b.map(Function::negate, {x}), x}), 13, 3));
  DeviceShape own = shape();
  own.groups = 1;
  // A work-item has 1, 2, 4 or 8 points and 1, 2 or 4 outputs. Operands of large tiles are staged in chunks.
  for (own.most_points = 4; own.most_points <= 128; own.most_points *= 2)
    EXPECT_EQ(wrong(b, own), "") << own.most_points;
}

TEST_F(DevicePlanParts, PoolsEqualTheReference) {
  DeviceNetwork b;
  const int x = b.silu(b.dense(b.picture(12), 5, 1));
  for (const std::int64_t kernel : {3, 5, 9}) b.graph.add_output(b.max_pool(x, kernel));
  const Window even{{2, 6}, {2, 3}, {1, 1}, {0, 2}, {6, 4}}, apart{{3, 3}, {1, 1}, {2, 1}, {2, 1}, {12, 12}},
      beyond{{2, 2}, {2, 2}, {1, 1}, {2, 3}, {8, 8}};
  for (const Window& window : {even, apart, beyond}) {
    b.graph.add_output(b.add(WindowFold{Fold::minimum, window}, {x}));
    b.graph.add_output(b.add(WindowFold{Fold::sum, window}, {x}));
  }
  EXPECT_EQ(wrong(b, shape()), "");
}

TEST_F(DevicePlanParts, RanksOfManyEqualTheReference) {
  DeviceNetwork b;
  const int rows = b.graph.add_input("rows", {DataType::f32, {2, 264}}),
            row = b.graph.add_input("row", {DataType::f32, {299}});
  // Many equal elements, zeros of both signs, NaN and infinities.
  const auto coarse = [&](int x) {
    const int whole = b.map(Function::round, {x});
    return b.concat({b.map(Function::divide, {whole, whole}), b.map(Function::negate, {whole})}, 0);
  };
  for (const int top : b.graph.add("rows", TopK{1, 30, true}, {coarse(rows)})) b.graph.add_output(top);
  for (const int top : b.graph.add("row", TopK{0, 598, false}, {coarse(row)})) b.graph.add_output(top);
  EXPECT_EQ(wrong(b, shape()), "");
  EXPECT_EQ(cpu_parts_, 0);
}

// Numbers of launches, and of different kernels.
std::pair<std::size_t, std::size_t> counts_of(const Graph& graph, const DeviceShape& shape) {
  const DevicePlan plan = plan_for_device(graph, shape);
  std::set<std::string> sources;
  for (const DeviceLaunch& one : plan.launches) sources.insert(one.source);
  return {plan.launches.size(), sources.size()};
}

TEST(DevicePlanCounts, EqualGroupsShareAKernel) {
  DeviceNetwork b;
  std::vector<int> scales{b.silu(b.dense(b.picture(64), 32, 3))};
  for (int i = 0; i < 2; ++i) scales.push_back(b.silu(b.dense(scales.back(), 32, 3, 2)));
  for (const int scale : scales) {
    const int layer = b.silu(b.dense(b.silu(b.dense(scale, 32, 3)), 32, 3));
    b.graph.add_output(b.map(Function::sigmoid, {b.dense(layer, 4, 1)}));
  }
  DeviceShape shape;
  shape.most_points = 16;
  // The first layer, then two of another size each beside the heads of the scales before them.
  const auto [launches, kernels] = counts_of(b.graph, shape);
  EXPECT_EQ(launches, 5U);
  EXPECT_EQ(kernels, 5U);
  shape.mixes_tasks = false;
  const auto [alone, distinct] = counts_of(b.graph, shape);
  EXPECT_EQ(alone, 9U);
  EXPECT_EQ(distinct, 4U);
}

}  // namespace
}  // namespace sightline::nn
