// The cascade's SIMD forms against the scalar reference, on random pictures of awkward sizes and cascades of
// all shapes, with every instruction set that the machine has.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/hardware.hpp"
#include "cascade/kernels.hpp"
#include "cascade/scan_scalar.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline::cascade {
namespace {

// Runs `work` with every instruction set in turn.
template <typename Work>
void with_every_target(const Work& work) {
  for (const std::string& name : test::instruction_sets()) {
    SCOPED_TRACE(name);
    limit_instruction_set(name);
    work();
  }
  limit_instruction_set("best");
}

Image<std::uint8_t> make_picture(Size size, unsigned seed) {
  Image<std::uint8_t> image(size.width, size.height);
  std::mt19937 random(seed);
  // Patches, so that windows are more than noise; some flat ones.
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const unsigned patch = (x / 13U * 7 + y / 11U * 5 + seed) % 9;
      image.view().at(x, y) =
          static_cast<std::uint8_t>(patch == 0 ? 128 : patch * 25 + random() % (patch * 8));
    }
  }
  return image;
}

struct Shape {
  const char* name;
  FeatureKind kind;
  Size window;
  int stages;
  int trees;      // of a stage
  int max_nodes;  // of a tree
  bool tilted = false;
  float weight = -1;  // of the first rectangle
};

// Trees whose features and leaves are random; thresholds so that about half of the windows pass a stage.
Model make_model(const Shape& shape) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Model model;
  model.kind = shape.kind;
  model.window = shape.window;
  const int w = shape.window.width, h = shape.window.height;
  for (int s = 0; s < shape.stages; ++s) {
    model.stages.push_back({static_cast<std::int32_t>(model.trees.size()), shape.trees,
                            shape.kind == FeatureKind::haar ? -0.8F : -0.1F});
    for (int t = 0; t < shape.trees; ++t) {
      const int nodes = 1 + below(shape.max_nodes);
      model.trees.push_back({static_cast<std::int32_t>(model.nodes.size()), nodes,
                             static_cast<std::int32_t>(model.leaves.size())});
      model.max_tree_nodes = std::max(model.max_tree_nodes, nodes);
      int leaf = 0;
      for (int n = 0; n < nodes; ++n) {
        Node node;
        node.feature = shape.kind == FeatureKind::haar ? static_cast<int>(model.haar.size())
                                                       : static_cast<int>(model.lbp.size());
        // A chain whose other branches are leaves.
        const bool to_left = below(2) == 0;
        const auto next = [&](bool down) { return down && n + 1 < nodes ? n + 1 : -leaf++; };
        node.left = next(to_left);
        node.right = next(!to_left);
        node.threshold = static_cast<float>(below(2001) - 1000) * 2e-5F;
        model.nodes.push_back(node);
        if (shape.kind == FeatureKind::haar) {
          HaarFeature f;
          f.tilted = shape.tilted && below(2) == 0;
          model.has_tilted = model.has_tilted || f.tilted;
          const int side = std::min(w, h);
          const int a = 1 + below(side / 4);
          const int b = 1 + below(side / 4);
          const Rect whole = f.tilted
                                 ? Rect{b + below(std::max(w - 2 * a - b, 1)), below(h - 2 * a - b), 2 * a, b}
                                 : Rect{below(w - 3 * a), below(h - 2 * b), 3 * a, 2 * b};
          f.rects[0] = whole;
          f.weights[0] = shape.weight;
          const int form = f.tilted ? 0 : below(4);
          if (form == 0) {
            f.rects[1] = {whole.x, whole.y, f.tilted ? a : whole.width, f.tilted ? b : b};
            f.weights[1] = 2;
          } else if (form == 1) {
            f.rects[1] = {whole.x + a, whole.y, a, 2 * b};
            f.weights[1] = 3;
          } else if (form == 2) {
            f.rects[1] = {whole.x, whole.y, a, b};
            f.rects[2] = {whole.x + a, whole.y + b, a, b};
            f.weights[1] = f.weights[2] = 2;
          } else {
            f.rects[1] = {whole.x + 1, whole.y + 1, a, 1};
            f.weights[1] = 5;
          }
          model.haar.push_back(f);
        } else {
          const int a = 1 + below(w / 3), b = 1 + below(h / 3);
          model.lbp.push_back({below(w - 3 * a + 1), below(h - 3 * b + 1), a, b});
          for (int i = 0; i < kSubsetWords; ++i)
            model.subsets.push_back(static_cast<std::uint32_t>(random()));
        }
      }
      for (int l = 0; l <= nodes; ++l) model.leaves.push_back(static_cast<float>(below(2001) - 1000) * 1e-3F);
    }
  }
  return model;
}

