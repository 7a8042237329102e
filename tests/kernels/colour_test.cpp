// Pictures to planar RGB: SIMD and OpenCL against the scalar reference, and the reference against hand-worked
// values.
#include "image/colour.hpp"

#include <vector>

#include "kernels/opencl_test.hpp"
#include "opencl/colour_input.hpp"
#include "opencl/frame_input.hpp"

namespace sightline {
namespace {

using test::first_difference;
using test::GuardedImage;
using test::Numbers;

// How a picture is stored. The last two have their first pixel inside a sample of chroma.
struct Layout {
  const char* name;
  int step, shift_x, shift_y;
  int x = 0, y = 0;
  bool v_first = false, bottom_up = false;
};
constexpr Layout kLayouts[] = {{"4:2:0", 1, 1, 1},
                               {"4:2:0 bottom-up", 1, 1, 1, 0, 0, false, true},
                               {"4:2:2", 1, 1, 0},
                               {"4:4:4", 1, 0, 0},
                               {"4:1:0", 1, 2, 2},
                               {"nv12", 2, 1, 1},
                               {"nv21", 2, 1, 1, 0, 0, true},
                               {"nv24", 2, 0, 0},
                               {"part of 4:2:0", 1, 1, 1, 5, 3},
                               {"part of nv12", 2, 1, 1, 6, 1}};

// Random luma and chroma of a layout; no byte behind the last row, so that a sanitizer sees every read
// outside.
class YuvPicture {
 public:
  YuvPicture(Size size, const Layout& layout, bool bt709, bool full_range) : size_(size) {
    Numbers numbers(static_cast<unsigned>(7 * size.width + size.height));
    const auto fill = [&](std::vector<std::uint8_t>& bytes, int count) {
      bytes.resize(static_cast<std::size_t>(count));
      // Extreme samples, too, whose sums leave the range.
      for (std::uint8_t& byte : bytes)
        byte = static_cast<std::uint8_t>(numbers(0, 3) == 0 ? 255 * numbers(0, 1) : numbers(0, 255));
    };
    const int width = ((layout.x + size.width - 1) >> layout.shift_x) + 1;
    const int rows = ((layout.y + size.height - 1) >> layout.shift_y) + 1;
    const int row = width * layout.step;
    fill(luma_, size.width * size.height);
    fill(u_, row * rows);
    fill(v_, layout.step == 2 ? 0 : row * rows);
    chroma_ = {u_.data(),
               layout.step == 2 ? u_.data() + 1 : v_.data(),
               row,
               row,
               layout.step,
               layout.shift_x,
               layout.shift_y,
               layout.x,
               layout.y,
               yuv_weights(bt709, full_range)};
    if (layout.v_first) std::swap(chroma_.u, chroma_.v);
    if (layout.bottom_up) {
      chroma_.u += (rows - 1) * row;
      chroma_.v += (rows - 1) * row;
      chroma_.u_stride = chroma_.v_stride = -row;
    }
  }
  PictureView view() const {
    return {GrayView(luma_.data(), size_.width, size_.height, size_.width), chroma_};
  }

