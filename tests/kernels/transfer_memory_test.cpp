// Memory from which frames go to a device as they are.
#include "opencl/transfer_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "image/view.hpp"
#include "kernels/opencl_test.hpp"
#include "opencl/frame_input.hpp"

namespace sightline::opencl {
namespace {

using test::Pattern;
using test::Picture;

class TransferMemoryOf : public test::ExactDevicesTest {
 protected:
  static ChosenDevice copied(const DeviceInfo& device) {
    ChosenDevice chosen{device, 0, ""};
    chosen.buffers = BufferUse::copied;
    return chosen;
  }
};

TEST_F(TransferMemoryOf, ContextsThatMapBuffersHaveNone) {
  for (const DeviceInfo& device : devices_) {
    ChosenDevice chosen{device, 0, ""};
    chosen.buffers = BufferUse::mapped;
    EXPECT_EQ(Context(chosen).transfer_memory(), nullptr);
  }
}

TEST_F(TransferMemoryOf, KnowsItsPieces) {
  for (const DeviceInfo& device : devices_) {
    const Context context(copied(device));
    TransferMemory& memory = *context.transfer_memory();
    std::shared_ptr<std::byte> first = memory.allocate(1000);
    const std::shared_ptr<std::byte> second = memory.allocate(300);
    ASSERT_TRUE(first && second);
    std::memset(first.get(), 7, 1000);
    EXPECT_TRUE(memory.holds(first.get(), 1000));
    EXPECT_TRUE(memory.holds(first.get() + 900, 100));
    EXPECT_FALSE(memory.holds(first.get() + 900, 101));
    EXPECT_TRUE(memory.holds(second.get(), 300));
    const int other = 0;
    EXPECT_FALSE(memory.holds(&other, sizeof other));
    const std::byte* const gone = first.get();
    first.reset();
    EXPECT_FALSE(memory.holds(gone, 1));
    EXPECT_TRUE(memory.holds(second.get(), 300));
  }
}

// Frames from there, of another stride, and from any other memory, through one input.
TEST_F(TransferMemoryOf, FramesArriveFromWhereverTheyAre) {
  using Pixels = Image<std::uint8_t>;
  for (const DeviceInfo& device : devices_) {
    const Context context(copied(device));
    Queue queue(context);
    FrameInput input;
    for (const Size size : {Size{1, 1}, Size{63, 5}, Size{130, 37}, Size{2113, 2003}}) {
      const Picture picture(size, Pattern::noise);
      const auto own_stride = static_cast<int>(Pixels::stride_of(size.width));
      const std::shared_ptr<std::byte> memory =
          context.transfer_memory()->allocate(2 * Pixels::elements_of({size.width + 64, size.height}));
      ASSERT_TRUE(memory);
      for (const int stride : {own_stride, own_stride + 64, 0}) {
        SCOPED_TRACE(device.name + ", " + std::to_string(size.width) + ", stride " + std::to_string(stride));
        Pixels pixels;
        stride > 0 ? pixels.bind(reinterpret_cast<std::uint8_t*>(memory.get()), size, stride)
                   : pixels.resize(size.width, size.height);
        for (int y = 0; y < size.height; ++y) {
          std::memcpy(pixels.view().row(y), picture.view().row(y), static_cast<std::size_t>(size.width));
        }
        const PictureView frame = pixels.view();
        const auto bytes = static_cast<std::size_t>(own_stride) * static_cast<std::size_t>(size.height);
        const Buffer luma(context, bytes);
        for (const bool is_filled : {true, false}) {
          input.prepare(queue, frame, own_stride);
          if (is_filled) input.fill(context, frame, own_stride);
          queue.wait(input.upload(queue, frame, luma, own_stride));
          std::vector<std::uint8_t> arrived(bytes);
          queue.wait(queue.read(luma, arrived.data(), bytes));
          for (int y = 0; y < size.height; ++y) {
            ASSERT_EQ(std::memcmp(arrived.data() + static_cast<std::size_t>(y) * own_stride,
                                  picture.view().row(y), static_cast<std::size_t>(size.width)),
                      0)
                << "row " << y;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sightline::opencl
