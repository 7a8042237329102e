#include "blocks.hpp"
#include "kernels/kernel_test.hpp"
#include "network/cpu/window.hpp"

namespace sightline::nn {
namespace {

KERNEL_TEST_SUITE(NetworkWindowKernel);

// Computes a row of a window fold in two parts.
void fold_row(const WindowFold& node, const std::vector<const float*>& map_rows, int y, int in_width,
              int lanes, float* out) {
  const Window& window = node.window;
  std::vector<const float*> rows;
  for (std::int64_t k = 0; k < window.kernel[0]; ++k) {
    const std::int64_t at = window.position(0, y, k);
    if (at >= 0 && at < std::ssize(map_rows)) rows.push_back(map_rows[static_cast<std::size_t>(at)]);
  }
  WindowRow row{node.fold,
                rows.data(),
                static_cast<int>(rows.size()),
                in_width,
                lanes,
                static_cast<int>(window.kernel[1]),
                static_cast<int>(window.step[1]),
                static_cast<int>(window.tap_step[1]),
                static_cast<int>(window.before[1])};
  const int width = static_cast<int>(window.out[1]), cut = width / 3;
  for (const auto& [first, count] : {std::pair(0, cut), {cut, width - cut}}) {
    if (count == 0) continue;
    row.first = first;
    row.width = count;
    row.out = out + first * lanes;
    const bool is_extreme = row.fold == Fold::maximum || row.fold == Fold::minimum;
    const std::ptrdiff_t kept = is_extreme ? 1 : row.row_count;
    std::vector<float> scratch(static_cast<std::size_t>(reach_of(row).count * lanes * kept), kNan);
    fold_window(row, scratch.data());
  }
}

void check(const WindowFold& node, const Tensor& x) {
  const int channels = static_cast<int>(x.dim(0)), height = static_cast<int>(x.dim(1)),
            width = static_cast<int>(x.dim(2));
  const auto out_height = static_cast<int>(node.window.out[0]),
             out_width = static_cast<int>(node.window.out[1]);
  const Tensor wanted = run(node, {x});
  Blocks map(x, 1), out(channels, out_height, out_width);
  Tensor planes(DataType::f32, wanted.shape());
  for (int y = 0; y < out_height; ++y) {
    std::vector<const float*> rows(static_cast<std::size_t>(height));
    for (int b = 0; b < map.count(); ++b) {
      for (int r = 0; r < height; ++r) rows[static_cast<std::size_t>(r)] = map.row(b, r);
      fold_row(node, rows, y, width, kBlock, out.row(b, y));
    }
    for (int c = 0; c < channels; ++c) {
      for (int r = 0; r < height; ++r)
        rows[static_cast<std::size_t>(r)] = x.as<float>().data() + (c * height + r) * width;
      fold_row(node, rows, y, width, 1, planes.as<float>().data() + (c * out_height + y) * out_width);
    }
  }
  const Window& w = node.window;
  const auto about = [&] {
    return text_of(x.shape()) + ": " +
           text_of(Shape{w.kernel[0], w.kernel[1], w.step[1], w.tap_step[1], w.before[1]});
  };
  EXPECT_TRUE(same(out.tensor(), wanted)) << about();
  EXPECT_TRUE(same(planes, wanted)) << about();
}

TEST_P(NetworkWindowKernel, FoldsAsTheReference) {
  test::Numbers numbers(7);
  for (int i = 0; i < 80; ++i) {
    const int channels = kAwkwardChannels[numbers(0, 8)], height = numbers(1, 9), width = numbers(1, 37);
    WindowFold node{static_cast<Fold>(numbers(0, 3)), {}};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      node.window.kernel[axis] = numbers(1, 5);
      node.window.step[axis] = numbers(1, 3);
      node.window.tap_step[axis] = numbers(-2, 2);
      node.window.before[axis] = numbers(-3, 9);
      node.window.out[axis] = numbers(1, axis == 0 ? 4 : 40);
    }
    const Shape shape{channels, height, width};
    check(node, i % 2 == 0 ? made(shape) : made_odd(shape, static_cast<std::uint32_t>(i)));
  }
}

TEST_P(NetworkWindowKernel, FoldsUsualPools) {
  const Tensor x = made_odd({17, 13, 37}, 3);
  check({Fold::maximum, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {7, 19}}}, x);
  check({Fold::maximum, {{5, 5}, {1, 1}, {1, 1}, {2, 2}, {13, 37}}}, x);
  check({Fold::sum, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {13, 37}}}, x);
  check({Fold::minimum, {{1, 1}, {1, 1}, {0, 0}, {0, 0}, {13, 37}}}, x);
}

}  // namespace
}  // namespace sightline::nn
