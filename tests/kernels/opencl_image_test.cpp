// Pyramids and integral images on OpenCL devices against the scalar references, without a detector around
// them. Canaries around what is made show that nothing else is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "image/integral.hpp"
#include "kernels/kernel_test.hpp"
#include "kernels/opencl_test.hpp"
#include "opencl/integrals.hpp"
#include "opencl/pyramids.hpp"

namespace sightline {
namespace {

using opencl::ImageRows;
using test::kCanary;
using test::Pattern;

const auto kNoEvent = [](const opencl::Event&) {};

// Rows of each level: all, none, the first ones, the last ones, some between.
std::vector<ImageRows> rows_of(std::span<const Size> sizes) {
  std::vector<ImageRows> rows;
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    const int height = sizes[l].height;
    const ImageRows kinds[] = {
        {0, height}, {0, 0}, {0, height / 2}, {height / 2, height}, {height / 3, height / 2}};
    rows.push_back(kinds[l % std::size(kinds)]);
  }
  return rows;
}

class OpenClImages : public test::ExactDevicesTest {
 protected:
  void on_every_device(const auto& work) {
    for (const opencl::DeviceInfo& device : devices_) {
      SCOPED_TRACE(device.name);
      const opencl::Context& context = test::shared_context(device);
      opencl::Queue queue(context);
      work(context, queue);
    }
  }
  static std::unique_ptr<opencl::Buffer> on_device(opencl::Queue& queue, const auto& values) {
    auto buffer = std::make_unique<opencl::Buffer>(queue.context(), opencl::bytes_of(values));
    queue.write_now(*buffer, values.data(), opencl::bytes_of(values));
    return buffer;
  }
};

TEST_F(OpenClImages, ResampledPyramid) {
  const Size frame{131, 77};
  const PaddedImage image = test::padded_image(frame, Pattern::noise, 1);
  const std::vector<Size> sizes{frame, {130, 76}, {119, 70}, {64, 40}, {33, 17}, {12, 7}, {1, 1}};
  const std::vector<ImageRows> rows = rows_of(sizes);
  constexpr int kStride = 192;
  std::vector<std::uint8_t> source(static_cast<std::size_t>(kStride) * frame.height, 0);
  for (int y = 0; y < frame.height; ++y)
    std::copy_n(image.view().row(y), frame.width, source.data() + std::ptrdiff_t{y} * kStride);
  std::vector<SamplePlan> plans;
  for (const Size& size : sizes) plans.emplace_back(frame, size);
  std::vector<opencl::ResampledPyramid::Level> levels;
  std::int64_t end = 64;
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    levels.push_back({&plans[l], sizes[l], end, (sizes[l].width + 63) / 64 * 64});
    end += std::int64_t{levels[l].stride} * sizes[l].height + 64;
  }
  std::vector<std::uint8_t> expected(static_cast<std::size_t>(end), kCanary);
  const auto view = [&](std::vector<std::uint8_t>& images, std::size_t l) {
    return ImageView<std::uint8_t>(images.data() + levels[l].first_pixel, sizes[l].width, sizes[l].height,
                                   levels[l].stride);
  };
  for (std::size_t l = 0; l < sizes.size(); ++l)
    resample_rows_reference(image.view(), plans[l].columns, plans[l].rows, rows[l].begin, rows[l].end,
                            view(expected, l));
  on_every_device([&](const opencl::Context& context, opencl::Queue& queue) {
    const opencl::Program program = opencl::ResampledPyramid::build(context, nullptr);
    opencl::ResampledPyramid pyramid(program);
    pyramid.plan(queue, levels);
    pyramid.plan_rows(queue, rows);
    std::vector<std::uint8_t> found(expected.size(), kCanary);
    const auto images = on_device(queue, found);
    const auto frame_buffer = on_device(queue, source);
    pyramid.enqueue(queue, *frame_buffer, kStride, *images, kNoEvent);
    queue.wait(queue.read(*images, found.data(), found.size()));
    for (std::size_t l = 0; l < sizes.size(); ++l) {
      EXPECT_EQ(test::first_difference(view(expected, l), view(found, l), 0, sizes[l].height), "") << l;
      for (int y = 0; y < sizes[l].height; ++y)  // rows are written up to their stride
        std::fill_n(view(found, l).row(y) + sizes[l].width, levels[l].stride - sizes[l].width, kCanary);
    }
    EXPECT_EQ(expected, found) << "something outside the images was written";
  });
}

