#include "blocks.hpp"
#include "kernels/kernel_test.hpp"
#include "network/cpu/grouped.hpp"
#include "network/cpu/matrix.hpp"
#include "network/cpu/product.hpp"

namespace sightline::nn {
namespace {

/// Kernels are not for instruction sets without fused multiply-adds: there, the reference runs.
class NetworkProductKernel : public test::KernelTest {
  void SetUp() override {
    KernelTest::SetUp();
    if (!has_fused_multiply_add()) GTEST_SKIP();
  }
};
INSTANTIATE_TEST_SUITE_P(AllTargets, NetworkProductKernel, testing::ValuesIn(test::instruction_sets()),
                         test::target_name);

// Numbers of which so few are odd that most sums are finite.
Tensor made_mixed(const Shape& shape, std::uint32_t seed) {
  constexpr float kOdd[] = {kNan, -0.0F, 1e-42F, kInfinity, 0.0F, -2e-40F, 3e38F};
  Tensor tensor = made(shape, seed);
  for (std::size_t i = seed % 211; i < tensor.as<float>().size(); i += 211)
    tensor.as<float>()[i] = kOdd[i % std::size(kOdd)];
  return tensor;
}

// A window that stays inside the map, whose output has one row of `width` points.
struct RowWindow {
  int rows = 1, columns = 1, step = 1, tap_step = 1;

  int map_width(int width) const { return (width - 1) * step + (columns - 1) * tap_step + 1; }
  Window window(int width) const { return {{rows, columns}, {1, step}, {1, tap_step}, {0, 0}, {1, width}}; }
};
constexpr RowWindow kRowWindows[] = {{1, 1}, {3, 3}, {2, 3, 2}, {1, 2, 3, 2}};

// Weights [O, C, rows, columns] by block of outputs, row, column, channel, output of the block. Lanes without
// an output are NaN.
std::vector<float> in_blocks(const Tensor& weights) {
  const std::int64_t outputs = weights.dim(0);
  std::vector<float> packed;
  for (std::int64_t block = 0; block < outputs; block += kBlock) {
    for (const Shape& tap : places_of({weights.dim(2), weights.dim(3), weights.dim(1)})) {
      for (std::int64_t o = block; o < block + kBlock; ++o)
        packed.push_back(o < outputs ? at<float>(weights, {o, tap[2], tap[0], tap[1]}) : kNan);
    }
  }
  return packed;
}
// Numbers [O] up to the end of the last block.
std::vector<float> in_blocks(const Tensor& numbers, int blocks) {
  std::vector<float> padded(numbers.as<float>().begin(), numbers.as<float>().end());
  padded.resize(static_cast<std::size_t>(blocks) * kBlock, kNan);
  return padded;
}

// One row of blocks of outputs in guarded memory.
class OutputRow {
 public:
  OutputRow(int outputs, int width)
      : outputs_(outputs), width_(width), memory_(static_cast<std::size_t>(blocks() * width) * kBlock) {
    for (int b = 0; b < blocks(); ++b) rows_.push_back(memory_.data() + b * width * kBlock);
  }
  int blocks() const { return (outputs_ + 15) / 16; }
  float* const* rows() { return rows_.data(); }
  /// Whether it holds a map [1, O, 1, width], and nothing around it was written.
  testing::AssertionResult holds(const Tensor& wanted) {
    if (!memory_.untouched_outside(0, static_cast<std::ptrdiff_t>(memory_.size())))
      return testing::AssertionFailure() << "writes outside";
    return same(
        tensor_of<float>(wanted.shape(), [&](const Shape& place) { return element(place[1], place[3]); }),
        wanted);
  }

