// Crops, histograms and templates of faces on devices, against the CPU's, bit for bit.
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "faces/recognition/opencl/describer.hpp"
#include "kernels/opencl_test.hpp"
#include "support/recognition.hpp"

namespace sightline::recognition {
namespace {

using test::Numbers;
using test::Pattern;

class OpenClRecognition : public test::ExactDevicesTest {};
/// On crops so small that a simulator gets through them, see tools/check-kernels.
using OpenClSmallRecognition = OpenClRecognition;

Projection random_projection(int dims, int values) {
  Numbers numbers(static_cast<unsigned>(dims));
  return test::made_up_projection(dims, values, numbers);
}

// In every octave, inside and beyond the edges of a frame.
std::vector<Similarity> similarities() {
  std::vector<Similarity> result;
  for (const double side : {40.0, 130.0, 260.0, 700.0}) {
    for (const double at : {-30.0, 20.0}) result.push_back(similarity_of(Box{at, 10, side, side}));
  }
  const std::array<Point, 2> turned{{{60, 100}, {50, 40}}};
  result.push_back(similarity_of(turned));
  return result;
}

template <typename T>
std::vector<T> read(opencl::Queue& queue, const opencl::Buffer& buffer, std::size_t count) {
  std::vector<T> values(count);
  queue.wait(queue.read(buffer, values.data(), count * sizeof(T)));
  return values;
}

// Runs faces of a frame with one object for several frames, the first of which has fewer faces.
void compare(const opencl::DeviceInfo& device, const FaceDescriptor& descriptor, const Projector* projector) {
  const opencl::Context& context = test::shared_context(device);
  const OpenClDescriber describer(descriptor, projector, context, nullptr);
  DescribedFaces described(describer);
  opencl::Queue queue(context);
  Cropper cropper;
  FaceDescriptor::Scratch scratch;
  Projector::Scratch projector_scratch;
  const Size crop_size = descriptor.crop_size();
  const auto values = static_cast<std::size_t>(descriptor.values());
  for (const Size size : {Size{83, 61}, Size{200, 180}}) {
    const Image<std::uint8_t> frame = filterbank::picture(size, Pattern::noise);
    const auto bytes = static_cast<std::size_t>(frame.stride()) * static_cast<std::size_t>(size.height);
    const opencl::Buffer luma(context, bytes);
    queue.write_now(luma, frame.view().data(), bytes);
    std::vector<Similarity> faces = similarities();
    if (size.width < 100) faces.resize(1);
    std::vector<std::string> parts;
    described.enqueue(queue, {&luma, static_cast<int>(frame.stride()), size}, faces,
                      [&](std::string_view part, const opencl::Event&) {
                        if (parts.empty() || parts.back() != part) parts.emplace_back(part);
                      });
    EXPECT_EQ(parts.size(), projector ? 3U : 2U);
    const std::size_t pixels = static_cast<std::size_t>(crop_size.width * crop_size.height);
    const auto crops = read<std::uint8_t>(queue, described.crops(), faces.size() * pixels);
    const auto counts = read<std::uint16_t>(queue, described.counts(), faces.size() * values);
    const auto stride = static_cast<std::size_t>(described.template_stride());
    const auto templates = read<std::int8_t>(queue, described.templates(), faces.size() * stride);
    for (std::size_t face = 0; face < faces.size(); ++face) {
      SCOPED_TRACE("face " + std::to_string(face));
      Image<std::uint8_t> crop(crop_size.width, crop_size.height);
      cropper.crop(frame.view(), faces[face], crop.view());
      const GrayView found(crops.data() + face * pixels, crop_size.width, crop_size.height, crop_size.width);
      EXPECT_EQ(test::first_difference(std::as_const(crop).view(), found, 0, crop_size.height), "");
      std::vector<std::uint16_t> expected(values);
      descriptor.count(std::as_const(crop).view(), scratch, expected.data());
      EXPECT_EQ(test::first_difference(expected.data(), counts.data() + face * values, values), "");
      std::vector<std::int8_t> made(stride);
      if (projector) {
        projector->project(expected.data(), projector_scratch, made.data());
      } else {
        for (std::size_t i = 0; i < values; ++i)
          made[i] = static_cast<std::int8_t>(std::min<int>(expected[i], 255));
      }
      EXPECT_EQ(test::first_difference(made.data(), templates.data() + face * stride, stride), "");
    }
  }
}

TEST_F(OpenClRecognition, LearnedTemplatesAreTheCpus) {
  const FaceDescriptor descriptor(
      {{{1, 0}, {{{8, 2}}, LbpMapping::uniform, kCropSize, 2, {18, 20}, {9, 9}}},
       {{2, 4}, {{{8, 3}}, LbpMapping::uniform, kCropSize, 3, {16, 18}, {9, 9}}}});
  const Projector projector(random_projection(70, descriptor.values()));
  for (const opencl::DeviceInfo& device : devices_) compare(device, descriptor, &projector);
}

TEST_F(OpenClRecognition, PlainTemplatesAreTheCpus) {
  const FaceDescriptor descriptor(
      {{{2, 4}, {{{8, 2}}, LbpMapping::uniform, kCropSize, 5, {10, 10}, {10, 10}}}});
  for (const opencl::DeviceInfo& device : devices_) compare(device, descriptor, nullptr);
}

// All kinds of circles and mappings, crops of other sizes, and channels with nothing done to them.
TEST_F(OpenClRecognition, EveryMappingIsTheCpus) {
  const Size crop{31, 27};
  const FaceDescriptor descriptor(
      {{{0, 0}, {{{8, 1}, {16, 2}, {24, 2.5}}, LbpMapping::uniform, crop, 3, {5, 7}, {5, 7}}},
       {{0, 2, true}, {{{24, 3}}, LbpMapping::rotation_uniform, crop, 3, {25, 21}, {25, 21}}},
       {{4, 0}, {{{8, 2}}, LbpMapping::plain, crop, 4, {23, 9}, {23, 4}}},
       {{3, 4, true}, {{{8, 2}, {16, 1}}, LbpMapping::rotation, crop, 2, {8, 9}, {8, 7}}, false}});
  for (const opencl::DeviceInfo& device : devices_) compare(device, descriptor, nullptr);
}

// No channel has a mirror image.
TEST_F(OpenClRecognition, SidesKeptApartAreTheCpus) {
  const FaceDescriptor descriptor(
      {{{3, 4, true}, {{{8, 3}}, LbpMapping::uniform, kCropSize, 5, {8, 8}, {8, 8}}, false}});
  for (const opencl::DeviceInfo& device : devices_) compare(device, descriptor, nullptr);
}

TEST_F(OpenClSmallRecognition, TemplatesAreTheCpus) {
  const Size crop{20, 18};
  const FaceDescriptor descriptor(
      {{{1, 0}, {{{8, 2}}, LbpMapping::uniform, crop, 2, {10, 8}, {6, 6}}},
       {{2, 4, true}, {{{16, 1}}, LbpMapping::uniform, crop, 1, {18, 16}, {18, 16}}}});
  const Projector projector(random_projection(5, descriptor.values()));
  for (const opencl::DeviceInfo& device : devices_) compare(device, descriptor, &projector);
}

TEST_F(OpenClRecognition, AProjectionOfOtherValuesIsRefused) {
  const FaceDescriptor descriptor({Channel{}});
  const Projector projector(random_projection(3, 5));
  const opencl::Context& context = test::shared_context(devices_[0]);
  EXPECT_THROW(OpenClDescriber(descriptor, &projector, context, nullptr), Error);
}

}  // namespace
}  // namespace sightline::recognition