const Shape kShapes[] = {
    {"haar_stumps", FeatureKind::haar, {20, 20}, 6, 5, 1},
    {"haar_trees_of_two", FeatureKind::haar, {24, 24}, 5, 6, 2},
    {"haar_deep_trees", FeatureKind::haar, {17, 26}, 4, 5, 7},
    {"haar_tilted", FeatureKind::haar, {20, 20}, 5, 5, 2, true},
    {"haar_broken_weights", FeatureKind::haar, {20, 20}, 4, 5, 1, false, -1.3F},
    {"lbp_stumps", FeatureKind::lbp, {45, 45}, 6, 6, 1},
    {"lbp_small", FeatureKind::lbp, {10, 12}, 5, 7, 1},
    {"lbp_trees", FeatureKind::lbp, {24, 24}, 5, 5, 5},
    {"lbp_large_blocks", FeatureKind::lbp, {70, 60}, 4, 5, 1},
};

// Of a whole frame, as the reference makes them.
struct Reference {
  Layout layout;
  AlignedBuffer<std::uint8_t> images;
  AlignedBuffer<std::byte> integrals;

  ImageView<std::uint8_t> image(const Level& l) {
    return {images.data() + l.image, l.size.width, l.size.height, l.image_stride};
  }
  Reference(GrayView frame, const Model& model, const Search& search)
      : layout(plan_layout(frame.size(), model, search)) {
    images.resize(static_cast<std::size_t>(layout.image_bytes) + 64);
    integrals.resize(static_cast<std::size_t>(layout.integral_bytes()) + 512);
    std::fill_n(images.data(), images.size(), std::uint8_t{0});
    std::fill_n(integrals.data(), integrals.size(), std::byte{0});
    for (const Level& level : layout.levels) {
      reference::resize_rows(frame, SampleAxis(frame.width(), level.size.width),
                             SampleAxis(frame.height(), level.size.height), 0, level.size.height,
                             image(level));
      for (int p = 0; p < layout.planes; ++p)
        reference::integrate(image(level), layout, level, p, 0, level.size.height, integrals.data());
    }
  }
};

TEST(CascadeKernels, ResizeIsTheReferences) {
  for (const Size size : {Size{33, 40}, Size{161, 97}, Size{320, 200}, Size{15, 90}, Size{1000, 61}}) {
    Image<std::uint8_t> frame = make_picture(size, 3);
    frame.view().at(0, 0) = frame.view().at(size.width - 1, size.height - 1) = 255;
    for (const double scale : {1.0, 1.1, 1.5, 1.99, 2.0, 2.6, 3.9, 4.7, 9.0}) {
      const Size small{std::max(static_cast<int>(size.width / scale), 1),
                       std::max(static_cast<int>(size.height / scale), 1)};
      Image<std::uint8_t> expected(small.width, small.height), got(small.width, small.height);
      reference::resize_rows(frame.view(), SampleAxis(size.width, small.width),
                             SampleAxis(size.height, small.height), 0, small.height, expected.view());
      with_every_target([&] {
        resize_rows(frame.view(), SamplePlan(size, small), 0, small.height, got.view());
        for (int y = 0; y < small.height; ++y)
          for (int x = 0; x < small.width; ++x)
            ASSERT_EQ(got.view().at(x, y), expected.view().at(x, y)) << x << ", " << y << ", scale " << scale;
      });
    }
  }
}

// The extremes, where sums of products are largest.
TEST(CascadeKernels, ResizeOfBlackAndWhiteIsTheReferences) {
  Image<std::uint8_t> frame(200, 150);
  std::mt19937 random(1);
  for (int y = 0; y < 150; ++y)
    for (int x = 0; x < 200; ++x) frame.view().at(x, y) = random() % 4 == 0 ? 0 : 255;
  const Size small{137, 111};
  Image<std::uint8_t> expected(small.width, small.height), got(small.width, small.height);
  reference::resize_rows(frame.view(), SampleAxis(200, small.width), SampleAxis(150, small.height), 0,
                         small.height, expected.view());
  with_every_target([&] {
    resize_rows(frame.view(), SamplePlan({200, 150}, small), 0, small.height, got.view());
    for (int y = 0; y < small.height; ++y)
      for (int x = 0; x < small.width; ++x) ASSERT_EQ(got.view().at(x, y), expected.view().at(x, y));
  });
}