 private:
  float& element(std::int64_t o, std::int64_t x) {
    return rows_[static_cast<std::size_t>(o / kBlock)][x * kBlock + o % kBlock];
  }
  int outputs_, width_;
  test::Guarded<float> memory_;
  std::vector<float*> rows_;
};

// A map and the convolution of one row of it.
struct KernelCase {
  KernelCase(const RowWindow& form_, int channels, int group_inputs, int outputs_, int width_)
      : form(form_),
        outputs(outputs_),
        width(width_),
        x(made_mixed({1, channels, form.rows, form.map_width(width)}, static_cast<std::uint32_t>(width))),
        weights(made({outputs, group_inputs, form.rows, form.columns}, static_cast<std::uint32_t>(outputs))),
        start(made_mixed({outputs}, 7)) {}
  Tensor map() const { return run(Reshape{{x.dim(1), x.dim(2), x.dim(3)}}, {x}); }
  Tensor wanted(bool with_start) const {
    const Convolve convolve{form.window(width), x.dim(1) / weights.dim(1)};
    return with_start ? run(convolve, {x, weights, start}) : run(convolve, {x, weights});
  }
  RowWindow form;
  int outputs, width;
  Tensor x, weights, start;
};

TEST_P(NetworkProductKernel, ConvolvesRows) {
  for (const RowWindow& form : kRowWindows) {
    for (const int width : {1, 2, 5, 13, 15, 29, 37}) {
      for (const int outputs : {1, 16, 33, 48, 130}) {
        const KernelCase one(form, 17, 17, outputs, width);
        Blocks map(one.map());
        std::vector<const float*> taps;
        for (int y = 0; y < form.rows; ++y) {
          for (int c = 0; c < 17; ++c) taps.push_back(map.row(c / 16, y) + c % 16);
        }
        const std::vector<float> weights = in_blocks(one.weights);
        for (const bool has_bias : {false, true}) {
          OutputRow out(outputs, width);
          const std::vector<float> bias = in_blocks(one.start, out.blocks());
          ConvolutionRow row{
              .taps = taps.data(), .inputs = 17, .kernel_rows = form.rows, .kernel_columns = form.columns};
          row.column_step = form.tap_step * kBlock;
          row.pixel_step = form.step * kBlock;
          row.weights = weights.data();
          row.bias = has_bias ? bias.data() : nullptr;
          row.blocks = out.blocks();
          row.width = width;
          row.out = out.rows();
          convolve_row(row);
          EXPECT_TRUE(out.holds(one.wanted(has_bias)))
              << form.rows << "x" << form.columns << " " << outputs << " " << width;
        }
      }
    }
  }
}

TEST_P(NetworkProductKernel, ConvolvesSmallGroups) {
  struct Groups {
    int groups, inputs, outputs;
  };
  for (const auto& [groups, inputs, outputs] : {Groups{9, 2, 2},
                                                {4, 4, 4},
                                                {5, 8, 8},
                                                {3, 15, 15},
                                                {17, 1, 2},
                                                {33, 4, 1},
                                                {5, 3, 7},
                                                {3, 24, 24},
                                                {9, 7, 2},
                                                {1, 40, 3},
                                                {2, 1, 20}}) {
    for (const RowWindow& form : kRowWindows) {
      for (const int width : {1, 13, 15, 29}) {
        const KernelCase one(form, groups * inputs, inputs, groups * outputs, width);
        Blocks map(one.map());
        std::vector<const float*> rows;
        for (int y = 0; y < form.rows; ++y) {
          for (int b = 0; b < map.count(); ++b) rows.push_back(map.row(b, y));
        }
        OutputRow out(one.outputs, width);
        const std::vector<float> weights = in_blocks(one.weights), bias = in_blocks(one.start, out.blocks());
        GroupedRow row{
            .rows = rows.data(), .groups = groups, .group_inputs = inputs, .group_outputs = outputs};
        row.kernel_rows = form.rows;
        row.kernel_columns = form.columns;
        row.column_step = form.tap_step * kBlock;
        row.pixel_step = form.step * kBlock;
        row.weights = weights.data();
        row.bias = width > 1 ? bias.data() : nullptr;
        row.width = width;
        row.out = out.rows();
        grouped_row(row);
        EXPECT_TRUE(out.holds(one.wanted(width > 1)))
            << groups << " of " << inputs << " > " << outputs << ", " << width;
      }
    }
  }
}

// a [M, K] * b [K, N]: a by rows, by columns, and in blocks; b's columns packed, and in blocks with more
// points than K.
TEST_P(NetworkProductKernel, MultipliesTensors) {
  for (const auto& [m, k, n] :
       {std::array{1, 5, 200}, {2, 33, 48}, {14, 1, 16}, {31, 48, 17}, {45, 16, 130}, {7, 20, 1}}) {
    const Tensor a = made_mixed({m, k}, 3), b = made({k, n}, 5);
    const Tensor columns = run(Transpose{{1, 0}}, {a});
    Blocks in_point_blocks(run(Reshape{{k, 1, m}}, {columns})),
        right(run(Reshape{{n, 1, k}}, {run(Transpose{{1, 0}}, {b})}), 2);
    const std::vector<float> packed = in_blocks(run(Reshape{{n, k, 1, 1}}, {run(Transpose{{1, 0}}, {b})}));
    std::vector<const float*> by_row, by_column, by_block;
    for (int i = 0; i < k; ++i) {
      by_row.push_back(a.as<float>().data() + i);
      by_column.push_back(columns.as<float>().data() + i * m);
      by_block.push_back(in_point_blocks.row(i / 16, 0) + i % 16);
    }
    const Tensor wanted = run(Reshape{{1, n, 1, m}}, {run(Transpose{{1, 0}}, {run(Product{}, {a, b})})});
    for (const auto& [taps, step] : {std::pair{&by_row, k}, {&by_column, 1}, {&by_block, 16}}) {
      for (const bool is_packed : {false, true}) {
        OutputRow out(n, m);
        ConvolutionRow row{.taps = taps->data(), .inputs = k};
        row.pixel_step = step;
        row.weights = is_packed ? packed.data() : right.row(0, 0);
        row.weights_step = is_packed ? 0 : right.row_step();
        row.blocks = out.blocks();
        row.width = m;
        row.out = out.rows();
        convolve_row(row);
        EXPECT_TRUE(out.holds(wanted)) << m << " " << k << " " << n << " " << step;
      }
    }
  }
}

TEST_P(NetworkProductKernel, MultipliesWholeTensors) {
  struct Shapes {
    Shape a, b, start, product;
  };
  for (const Shapes& of : {Shapes{{1, 5}, {5, 1}, {}, {1, 1}},
                           {{3, 1, 25, 7}, {2, 7, 33}, {33}, {3, 2, 25, 33}},
                           {{2, 13, 48}, {1, 48, 16}, {13, 1}, {2, 13, 16}},
                           {{4, 3}, {5, 3, 50}, {}, {5, 4, 50}},
                           {{2, 19, 31}, {2, 31, 1}, {2, 1, 1}, {2, 19, 1}},
                           {{3, 0}, {0, 4}, {4}, {3, 4}}}) {
    std::vector<Tensor> inputs{made_mixed(of.a, 3), made_mixed(of.b, 5)};
    if (!of.start.empty()) inputs.push_back(made_mixed(of.start, 7));
    std::vector<const Tensor*> pointers;
    for (const Tensor& one : inputs) pointers.push_back(&one);
    std::vector<Tensor> products{Tensor(DataType::f32, of.product)};
    multiply_tensors(pointers, products);
    EXPECT_TRUE(same(products[0], run(Product{}, inputs))) << text_of(of.product);
  }
}

}  // namespace
}  // namespace sightline::nn
