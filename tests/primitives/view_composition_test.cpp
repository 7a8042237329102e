// Views that are composed, against the elements that the reference computes.
#include <random>

#include "made_tensors.hpp"
#include "network/strided.hpp"
#include "network/view.hpp"

namespace sightline::nn {
namespace {

std::int64_t offset_in(const FactoredAxis& axis, std::int64_t place) {
  std::int64_t offset = 0;
  for (auto factor = axis.rbegin(); factor != axis.rend(); ++factor) {
    offset += place % factor->size * factor->stride;
    place /= factor->size;
  }
  return offset;
}

// The elements that a view shows.
Tensor shown(const View& view, const Shape& shape, const std::vector<Tensor>& stored) {
  return tensor_of<float>(shape, [&](Shape place) {
    for (const Run& run : view.runs) {
      const std::int64_t count = side_of(run.axes[view.axis]);
      if (view.runs.size() > 1 && place[view.axis] >= count) {
        place[view.axis] -= count;
        continue;
      }
      std::int64_t offset = run.offset;
      for (std::size_t i = 0; i < place.size(); ++i) offset += offset_in(run.axes[i], place[i]);
      return stored[static_cast<std::size_t>(run.tensor)].as<float>()[static_cast<std::size_t>(offset)];
    }
    return kNan;
  });
}

struct Seen {
  Tensor tensor;
  std::optional<View> view;
};

// A random primitive on a tensor that fits its shape.
Primitive random_view(const Shape& shape, std::mt19937& random) {
  const auto below = [&](std::size_t count) { return random() % count; };
  const std::size_t axis = below(shape.size());
  Shape sides = shape;
  switch (below(4)) {
    case 0: {
      Axes order(shape.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::ranges::shuffle(order, random);
      return Transpose{order};
    }
    case 1: {
      Slice slice{Shape(shape.size(), 0), Shape(shape.size(), 1), shape};
      slice.step[axis] = std::vector<std::int64_t>{1, 1, 2, -1}[below(4)];
      slice.shape[axis] = std::max<std::int64_t>(1, shape[axis] / 2);
      slice.first[axis] = slice.step[axis] < 0 ? shape[axis] - 1 : shape[axis] > 1 ? shape[axis] % 2 : 0;
      return slice;
    }
    case 2: {
      if (shape[axis] % 2 != 0 || shape.size() > 5) return Expand{sides};
      sides[axis] /= 2;
      sides.insert(sides.begin() + static_cast<std::ptrdiff_t>(axis + below(2)), 2);
      return Reshape{sides};
    }
    default: {
      if (axis == 0) {
        if (shape.size() < 6) sides.insert(sides.begin(), 2);
        return Expand{sides};
      }
      sides[axis - 1] *= sides[axis];
      sides.erase(sides.begin() + static_cast<std::ptrdiff_t>(axis));
      return Reshape{sides};
    }
  }
}

TEST(NetworkView, ShowsWhatTheReferenceComputes) {
  std::mt19937 random(7);
  int composed = 0, copied = 0;
  for (int seed = 0; seed < 400; ++seed) {
    const std::vector<Tensor> stored = {made({2, 6, 4, 3}), made({2, 2, 4, 3}, 3)};
    const Seen parts[] = {{stored[0], View::of(0, stored[0].shape())},
                          {stored[1], View::of(1, stored[1].shape())}};
    Seen seen = parts[0];
    if (seed % 2 == 1) {
      const View* const both[] = {&*parts[0].view, &*parts[1].view};
      const Concat concat{1};
      seen.tensor = run(concat, stored);
      seen.view = view_of(concat, both, seen.tensor.shape());
    }
    for (int i = 0; i < 6; ++i) {
      const Primitive primitive = random_view(seen.tensor.shape(), random);
      const View* const operand = &*seen.view;
      Tensor tensor = run(primitive, {seen.tensor});
      seen = {tensor, view_of(primitive, {&operand, 1}, tensor.shape())};
      ++(seen.view ? composed : copied);
      if (!seen.view) break;
      ASSERT_TRUE(same(shown(*seen.view, tensor.shape(), stored), tensor)) << "seed " << seed;
    }
  }
  EXPECT_GT(composed, 1000);
  EXPECT_LT(copied, composed / 4);
}

TEST(NetworkView, ExpressesWhatNetworksNeed) {
  const View map = View::of(0, {1, 6, 4, 4});
  const auto viewed = [](const Primitive& primitive, const View& x, const Shape& shape) {
    const View* const operand = &x;
    return view_of(primitive, {&operand, 1}, shape);
  };
  // A channel shuffle.
  const auto split = viewed(Reshape{}, map, {1, 2, 3, 4, 4});
  const auto turned = viewed(Transpose{{0, 2, 1, 3, 4}}, *split, {1, 3, 2, 4, 4});
  const auto shuffled = viewed(Reshape{}, *turned, {1, 6, 4, 4});
  EXPECT_EQ(shuffled->runs[0].axes[1], (FactoredAxis{{3, 16}, {2, 48}}));
  // Tokens of a map.
  const auto tokens = viewed(Transpose{{0, 2, 1}}, *viewed(Reshape{}, map, {1, 6, 16}), {1, 16, 6});
  EXPECT_EQ(normalised(tokens->runs[0].axes[1]), (FactoredAxis{{16, 1}}));
  // Nearest upsampling.
  const auto repeated = viewed(Expand{}, *viewed(Reshape{}, map, {1, 6, 4, 1, 4, 1}), {1, 6, 4, 2, 4, 2});
  const auto upsampled = viewed(Reshape{}, *repeated, {1, 6, 8, 8});
  EXPECT_EQ(upsampled->runs[0].axes[2], (FactoredAxis{{4, 4}, {2, 0}}));
  // What strides cannot say.
  EXPECT_FALSE(viewed(
      Reshape{}, *viewed(Transpose{{0, 2, 1}}, *viewed(Reshape{}, map, {1, 6, 16}), {1, 16, 6}), {1, 3, 32}));
  EXPECT_FALSE(viewed(Scan{}, map, {1, 6, 4, 4}));
}

}  // namespace
}  // namespace sightline::nn
