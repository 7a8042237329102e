// The OpenCL kernel that halves the frame several times in one launch, against repeated exact 2x2 means.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/kernel_test.hpp"
#include "kernels/opencl_test.hpp"
#include "opencl/pyramids.hpp"

namespace sightline {
namespace {

using test::kCanary;
using test::Numbers;

// Octaves 0 (noise) .. `count` in one array as they lie on the device; those above 0 are canaries.
struct Octaves {
  Octaves(Size size, int count) {
    int end = 64;  // something before the first one, too
    for (int o = 0; o <= count; ++o) {
      const Size octave{size.width >> o, size.height >> o};
      const int stride = (octave.width + 63) / 64 * 64;
      places.push_back({end, stride, octave.width, octave.height});
      end += stride * octave.height + 64;
    }
    bytes.assign(end, kCanary);
    Numbers numbers(size.width * 1000U + size.height);
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) view(0).at(x, y) = static_cast<std::uint8_t>(numbers(0, 255));
    }
  }
  ImageView<std::uint8_t> view(std::size_t octave) {
    const opencl::Octave& p = places[octave];
    return {bytes.data() + p.offset, p.width, p.height, p.stride};
  }

  std::vector<opencl::Octave> places;
  std::vector<std::uint8_t> bytes;
};

class OpenClOctaves : public test::ExactDevicesTest {
 protected:
  // Compares all bytes: nothing but the octaves' own pixels may change.
  void compare(const std::vector<Size>& sizes, int count) {
    for (const opencl::DeviceInfo& device : devices_) {
      const opencl::Context& context = test::shared_context(device);
      const opencl::Program program = opencl::OctavePyramid::build(context, nullptr);
      opencl::Kernel halve(program, "halve");
      opencl::Queue queue(context);
      for (const Size size : sizes) {
        SCOPED_TRACE(std::to_string(size.width) + "x" + std::to_string(size.height) + ", " +
                     std::to_string(count) + " octaves, " + device.name);
        Octaves found(size, count);
        Octaves expected = found;
        for (int o = 1; o <= count; ++o) {
          halve_reference(expected.view(o - 1), expected.view(o), 0, expected.places[o].height);
        }
        const opencl::Buffer images(context, found.bytes.size());
        const opencl::Buffer table(context, opencl::bytes_of(found.places));
        queue.write_now(images, found.bytes.data(), found.bytes.size());
        queue.write_now(table, found.places.data(), opencl::bytes_of(found.places));
        int launches = 0;
        opencl::enqueue_octaves(queue, halve, images, table, found.places,
                                [&](const opencl::Event&) { ++launches; });
        queue.wait(queue.read(images, found.bytes.data(), found.bytes.size()));
        EXPECT_LE(launches, (count + 5) / 6);
        for (int o = 1; o <= count; ++o) {
          EXPECT_EQ(test::first_difference(expected.view(o), found.view(o), 0, expected.places[o].height), "")
              << "octave " << o;
        }
        EXPECT_EQ(expected.bytes, found.bytes) << "something outside the octaves was written";
      }
    }
  }
};

TEST_F(OpenClOctaves, AwkwardSizes) {
  for (const int count : {1, 2, 3, 6, 7, 13}) {
    compare({{1, 1},
             {2, 1},
             {1, 2},
             {2, 2},
             {3, 5},
             {63, 65},
             {64, 64},
             {65, 63},
             {127, 3},
             {5, 300},
             {301, 257}},
            count);
  }
}

TEST_F(OpenClOctaves, MoreThanOneLaunchMakes) {
  compare({{2309, 2081}, {4096, 130}}, 12);
}

TEST_F(OpenClOctaves, WithoutAnOctaveNothingIsLaunched) {
  compare({{70, 70}}, 0);
}

class OpenClSmallOctaves : public OpenClOctaves {};

TEST_F(OpenClSmallOctaves, ForASimulator) {
  compare({{1, 1}, {67, 35}, {130, 66}}, 7);
}

}  // namespace
}  // namespace sightline
