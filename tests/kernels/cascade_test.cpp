// The cascade's SIMD forms against the scalar reference, on random pictures of awkward sizes and cascades of
// all shapes, with every instruction set that the machine has.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/hardware.hpp"
#include "detectors/cascade/kernels.hpp"
#include "detectors/cascade/scan_scalar.hpp"
#include "image/integral.hpp"
#include "image/resample.hpp"
#include "kernels/kernel_test.hpp"
#include "support/cascade.hpp"

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
      resample_rows_reference(frame, SampleAxis(frame.width(), level.size.width),
                              SampleAxis(frame.height(), level.size.height), 0, level.size.height,
                              image(level));
      for (int p = 0; p < layout.planes; ++p)
        integrate_reference(image(level), layout, level, p, 0, level.size.height, integrals.data());
    }
  }
};

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
      reference::finish(model, reference.layout, reference.integrals.data(), expected, stages,
                        expected_candidates);
      with_every_target([&] {
        std::vector<Survivor> got;
        std::vector<Candidate> candidates;
        for (std::size_t i = 0; i < reference.layout.levels.size(); ++i) {
          for (int row = 0; row < reference.layout.levels[i].windows.height; ++row)
            scan_row(cascade, static_cast<int>(i), reference.integrals.data(), row, stages, got);
        }
        ASSERT_EQ(got, expected) << stages << " stages";
        finish(cascade, reference.integrals.data(), got, stages, candidates);
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
