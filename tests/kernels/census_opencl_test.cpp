// The census stages on OpenCL devices against the CPU's: every variant gives the same images, codes and
// candidates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/error.hpp"
#include "detectors/census/opencl/stages.hpp"
#include "kernels/census_model.hpp"
#include "kernels/opencl_test.hpp"
#include "support/errors.hpp"

namespace sightline::census {
namespace {

using cascade::make_picture;

KernelTuning form_of(const char* scan, int tile_rows, int group, int early_stages, int finish_group,
                     int code_rows) {
  KernelTuning tuning;
  tuning.scan = scan;
  tuning.tile_rows = tile_rows;
  tuning.group = group;
  tuning.early_stages = early_stages;
  tuning.finish_group = finish_group;
  tuning.code_rows = code_rows;
  return tuning;
}

const KernelTuning kForms[] = {
    form_of("naive", 1, 64, 1, 8, 1), form_of("naive", 5, 48, 3, 16, 2), form_of("queue", 16, 256, 2, 32, 4),
    form_of("queue", 3, 48, 1, 4, 3),  // whose items do not divide the tile evenly
    form_of("queue", 1, 8, 9, 1, 1),   // whose scan has all stages
};

std::string text_of(const KernelTuning& t) {
  return t.scan + ", " + std::to_string(t.tile_rows) + " rows, " + std::to_string(t.group) + " items, " +
         std::to_string(t.early_stages) + " stages";
}

class Comparison : public test::CpuAndDevice<CensusDetector, OpenClStages, OpenClSlot, CensusWorkspace> {
 public:
  using CpuAndDevice::CpuAndDevice;

  // Where the two first differ, with stages [first, last) on the device; "" where nowhere.
  std::string difference(PictureView frame, std::size_t first = kPyramid, std::size_t last = kGroup,
                         Partition partition = {}) {
    if (const auto over = run(frame, partition, kPyramid, kGroup + 1, first, last)) return *over;
    if (last > kScan) {
      if (const std::string found = difference_of_codes(); !found.empty()) return found;
    }
    return difference_of_results();
  }

 private:
  std::string difference_of_codes() {
    const std::vector<std::uint16_t> codes = stages().read_codes(slot());
    for (std::size_t l = 0; l < cpu().levels.size(); ++l) {
      const PixelLevel& level = cpu().levels[l];
      for (int cell = 1; cell <= detector().packed().most_cell(); ++cell) {
        for (int y = level.image_rows.begin; y <= level.image_rows.end - kCensusSide * cell; ++y) {
          for (int x = 0; x <= level.plan.size.width - kCensusSide * cell; ++x) {
            const int expected = census_code(level.image.view(), x, y, cell);
            const int got = codes[stages().code_at(slot(), l, x, y, cell)];
            if (got != expected)
              return "code of level " + std::to_string(l) + " at " + std::to_string(x) + ", " +
                     std::to_string(y) + " of cells of " + std::to_string(cell) + ": " +
                     std::to_string(expected) + " and " + std::to_string(got);
          }
        }
      }
    }
    return "";
  }
};

Options some_options(int border = 0, double threshold = -1e6) {
  Options options;
  options.scale_step = 1.3;
  options.border = border;
  options.threshold = options.window_threshold = threshold;
  return options;
}

class CensusOpenCl : public test::ExactDevicesTest {
 protected:
  const Model model_ = drawn_model(3, {{4, 9, 30, 7}, {24, 24}, 2});
};

TEST_F(CensusOpenCl, EveryFormFindsTheSame) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  const Image<std::uint8_t> other = make_picture({90, 75}, 6);
  for (const opencl::DeviceInfo& device : devices_) {
    for (const KernelTuning& tuning : kForms) {
      SCOPED_TRACE(text_of(tuning));
      for (const double threshold : {-1e6, 0.0, 10.0}) {
        Comparison comparison(device, model_, some_options(0, threshold), tuning);
        ASSERT_EQ(comparison.difference(picture.view()), "");
        EXPECT_GT(comparison.cpu().candidates.size(), 5U);
        ASSERT_EQ(comparison.difference(other.view()), "");
        ASSERT_EQ(comparison.difference(picture.view(), kScan), "");
        ASSERT_EQ(comparison.difference(picture.view(), kPyramid, kScan), "");
      }
    }
  }
}

// Sizes around those of windows, lines and tiles, with borders too; the order makes buffers grow and shrink.
TEST_F(CensusOpenCl, FindsTheSameOnAwkwardSizes) {
  for (const opencl::DeviceInfo& device : devices_) {
    for (const int border : {0, 5}) {
      Comparison comparison(device, model_, some_options(border), kForms[2]);
      for (const Size size :
           {Size{24, 24}, Size{25, 24}, Size{24, 31}, Size{87, 24}, Size{88, 40}, Size{89, 41}, Size{151, 25},
            Size{23, 90}, Size{129, 65}, Size{64, 64}, Size{33, 150}}) {
        SCOPED_TRACE(std::to_string(size.width) + "x" + std::to_string(size.height));
        const Image<std::uint8_t> picture = make_picture(size, 7);
        ASSERT_EQ(comparison.difference(picture.view()), "");
      }
    }
  }
}

TEST_F(CensusOpenCl, PartitionsFindTheSame) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  for (const opencl::DeviceInfo& device : devices_) {
    Comparison comparison(device, model_, some_options(), kForms[2]);
    test::expect_shares_fit_together(comparison, picture.view(), kPyramid, kGroup);
  }
}