 private:
  Size size_;
  std::vector<std::uint8_t> luma_, u_, v_;
  ChromaView chroma_;
};

constexpr PackedFormat kPackedFormats[] = {PackedFormat::rgb24, PackedFormat::bgr24, PackedFormat::rgba,
                                           PackedFormat::bgra};

// Calls `test` with a picture of each kind.
template <typename Test>
void for_each_picture(Size size, const Test& test) {
  for (const Layout& layout : kLayouts) {
    for (const bool bt709 : {false, true}) {
      for (const bool full_range : {false, true}) {
        SCOPED_TRACE(layout.name);
        test(YuvPicture(size, layout, bt709, full_range).view());
      }
    }
  }
  Numbers numbers(3);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(4 * size.width) * size.height);
  for (std::uint8_t& byte : pixels) byte = static_cast<std::uint8_t>(numbers(0, 255));
  for (const PackedFormat format : kPackedFormats) {
    SCOPED_TRACE("packed");
    const int stride = size.width * bytes_per_pixel(format);
    test(PackedView{pixels.data(), size.width, size.height, stride, format});
  }
  SCOPED_TRACE("grey");
  test(GrayView(pixels.data(), size.width, size.height, size.width));
}

Size planar(Size size) {
  return {size.width, 3 * size.height};
}

class ColourKernel : public test::KernelTest {};
INSTANTIATE_TEST_SUITE_P(AllTargets, ColourKernel, ::testing::ValuesIn(test::instruction_sets()),
                         test::target_name);

TEST(Colour, HandWorked) {
  const auto rgb_of = [](const PictureView& picture) {
    Image<std::uint8_t> rgb(1, 3);
    to_planar_rgb_reference(picture, rgb.view(), 0, 1);
    std::vector<int> planes;
    for (int c = 0; c < 3; ++c) planes.push_back(colour_plane(std::as_const(rgb).view(), c).at(0, 0));
    return planes;
  };
  using Rgb = std::vector<int>;
  const auto yuv = [&](std::uint8_t y, std::uint8_t u, std::uint8_t v, bool bt709, bool full_range) {
    ChromaView chroma;
    chroma.u = &u;
    chroma.v = &v;
    chroma.weights = yuv_weights(bt709, full_range);
    return rgb_of({GrayView(&y, 1, 1, 1), chroma});
  };
  // Black, white and red of BT.601 and BT.709 in limited range, and red in full range.
  EXPECT_EQ(yuv(16, 128, 128, false, false), (Rgb{0, 0, 0}));
  EXPECT_EQ(yuv(235, 128, 128, true, false), (Rgb{255, 255, 255}));
  EXPECT_EQ(yuv(81, 90, 240, false, false), (Rgb{254, 0, 0}));
  EXPECT_EQ(yuv(63, 102, 240, true, false), (Rgb{255, 1, 0}));
  EXPECT_EQ(yuv(76, 85, 255, false, true), (Rgb{254, 0, 0}));
  for (int grey = 0; grey < 256; ++grey) {
    const auto y = static_cast<std::uint8_t>(grey);
    EXPECT_EQ(yuv(y, 128, 128, false, true), (Rgb{grey, grey, grey}));
    EXPECT_EQ(rgb_of(GrayView(&y, 1, 1, 1)), (Rgb{grey, grey, grey}));
  }
  const std::uint8_t pixel[] = {1, 2, 3, 4};
  EXPECT_EQ(rgb_of(PackedView{pixel, 1, 1, 4, PackedFormat::rgba}), (Rgb{1, 2, 3}));
  EXPECT_EQ(rgb_of(PackedView{pixel, 1, 1, 3, PackedFormat::bgr24}), (Rgb{3, 2, 1}));
}

TEST_P(ColourKernel, EqualsReference) {
  for (const int width : {1, 2, 3, 15, 16, 17, 31, 33, 63, 64, 65, 127, 130, 511, 513, 1030}) {
    const Size size{width, 5};
    SCOPED_TRACE(width);
    for_each_picture(size, [&](const PictureView& picture) {
      GuardedImage<std::uint8_t> found(planar(size)), expected(planar(size));
      to_planar_rgb(picture, found.view(), 0, 5);
      to_planar_rgb_reference(picture, expected.view(), 0, 5);
      ASSERT_EQ(first_difference(found.view(), expected.view(), 0, 15), "");
      ASSERT_TRUE(found.columns_untouched_outside(0, 15));
    });
  }
}

TEST_P(ColourKernel, WritesItsRowsOnly) {
  const Size size{77, 6};
  for_each_picture(size, [&](const PictureView& picture) {
    Image<std::uint8_t> found(size.width, 3 * size.height), expected(size.width, 3 * size.height);
    to_planar_rgb_reference(picture, expected.view(), 0, 6);
    for (int y = 0; y < 3 * size.height; ++y)
      std::memset(found.view().row(y), test::kCanary, static_cast<std::size_t>(size.width));
    to_planar_rgb(picture, found.view(), 1, 4);
    for (int y = 0; y < 3 * size.height; ++y) {
      const bool is_written = y % 6 >= 1 && y % 6 < 4;
      for (int x = 0; x < size.width; ++x)
        ASSERT_EQ(found.view().at(x, y), is_written ? expected.view().at(x, y) : test::kCanary)
            << x << ' ' << y;
    }
  });
}

class OpenClColour : public test::ExactDevicesTest {
 protected:
  // One object for all pictures: buffers grow, and none is taken for another's.
  void compare(const std::vector<Size>& sizes) {
    for (const opencl::DeviceInfo& info : devices_) {
      for (const opencl::BufferUse buffers : {opencl::BufferUse::mapped, opencl::BufferUse::copied}) {
        const opencl::Context context(opencl::ChosenDevice{info, 0, "", {}, buffers});
        const opencl::Program gray = opencl::GrayKernels::build(context, nullptr);
        const opencl::Program colour = opencl::ColourInput::build(context, nullptr);
        opencl::FrameInput input(gray);
        opencl::ColourInput colour_input(colour);
        opencl::Queue queue(context);
        for (const Size size : sizes) {
          SCOPED_TRACE(info.name + ", " + std::to_string(size.width) + "x" + std::to_string(size.height));
          for_each_picture(size,
                           [&](const PictureView& picture) { compare(picture, queue, input, colour_input); });
        }
      }
    }
  }

 private:
  static void compare(const PictureView& picture, opencl::Queue& queue, opencl::FrameInput& input,
                      opencl::ColourInput& colour) {
    const Size size = picture.size();
    const int stride = (size.width + 63) / 64 * 64;
    const opencl::Buffer luma(queue.context(), static_cast<std::size_t>(stride) * size.height);
    Image<std::uint8_t> expected(size.width, 3 * size.height);
    to_planar_rgb_reference(picture, expected.view(), 0, size.height);
    for (const bool is_filled : {true, false}) {
      input.prepare(queue, picture, stride);
      colour.prepare(queue, picture, stride);
      if (is_filled) {
        input.fill(queue.context(), picture, stride);
        colour.fill(queue.context(), picture);
      }
      input.upload(queue, picture, luma, stride);
      colour.upload(queue, picture);
      colour.convert(queue, picture, picture.is_gray() ? luma : input.packed(), stride);
      std::vector<std::uint8_t> bytes(opencl::ColourInput::bytes_of(size, stride));
      queue.wait(queue.read(colour.rgb(), bytes.data(), bytes.size()));
      const GrayView found(bytes.data(), size.width, 3 * size.height, stride);
      ASSERT_EQ(first_difference(found, std::as_const(expected).view(), 0, 3 * size.height), "");
    }
  }
};

TEST_F(OpenClColour, EqualsReference) {
  compare({{1, 1}, {2, 3}, {3, 5}, {4, 4}, {127, 9}, {128, 4}, {129, 1}, {301, 57}, {65, 2}});
}

class OpenClSmallColour : public OpenClColour {};

TEST_F(OpenClSmallColour, ForASimulator) {
  compare({{1, 1}, {131, 5}});
}

}  // namespace
}  // namespace sightline
