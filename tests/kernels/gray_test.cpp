// Packed colour to luma: SIMD and OpenCL against the scalar reference, and the reference against hand-worked
// values.
#include "image/gray.hpp"

#include <vector>

#include "kernels/opencl_test.hpp"
#include "opencl/gray.hpp"

namespace sightline {
namespace {

using test::first_difference;
using test::GuardedImage;
using test::Numbers;

constexpr PackedFormat kFormats[] = {PackedFormat::rgb24, PackedFormat::bgr24, PackedFormat::rgba,
                                     PackedFormat::bgra};

KERNEL_TEST_SUITE(GrayKernel);

// Random pixels, `gap` bytes between rows and not a byte after the last, so that a sanitizer sees every read
// outside.
struct PackedPicture {
  PackedPicture(Size s, PackedFormat f, int gap)
      : size(s), format(f), stride(s.width * bytes_per_pixel(f) + gap), bytes(stride * s.height - gap) {
    Numbers numbers(static_cast<unsigned>(s.width));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(numbers(0, 255));
    // The largest sums too.
    for (std::size_t i = 0; i < bytes.size() && i < 16; ++i) bytes[i] = 255;
  }
  PackedView view() const { return {bytes.data(), size.width, size.height, stride, format}; }
  PackedView bottom_up() const {
    return {bytes.data() + static_cast<std::ptrdiff_t>(size.height - 1) * stride, size.width, size.height,
            -stride, format};
  }
  Size size;
  PackedFormat format;
  int stride;
  std::vector<std::uint8_t> bytes;
};

TEST(Gray, HandWorked) {
  // (770 + 3000 + 870 + 128) / 256 = 18.6, and with red and blue exchanged (2310 + 3000 + 290 + 128) / 256
  // = 22.4.
  const std::vector<std::uint8_t> pixel{10, 20, 30, 200};
  const int expected[] = {18, 22};
  for (const PackedFormat format : kFormats) {
    GuardedImage<std::uint8_t> luma({1, 1});
    to_gray_reference({pixel.data(), 1, 1, 4, format}, luma.view(), 0, 1);
    EXPECT_EQ(luma.view().at(0, 0), expected[red_byte(format) == 0 ? 0 : 1]);
  }
}

TEST(Gray, GreyStaysWhatItIs) {
  for (int value = 0; value < 256; ++value) {
    const std::vector<std::uint8_t> pixel(3, static_cast<std::uint8_t>(value));
    GuardedImage<std::uint8_t> luma({1, 1});
    to_gray_reference({pixel.data(), 1, 1, 3, PackedFormat::rgb24}, luma.view(), 0, 1);
    EXPECT_EQ(luma.view().at(0, 0), value);
  }
}

TEST_P(GrayKernel, EqualsReference) {
  for (const PackedFormat format : kFormats) {
    for (int width = 1; width <= 140; ++width) {
      const Size size{width, 3};
      const PackedPicture picture(size, format, width % 3);
      for (const PackedView view : {picture.view(), picture.bottom_up()}) {
        GuardedImage<std::uint8_t> found(size), expected(size);
        to_gray(view, found.view(), 0, 3);
        to_gray_reference(view, expected.view(), 0, 3);
        ASSERT_EQ(first_difference(found.view(), expected.view(), 0, 3), "") << "width " << width;
        ASSERT_TRUE(found.columns_untouched_outside(0, 3)) << "width " << width;
      }
    }
  }
}

TEST_P(GrayKernel, WritesItsRowsOnly) {
  const Size size{77, 6};
  const PackedPicture picture(size, PackedFormat::bgra, 5);
  GuardedImage<std::uint8_t> expected(size);
  to_gray_reference(picture.view(), expected.view(), 0, 6);
  for (int begin = 0; begin <= 6; ++begin) {
    for (int end = begin; end <= 6; ++end) {
      GuardedImage<std::uint8_t> found(size);
      to_gray(picture.view(), found.view(), begin, end);
      ASSERT_EQ(first_difference(found.view(), expected.view(), begin, end), "");
      ASSERT_TRUE(found.columns_untouched_outside(begin, end));
    }
  }
}

class OpenClGray : public test::ExactDevicesTest {
 protected:
  // Bytes before, between and after the rows must stay as they are, but for a row's padding to four.
  void compare(const opencl::DeviceInfo& device, PackedFormat format, const std::vector<Size>& sizes) {
    constexpr std::uint8_t kCanary = 0xA5;
    const opencl::Context& context = test::shared_context(device);
    const opencl::Program program = opencl::GrayKernels::build(context, nullptr);
    opencl::GrayKernels kernels(program);
    opencl::Queue queue(context);
    for (const Size size : sizes) {
      SCOPED_TRACE(device.name + ", " + std::to_string(size.width) + "x" + std::to_string(size.height));
      const PackedPicture picture(size, format, size.width % 3);
      const int padded = filterbank::round_up(size.width, 4);
      const opencl::GrayTarget place{64, padded + 3};
      std::vector<std::uint8_t> found(64 + static_cast<std::size_t>(place.stride) * size.height, kCanary);
      const opencl::Buffer packed(context, picture.bytes.size());
      const opencl::Buffer target(context, found.size());
      queue.write_now(packed, picture.bytes.data(), picture.bytes.size());
      queue.write_now(target, found.data(), found.size());
      kernels.enqueue(queue, format, packed, picture.stride, target, place, size);
      queue.wait(queue.read(target, found.data(), found.size()));

      std::vector<std::uint8_t> expected(found.size(), kCanary);
      const ImageView<std::uint8_t> luma(expected.data() + 64, size.width, size.height, place.stride);
      to_gray_reference(picture.view(), luma, 0, size.height);
      for (int y = 0; y < size.height; ++y) {
        for (int x = size.width; x < padded; ++x) luma.row(y)[x] = luma.at(size.width - 1, y);
      }
      EXPECT_EQ(found, expected);
    }
  }
};

TEST_F(OpenClGray, EqualsReference) {
  for (const opencl::DeviceInfo& device : devices_) {
    for (const PackedFormat format : kFormats) {
      compare(device, format, {{1, 1}, {2, 3}, {3, 5}, {4, 4}, {127, 9}, {128, 4}, {129, 1}, {301, 57}});
    }
  }
}

class OpenClSmallGray : public OpenClGray {};

TEST_F(OpenClSmallGray, ForASimulator) {
  for (const opencl::DeviceInfo& device : devices_) {
    for (const PackedFormat format : kFormats) compare(device, format, {{1, 1}, {131, 5}});
  }
}

}  // namespace
}  // namespace sightline