class CascadeKernel : public testing::TestWithParam<Shape> {};

TEST_P(CascadeKernel, IntegralsAreTheReferences) {
  const Model model = make_model(GetParam());
  const Image<std::uint8_t> frame = make_picture({157, 131}, 5);
  Reference expected(frame.view(), model, {});
  ASSERT_FALSE(expected.layout.levels.empty());
  AlignedBuffer<std::byte> got(expected.integrals.size());
  const auto compare = [&]<typename Sum>(Sum) {
    const Layout& layout = expected.layout;
    const auto* e = reinterpret_cast<const Sum*>(expected.integrals.data());
    const auto* g = reinterpret_cast<const Sum*>(got.data());
    for (int p = 0; p < layout.planes; ++p) {
      for (const Level& level : layout.levels) {
        for (int y = 0; y <= level.size.height; ++y) {
          for (int x = 0; x <= level.size.width; ++x) {
            const std::int64_t at = p * layout.plane + level.origin + std::int64_t{y} * layout.stride +
                                    layout.column(level.step, x);
            ASSERT_EQ(g[at], e[at]) << "plane " << p << " of scale " << level.scale << " at " << x << ", "
                                    << y;
          }
        }
      }
    }
  };
  with_every_target([&] {
    for (const Level& level : expected.layout.levels)
      for (int p = 0; p < expected.layout.planes; ++p)
        integrate(expected.image(level), expected.layout, level, p, 0, level.size.height, got.data());
    if (expected.layout.element_bytes == 2) {
      compare(std::uint16_t{});
    } else {
      compare(std::uint32_t{});
    }
  });
}

TEST_P(CascadeKernel, WindowsAreTheReferences) {
  const Model model = make_model(GetParam());
  const int all = static_cast<int>(model.stages.size());
  std::size_t found = 0, left = 0;
  for (const Size size : {Size{157, 131}, Size{90, 75}}) {
    const Image<std::uint8_t> frame = make_picture(size, 5);
    Reference reference(frame.view(), model, {});
    const PackedCascade cascade(model, reference.layout);
    for (int stages = 1; stages <= all; ++stages) {
      std::vector<Survivor> expected;
      std::vector<Candidate> expected_candidates;
      for (std::size_t i = 0; i < reference.layout.levels.size(); ++i) {
        for (int row = 0; row < reference.layout.levels[i].windows.height; ++row) {
          reference::scan_row(model, reference.layout, static_cast<int>(i), reference.integrals.data(), row,
                              stages, expected);
        }
      }
      reference::verify(model, reference.layout, reference.integrals.data(), expected, stages,
                        expected_candidates);
      with_every_target([&] {
        std::vector<Survivor> got;
        std::vector<Candidate> candidates;
        for (std::size_t i = 0; i < reference.layout.levels.size(); ++i) {
          for (int row = 0; row < reference.layout.levels[i].windows.height; ++row)
            scan_row(cascade, static_cast<int>(i), reference.integrals.data(), row, stages, got);
        }
        ASSERT_EQ(got, expected) << stages << " stages";
        verify(cascade, reference.integrals.data(), got, stages, candidates);
        ASSERT_EQ(candidates, expected_candidates) << stages << " stages";
      });
      found += expected_candidates.size();
      left += expected.size();
    }
  }
  EXPECT_GT(found, 10U);
  EXPECT_GT(left, found);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CascadeKernel, testing::ValuesIn(kShapes),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CascadeKernels, WindowsAreSkippedOneByOne) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    const int count = 1 + static_cast<int>(random() % 64);
    std::uint64_t rejected = random() | random();
    if (round % 3 == 0) rejected |= random() | random();
    rejected &= ~std::uint64_t{0} >> (64 - count);
    bool skip = round % 2 == 1;
    bool expected_next = skip;
    std::uint64_t expected = 0;
    for (int i = 0; i < count; ++i) {
      if (expected_next) expected |= std::uint64_t{1} << i;
      expected_next = !expected_next && (rejected >> i & 1) != 0;
    }
    ASSERT_EQ(skipped_windows(rejected, count, skip), expected);
    ASSERT_EQ(skip, expected_next);
  }
}

}  // namespace
}  // namespace sightline::cascade