TEST_F(OpenClImages, OctavePyramid) {
  const Size frame{131, 77};
  const PaddedImage image = test::padded_image(frame, Pattern::noise, 2);
  const std::vector<Size> octaves{frame, {65, 38}, {32, 19}};
  std::vector<Image<std::uint8_t>> halved(octaves.size());
  halved[0].resize(frame.width, frame.height);
  for (int y = 0; y < frame.height; ++y)
    std::copy_n(image.view().row(y), frame.width, halved[0].view().row(y));
  for (std::size_t o = 1; o < octaves.size(); ++o) {
    halved[o].resize(octaves[o].width, octaves[o].height);
    halve_reference(halved[o - 1].view(), halved[o].view(), 0, octaves[o].height);
  }
  const std::vector<PyramidLevel> plan = plan_pyramid(frame, {16, 8}, {.first_scale = 0.7, .step = 1.3});
  ASSERT_GT(plan.size(), 6U);
  std::vector<Resizer> resizers;
  std::vector<Size> sizes;
  for (const PyramidLevel& level : plan) {
    const auto octave = std::min<std::size_t>(level.octave, 2);
    resizers.emplace_back(octaves[octave], level.size, level.scale / static_cast<double>(1 << octave));
    sizes.push_back(level.size);
  }
  const std::vector<ImageRows> rows = rows_of(sizes);
  std::vector<opencl::OctavePyramid::Level> levels;
  std::int64_t bytes = 0;
  for (std::size_t l = 0; l < plan.size(); ++l) {
    levels.push_back({l == 5 ? nullptr : &resizers[l], std::min(plan[l].octave, 2), sizes[l],
                      bytes + PaddedImage::first_pixel(sizes[l].width),
                      static_cast<int>(PaddedImage::stride_for(sizes[l].width))});
    bytes += PaddedImage::bytes_for(sizes[l]);
  }
  on_every_device([&](const opencl::Context& context, opencl::Queue& queue) {
    const opencl::Program program = opencl::OctavePyramid::build(context, nullptr);
    opencl::OctavePyramid pyramid(program);
    pyramid.plan(queue, octaves, levels);
    pyramid.plan_rows(queue, rows);
    ASSERT_GE(pyramid.frame_stride(), frame.width);
    std::vector<std::uint8_t> octave_pixels(static_cast<std::size_t>(pyramid.octave_bytes()), 0);
    for (int y = 0; y < frame.height; ++y)
      std::copy_n(image.view().row(y), frame.width,
                  octave_pixels.data() + std::ptrdiff_t{y} * pyramid.frame_stride());
    std::vector<std::uint8_t> found(static_cast<std::size_t>(bytes) + 64, kCanary);
    const auto images = on_device(queue, found);
    const auto octave_buffer = on_device(queue, octave_pixels);
    pyramid.enqueue(queue, *octave_buffer, *images, kNoEvent);
    queue.wait(queue.read(*images, found.data(), found.size()));
    for (std::size_t l = 0; l < plan.size(); ++l) {
      PaddedImage expected, got;
      expected.resize(sizes[l]);
      got.bind(found.data() + levels[l].first_pixel - PaddedImage::first_pixel(sizes[l].width), sizes[l]);
      if (l == 5) {
        EXPECT_EQ(got.view().at(0, 0), kCanary) << "a level was made that is none of this pyramid's";
        continue;
      }
      resizers[l].run_reference(halved[static_cast<std::size_t>(levels[l].octave)].view(), expected.view(), 0,
                                sizes[l].height);
      expected.fill_border(0, sizes[l].height);
      // With the border beside the rows, and above and below the image where the rows touch it.
      const int begin = rows[l].begin == 0 ? -1 : rows[l].begin;
      const int end = rows[l].end == sizes[l].height ? sizes[l].height + 1 : rows[l].end;
      for (int y = begin; rows[l].begin < rows[l].end && y < end; ++y) {
        for (int x = -1; x <= sizes[l].width; ++x)
          ASSERT_EQ(got.view().at(x, y), expected.view().at(x, y))
              << "level " << l << " at " << x << ", " << y;
      }
    }
  });
}

