// The counting of patterns on OpenCL devices: every variant leaves what the definition does.
#include <string>
#include <vector>

#include "base/error.hpp"
#include "frame/frame_result.hpp"
#include "kernels/opencl_test.hpp"
#include "processing/frame_runner.hpp"
#include "support/texture.hpp"
#include "texture/opencl/stages.hpp"
#include "texture/reference.hpp"

namespace sightline::texture {
namespace {

using sightline::test::Pattern;
using sightline::test::Picture;

KernelTuning form_of(const char* histogram, const char* pixels, int group, int rows, int copies,
                     int groups_a_unit) {
  return {histogram, pixels, group, rows, copies, groups_a_unit};
}

const KernelTuning kForms[] = {
    form_of("global", "word", 64, 3, 1, 2),   form_of("local", "vector", 16, 1, 1, 1),
    form_of("local", "word", 48, 8, 1, 4),    form_of("mapreduce", "word", 32, 5, 1, 3),
    form_of("banked", "word", 64, 4, 32, 1),  form_of("banked", "vector", 24, 2, 4, 2),
    form_of("serial", "vector", 1, 32, 1, 4), form_of("serial", "word", 1, 7, 1, 1),
};

class TextureOpenCl : public sightline::test::ExactDevicesTest {
 protected:
  // Every frame through one slot.
  void compare(const opencl::DeviceInfo& device, const TextureSettings& settings, const KernelTuning& form,
               const std::vector<Size>& sizes) {
    SCOPED_TRACE(device.name + ", " + test::name_of(settings) + ": " + form.histogram + " " + form.pixels);
    const TextureProcessor processor(settings);
    const opencl::Context& context = sightline::test::shared_context(device);
    const TextureStages stages(processor, context, nullptr, form);
    FrameRunner runner(processor, &stages, stages.supported());
    for (const Size size : sizes) {
      for (const Pattern pattern : {Pattern::noise, Pattern::flat_areas}) {
        const int border = 2 * settings.reach();
        const Picture picture({size.width + border, size.height + border}, pattern);
        const FrameResult result = runner.process(picture.view());
        TextureOutput expected;
        count_by_definition(settings, picture.view(), expected);
        EXPECT_EQ(result.output->difference(expected), "") << size.width << "x" << size.height;
      }
    }
  }
};

TEST_F(TextureOpenCl, EverySettingIsTheDefinition) {
  for (const opencl::DeviceInfo& device : devices_) {
    for (const TextureSettings& settings : test::many_settings())
      compare(device, settings, tuning_table().defaults(device), {{1, 1}, {5, 3}, {67, 41}, {16, 9}});
  }
}

TEST_F(TextureOpenCl, EveryFormIsTheDefinition) {
  const TextureSettings grid{{LbpOperator()}, LbpMapping::plain, false, 0, true};
  const TextureSettings near{{LbpOperator(8, 1)}, LbpMapping::uniform};
  const TextureSettings circles{{LbpOperator(8, 1), LbpOperator(16, 2), LbpOperator(24, 5)},
                                LbpMapping::rotation_uniform};
  for (const opencl::DeviceInfo& device : devices_) {
    for (const KernelTuning& form : kForms) {
      compare(device, grid, form, {{3, 2}, {130, 37}});
      compare(device, near, form, {{1, 9}, {4, 3}, {133, 41}});
    }
    // What they differ in is not the histogram.
    for (const char* pixels : {"word", "vector"})
      compare(device, circles, form_of("local", pixels, 16, 6, 1, 2), {{4, 1}, {61, 30}});
  }
}

/// On frames so small that a simulator gets through them, see tools/check-kernels.
using TextureOpenClSmall = TextureOpenCl;
TEST_F(TextureOpenClSmall, FormsOfAGpuAreTheDefinition) {
  for (const opencl::DeviceInfo& device : devices_) {
    for (const KernelTuning& form :
         {form_of("banked", "word", 32, 4, 8, 1), form_of("mapreduce", "word", 16, 2, 1, 1)})
      compare(device, {{LbpOperator(), LbpOperator(8, 2)}, LbpMapping::uniform, true, 8}, form, {{21, 10}});
  }
}

// Frames so large that they go to the device in parts.
TEST_F(TextureOpenCl, LargeFramesAreTheDefinition) {
  for (const opencl::DeviceInfo& device : devices_) {
    const TextureProcessor processor({{LbpOperator()}, LbpMapping::uniform});
    opencl::ChosenDevice chosen{device, 0, ""};
    chosen.buffers = opencl::BufferUse::copied;
    const opencl::Context context(chosen);
    const TextureStages stages(processor, context, nullptr, tuning_table().defaults(device));
    const Picture picture({2113, 2003}, Pattern::noise);
    const FrameResult result = FrameRunner(processor, &stages, stages.supported()).process(picture.view());
    TextureOutput expected;
    count_by_definition(processor.settings(), picture.view(), expected);
    EXPECT_EQ(result.output->difference(expected), "");
  }
}

TEST_F(TextureOpenCl, VariantsThatDoNotExistAreRefused) {
  for (const opencl::DeviceInfo& device : devices_) {
    const TextureProcessor processor({{LbpOperator()}, LbpMapping::plain});
    const opencl::Context& context = sightline::test::shared_context(device);
    EXPECT_THROW(TextureStages(processor, context, nullptr, form_of("fast", "word", 1, 1, 1, 1)), Error);
  }
}

}  // namespace
}  // namespace sightline::texture