TEST_F(CensusOpenCl, ASplitThatIsAskedForChangesNothing) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  for (const opencl::DeviceInfo& device : devices_) {
    Comparison comparison(device, model_, some_options(), kForms[2]);
    for (int tuned = 0; tuned <= 5; ++tuned) {
      comparison.device().tuned = tuned;
      ASSERT_EQ(comparison.difference(picture.view()), "") << tuned;
    }
  }
}

TEST_F(CensusOpenCl, ModelsWithoutCellsFindTheSame) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  const Model model = drawn_model(3, {{4, 9, 30, 7}, {24, 24}, 2, 1});
  for (const opencl::DeviceInfo& device : devices_) {
    for (const KernelTuning& tuning : {kForms[1], kForms[2]}) {
      Comparison comparison(device, model, some_options(), tuning);
      ASSERT_EQ(comparison.difference(picture.view()), "");
    }
  }
}

// Nothing is lost where a list is too short.
TEST_F(CensusOpenCl, ListsGrow) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  for (const opencl::DeviceInfo& device : devices_) {
    KernelTuning tuning = kForms[2];
    tuning.first_capacity = 3;
    Comparison comparison(device, model_, some_options(), tuning);
    ASSERT_EQ(comparison.difference(picture.view()), "");
    ASSERT_EQ(comparison.difference(picture.view(), kScan), "");
  }
}

TEST_F(CensusOpenCl, RefusesAVariantThatThereIsNot) {
  for (const opencl::DeviceInfo& device : devices_) {
    KernelTuning tuning;
    tuning.scan = "other";
    test::expect_error(ExitCode::usage, "other",
                       [&] { Comparison comparison(device, model_, some_options(), tuning); });
  }
}

// For the simulator that finds races and accesses out of bounds (tools/check-kernels).
using OpenClSmallCensus = test::ExactDevicesTest;
TEST_F(OpenClSmallCensus, EveryVariant) {
  const Image<std::uint8_t> picture = make_picture({41, 33}, 5);
  const Model model = drawn_model(4, {{2, 3, 6}, {12, 12}, 2});
  for (const KernelTuning& tuning : {kForms[0], kForms[3]}) {
    SCOPED_TRACE(text_of(tuning));
    Comparison comparison(devices_[0], model, some_options(), tuning);
    EXPECT_EQ(comparison.difference(picture.view()), "");
    EXPECT_GT(comparison.cpu().candidates.size(), 0U);
  }
}

}  // namespace
}  // namespace sightline::census