template <typename Sum>
std::string sheet_difference(const IntegralSheet& sheet, std::span<const SheetLevel> levels,
                             std::span<const ImageRows> rows, const std::vector<std::byte>& expected,
                             const std::vector<std::byte>& found) {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    for (int plane = 0; plane < sheet.planes; ++plane) {
      const IntegralPlane e(sheet, levels[l], reinterpret_cast<const Sum*>(expected.data()), plane);
      const IntegralPlane f(sheet, levels[l], reinterpret_cast<const Sum*>(found.data()), plane);
      for (int y = rows[l].begin; rows[l].begin < rows[l].end && y <= rows[l].end; ++y) {
        for (int x = 0; x <= levels[l].size.width; ++x) {
          if (e.at(x, y) != f.at(x, y))
            return "plane " + std::to_string(plane) + " of level " + std::to_string(l) + " at " +
                   std::to_string(x) + ", " + std::to_string(y);
        }
      }
    }
  }
  return "";
}

TEST_F(OpenClImages, Integrals) {
  const std::vector<Size> sizes{{131, 77}, {119, 70}, {64, 40}, {65, 17}, {513, 9}, {63, 33}, {1, 1}};
  const std::vector<ImageRows> rows = rows_of(sizes);
  for (const SheetContents contents :
       {SheetContents{.planes = 1}, {.planes = 1, .element_bytes = 2}, {.planes = 2}, {.planes = 3}}) {
    std::vector<SheetLevel> levels;
    for (std::size_t l = 0; l < sizes.size(); ++l)
      levels.push_back({.size = sizes[l], .step = l < 4 ? 2 : 1});
    const IntegralSheet sheet = plan_sheet(levels, contents);
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(sheet.image_bytes) + 64);
    test::Numbers numbers(3);
    for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(numbers(0, 255));
    std::vector<std::byte> expected(static_cast<std::size_t>(sheet.integral_bytes()) + 256);
    for (std::size_t l = 0; l < sizes.size(); ++l) {
      const GrayView image(pixels.data() + levels[l].image, sizes[l].width, sizes[l].height,
                           levels[l].image_stride);
      for (int plane = 0; plane < contents.planes && rows[l].begin < rows[l].end; ++plane)
        integrate_reference(image, sheet, levels[l], plane, rows[l].begin, rows[l].end, expected.data());
    }
    on_every_device([&](const opencl::Context& context, opencl::Queue& queue) {
      const opencl::IntegralProgram program(context, contents, nullptr);
      opencl::Integrals integrals(program);
      integrals.plan(queue, sheet, levels);
      integrals.plan_rows(queue, rows);
      integrals.make_scratch(context);
      std::vector<std::byte> found(expected.size());
      const auto sums = on_device(queue, found);
      const auto pixel_buffer = on_device(queue, pixels);
      integrals.enqueue(queue, *pixel_buffer, *sums, kNoEvent);
      queue.wait(queue.read(*sums, found.data(), found.size()));
      EXPECT_EQ(contents.element_bytes == 2
                    ? sheet_difference<std::uint16_t>(sheet, levels, rows, expected, found)
                    : sheet_difference<std::uint32_t>(sheet, levels, rows, expected, found),
                "")
          << contents.planes << " planes of " << contents.element_bytes << " bytes";
    });
  }
}

}  // namespace
}  // namespace sightline
