// Every variant of the OpenCL kernels against the CPU, stage by stage and bit for bit, on every OpenCL device
// of the machine.
#include "kernels/opencl_test.hpp"
#include "support/thorough.hpp"

namespace sightline::filterbank {
namespace {

using test::dictionary_of;
using test::Pattern;
using test::random_dictionary;

KernelTuning filter_variant(const std::string& variant, int width, int rows, int group, int group_rows) {
  KernelTuning tuning;
  tuning.filter = variant;
  tuning.filter_width = width;
  tuning.filter_rows = rows;
  tuning.filter_group = group;
  tuning.filter_group_rows = group_rows;
  // The cheapest variants of the other stages.
  tuning.dot = "integer";
  return tuning;
}

KernelTuning histogram_variant(const std::string& variant, int cells) {
  KernelTuning tuning = filter_variant("vector", 4, 2, 8, 4);
  tuning.histogram = variant;
  tuning.histogram_cells = cells;
  return tuning;
}

KernelTuning normalise_variant(const std::string& variant, int width) {
  KernelTuning tuning = filter_variant("vector", 4, 2, 8, 4);
  tuning.normalise = variant;
  tuning.normalise_width = width;
  return tuning;
}

KernelTuning classify_variant(const std::string& variant, const std::string& dot, int width, int rows,
                              int group) {
  KernelTuning tuning = filter_variant("vector", 4, 2, 8, 4);
  tuning.classify = variant;
  tuning.dot = dot;
  tuning.classify_width = width;
  tuning.classify_rows = rows;
  tuning.classify_group = group;
  return tuning;
}

// One in three of them, which are others for each model that is compared: all are seen in every run, and
// every one with every model in a thorough one. Most of what they cost is to build them.
std::vector<KernelTuning> some_variants(const std::vector<KernelTuning>& all, std::size_t first) {
  const std::size_t step = test::is_thorough() ? 1 : 3;
  std::vector<KernelTuning> some;
  for (std::size_t i = first % step; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

TEST_F(OpenClStagesTest, FilterForms) {
  const Frames frames;
  const Model model = make_model(random_dictionary(9, 1), 1);
  compare(model, some_options(model, frames.views[0]),
          {filter_variant("plain", 1, 1, 64, 1), filter_variant("plain", 1, 1, 32, 4),
           filter_variant("unrolled", 1, 1, 32, 4), filter_variant("vector", 1, 1, 32, 4),
           filter_variant("vector", 2, 2, 16, 2), filter_variant("vector", 4, 3, 8, 4),
           filter_variant("vector", 8, 4, 1, 8), filter_variant("vector", 16, 1, 8, 4),
           filter_variant("local", 1, 8, 8, 1), filter_variant("local", 4, 4, 32, 8),
           filter_variant("local", 8, 2, 8, 4), filter_variant("local", 16, 3, 1, 1)},
          frames.views);
}

// --- contrast-sensitive models, and those with patterns
// ------------------------------------------------------

TEST_F(OpenClStagesTest, FilterFormsOfRichDescriptors) {
  Frames frames;
  frames.add({67, 45}, Pattern::flat_areas);
  const std::vector<KernelTuning> variants{
      filter_variant("plain", 1, 1, 32, 4), filter_variant("unrolled", 1, 1, 32, 4),
      filter_variant("vector", 1, 2, 32, 4), filter_variant("vector", 4, 3, 8, 4),
      filter_variant("local", 16, 3, 1, 1)};
  std::size_t number = 0;
  for (const Descriptor& descriptor : rich_descriptors()) {
    SCOPED_TRACE(describe(descriptor));
    const Model model = make_model(random_dictionary(9, 1), 1, kSmallWindow, {}, 1, descriptor);
    compare(model, some_options(model, frames.views[0]), some_variants(variants, number++), frames.views);
  }
}

TEST_F(OpenClStagesTest, HistogramAndNormaliseFormsOfRichDescriptors) {
  Frames frames({{65, 129}, {16, 16}, {31, 47}, {150, 41}, {264, 17}, {136, 130}});
  frames.add({65, 50}, Pattern::black);
  Model model = make_model(random_dictionary(9, 1), 1, kSmallWindow, {}, 1, rich_descriptors()[2]);
  model.epsilon = 700;
  std::vector<KernelTuning> variants{histogram_variant("owner", 16), histogram_variant("owner", 32),
                                     histogram_variant("atomic", 16), histogram_variant("atomic", 32)};
  for (const std::string variant : {"blocks", "cells"}) {
    for (const int width : {1, 4, 16}) variants.push_back(normalise_variant(variant, width));
  }
  compare(model, some_options(model, frames.views[0]), variants, frames.views);
}

TEST_F(OpenClStagesTest, HistogramForms) {
  const Frames frames;
  const Model model = make_model(random_dictionary(9, 1), 1);
  compare(model, some_options(model, frames.views[0]),
          {histogram_variant("owner", 16), histogram_variant("owner", 32), histogram_variant("atomic", 16),
           histogram_variant("atomic", 32)},
          frames.views);
}

// The published variant loses responses on devices that run work-items at once: it need only run.
TEST_F(OpenClStagesTest, RacyHistogramRuns) {
  const Frames frames;
  const Model model = make_model(random_dictionary(9, 1), 1);
  for (const opencl::DeviceInfo& device : devices_) {
    for (const int cells : {16, 32}) {
      Comparison comparison(device, model, some_options(model, frames.views[0]),
                            histogram_variant("racy", cells));
      const std::string difference = comparison.difference(frames.views[0]);
      EXPECT_TRUE(difference.empty() || difference.starts_with("features")) << difference;
    }
  }
}

TEST_F(OpenClStagesTest, NormaliseForms) {
  // The last two hold one cell row or column more than whole vectors; and the fewest that make a block.
  const Frames frames({{65, 129}, {16, 16}, {31, 47}, {150, 41}, {264, 17}, {136, 130}});
  const Model model = make_model(random_dictionary(9, 1), 1);
  std::vector<KernelTuning> variants;
  for (const std::string variant : {"blocks", "cells"}) {
    for (const int width : {1, 2, 4, 8, 16}) variants.push_back(normalise_variant(variant, width));
  }
  compare(model, some_options(model, frames.views[0]), variants, frames.views);
}

TEST_F(OpenClStagesTest, NormaliseFormsWithAndWithoutEpsilon) {
  Frames frames({{65, 50}});
  frames.add({65, 50}, Pattern::black);
  for (const int filters : {1, 30}) {
    for (const int epsilon : {0, 5000}) {
      Model model = make_model(random_dictionary(filters, 1), 1);
      model.epsilon = epsilon;
      compare(model, some_options(model, frames.views[0]),
              {normalise_variant("blocks", 2), normalise_variant("cells", 4)}, frames.views);
    }
  }
}

// Every variant with every way to sum products that needs no special instruction.
std::vector<KernelTuning> portable_classify_variants() {
  std::vector<KernelTuning> variants;
  for (const std::string dot : {"integer", "float"}) {
    variants.push_back(classify_variant("plain", dot, 1, 1, 32));
    variants.push_back(classify_variant("unrolled", dot, 1, 1, 16));
    for (const std::string variant : {"vector", "local"}) {
      variants.push_back(classify_variant(variant, dot, 1, 16, 64));
      variants.push_back(classify_variant(variant, dot, 4, 3, 8));
      variants.push_back(classify_variant(variant, dot, 8, 16, 4));
      variants.push_back(classify_variant(variant, dot, 16, 1, 2));
    }
  }
  return variants;
}

std::vector<KernelTuning> some_classify_variants(std::size_t first) {
  return some_variants(portable_classify_variants(), first);
}

TEST_F(OpenClStagesTest, ClassifyForms) {
  const Model model = make_model(random_dictionary(9, 1), 1, {3, 4});
  const Frames frames({{65, 129}, {24, 32}, {25, 71}, {160, 41}});
  compare(model, some_options(model, frames.views[0]), some_classify_variants(0), frames.views);
}

TEST_F(OpenClStagesTest, ClassifyFormsOfTheDistanceClassifier) {
  const Model model = make_model(random_dictionary(9, 1), 1, {3, 4}, ClassifierKind::distance, 3);
  const Frames frames({{65, 129}, {24, 32}, {25, 71}});
  compare(model, some_options(model, frames.views[0]), some_classify_variants(1), frames.views);
}

// Fewer quads of filters than of patterns, and more.
TEST_F(OpenClStagesTest, ClassifyFormsOfRichDescriptors) {
  const Frames frames({{65, 129}, {24, 32}, {25, 71}, {160, 41}});
  const Model few = make_model(random_dictionary(5, 1), 1, {3, 4}, {}, 1, rich_descriptors()[2]);
  compare(few, some_options(few, frames.views[0]), some_classify_variants(2), frames.views);

  const std::vector<KernelTuning> variants{
      classify_variant("plain", "integer", 1, 1, 32), classify_variant("unrolled", "float", 1, 1, 16),
      classify_variant("vector", "float", 8, 16, 4), classify_variant("local", "integer", 4, 3, 8)};
  const Model many = make_model(random_dictionary(61, 1), 1, {3, 4}, {}, 1, rich_descriptors()[2]);
  compare(many, some_options(many, frames.views[0]), some_variants(variants, 0), frames.views);
  Options pre_rejected = some_options(few, frames.views[0]);
  pre_rejected.rejection_margin = 0;
  compare(few, pre_rejected, some_variants(variants, 1), frames.views);
  const Model distance =
      make_model(random_dictionary(9, 1), 1, {3, 4}, ClassifierKind::distance, 3, rich_descriptors()[1]);
  compare(distance, some_options(distance, frames.views[0]), some_variants(variants, 2), frames.views);
}

TEST_F(OpenClStagesTest, ClassifyWithTheDevicesOwnDotProduct) {
  const Frames frames({{65, 129}, {24, 32}, {25, 71}});
  const Model model = make_model(random_dictionary(9, 1), 1, {3, 4}, {}, 1, rich_descriptors()[2]);
  const Options options = some_options(model, frames.views[0]);
  bool any = false;
  for (const opencl::DeviceInfo& device : devices_) {
    const bool ptx = device.vendor.find("NVIDIA") != std::string::npos;
    const bool khr = device.integer_dot_product;
    for (const std::string dot : {"ptx", "khr", "auto"}) {
      if ((dot == "ptx" && !ptx) || (dot == "khr" && !khr)) continue;
      any = any || dot != "auto";
      compare_on(device, model, options,
                 {classify_variant("plain", dot, 1, 1, 64), classify_variant("unrolled", dot, 1, 1, 64),
                  classify_variant("vector", dot, 1, 4, 32), classify_variant("vector", dot, 1, 16, 64),
                  classify_variant("local", dot, 1, 8, 32), classify_variant("local", dot, 1, 16, 64)},
                 frames.views);
    }
    // No instruction takes several windows: "auto" means integers then.
    compare_on(device, model, options, {classify_variant("vector", "auto", 4, 4, 8)}, frames.views);
  }
  if (!any) GTEST_SKIP() << "no device here has an instruction for 8-bit dot products; only 'auto' was run";
}

// Each filter once more, and once with all signs changed: ties at every pixel, the lowest index wins.
TEST_F(OpenClStagesTest, TiesGoToTheLowestIndex) {
  Frames frames({{65, 50}});
  frames.add({65, 50}, Pattern::flat_areas);
  const Dictionary single = random_dictionary(3, 5);
  std::vector<Filter> filters(single.filters().begin(), single.filters().end());
  for (int copy = 0; copy < 2; ++copy) {
    for (int k = 0; k < 3; ++k) {
      Filter filter = single.filters()[k];
      if (copy == 1) {
        for (auto& c : filter) c = static_cast<std::remove_reference_t<decltype(c)>>(-c);
      }
      filters.push_back(filter);
    }
  }
  std::vector<KernelTuning> variants{
      filter_variant("plain", 1, 1, 32, 4), filter_variant("unrolled", 1, 1, 32, 4),
      filter_variant("vector", 8, 2, 8, 4), filter_variant("local", 4, 2, 8, 4)};
  for (const Descriptor& descriptor : {Descriptor(), rich_descriptors()[0]}) {
    const Model model = make_model(dictionary_of(filters), 1, kSmallWindow, {}, 1, descriptor);
    compare(model, some_options(model, frames.views[0]), variants, frames.views);
  }
}

// A device may have no room for the sums of as many cells as were asked for.
TEST_F(OpenClStagesTest, HistogramsInLittleLocalMemory) {
  const Frames frames({{65, 129}, {150, 41}});
  const Model model = make_model(random_dictionary(9, 1), 1, kSmallWindow, {}, 1, rich_descriptors()[1]);
  const int bins = round_up(model.bins(), 4) + round_up(model.descriptor.pattern_bins(), 4);
  ASSERT_GT(bins, model.bins());
  const auto bytes = [&](int cells) { return static_cast<std::uint64_t>(cells) * 4 * (bins + 1); };
  for (opencl::DeviceInfo device : devices_) {
    for (const char* variant : {"owner", "atomic"}) {
      for (const int cells : {32, 16, 8, 4}) {
        for (const bool exactly : {true, false}) {
          if (!test::is_thorough() && exactly == (variant == std::string_view("owner"))) continue;
          SCOPED_TRACE(device.name + ", " + variant + ", " + std::to_string(cells));
          device.local_memory_bytes = bytes(cells) - (exactly ? 0 : 1);
          Comparison comparison(device, model, some_options(model, frames.views[0]),
                                histogram_variant(variant, 32));
          EXPECT_EQ(comparison.stages().tuning().histogram_cells, exactly ? cells : cells / 2);
          for (const GrayView frame : frames.views) EXPECT_EQ(comparison.difference(frame), "");
        }
      }
    }
  }
}

// As many filters as there may be, of the largest responses: every bit of a response is used.
TEST_F(OpenClStagesTest, LargestVotesWithSignsApart) {
  Frames frames({{65, 50}});
  frames.add({65, 50}, Pattern::checkerboard);
  std::vector<Filter> filters(128, Filter{});
  filters[127] = {127, 127, 3, -127, -127, -3, 0, 0, 0};
  filters[126] = {-127, 127, -3, 127, -127, 3, 0, 0, 0};
  const Model model = make_model(dictionary_of(filters), 1, kSmallWindow, {}, 1, rich_descriptors()[2]);
  compare(model, some_options(model, frames.views[0]),
          {filter_variant("plain", 1, 1, 32, 4), filter_variant("vector", 8, 2, 8, 4),
           filter_variant("local", 4, 2, 8, 4), histogram_variant("atomic", 32)},
          frames.views);
}

// --- small sizes, for a simulator -----------------------------------------------------------------------

TEST_F(OpenClStagesSmall, EveryFilterForm) {
  const Frames frames({{35, 18}});
  const Model model = make_model(random_dictionary(3, 1), 1);
  Options options;
  options.scale_step = 1.9;
  compare(model, options,
          {filter_variant("plain", 1, 1, 8, 4), filter_variant("unrolled", 1, 1, 8, 4),
           filter_variant("vector", 4, 3, 4, 2), filter_variant("vector", 16, 2, 2, 2),
           filter_variant("local", 8, 4, 4, 2)},
          frames.views);
}

TEST_F(OpenClStagesSmall, EveryHistogramAndNormaliseForm) {
  const Frames frames({{35, 18}});
  const Model model = make_model(random_dictionary(3, 1), 1);
  Options options;
  options.scale_step = 1.9;
  std::vector<KernelTuning> variants{histogram_variant("owner", 16), histogram_variant("owner", 32),
                                     histogram_variant("atomic", 16), histogram_variant("atomic", 32)};
  for (std::size_t k = 0; k < variants.size(); ++k) {
    variants[k].normalise = k % 2 == 0 ? "cells" : "blocks";
    variants[k].normalise_width = 2 << k;
  }
  variants.push_back(normalise_variant("cells", 1));
  compare(model, options, variants, frames.views);
}

TEST_F(OpenClStagesSmall, EveryClassifyForm) {
  const Frames frames({{36, 33}});
  const Model model = make_model(random_dictionary(3, 1), 1, {2, 3});
  Options options;
  options.scale_step = 1.9;
  options.threshold = -1e9;
  compare(model, options,
          {classify_variant("plain", "integer", 1, 1, 4), classify_variant("plain", "float", 1, 1, 2),
           classify_variant("unrolled", "integer", 1, 1, 4), classify_variant("unrolled", "float", 1, 1, 4),
           classify_variant("vector", "integer", 1, 4, 4), classify_variant("vector", "float", 16, 4, 1),
           classify_variant("local", "integer", 4, 3, 2), classify_variant("local", "float", 1, 8, 4)},
          frames.views);
  const Model distance = make_model(random_dictionary(3, 1), 1, {2, 3}, ClassifierKind::distance, 2);
  compare(distance, options, {classify_variant("local", "integer", 1, 4, 4)}, frames.views);
}

TEST_F(OpenClStagesSmall, RichDescriptors) {
  const Frames frames({{36, 33}});
  Options options;
  options.scale_step = 1.9;
  options.threshold = -1e9;
  const Model model = make_model(random_dictionary(3, 1), 1, {2, 3}, {}, 1, rich_descriptors()[2]);
  std::vector<KernelTuning> variants{
      classify_variant("plain", "integer", 1, 1, 4), classify_variant("unrolled", "float", 1, 1, 4),
      classify_variant("vector", "float", 16, 4, 1), classify_variant("local", "integer", 4, 3, 2)};
  for (std::size_t k = 0; k < variants.size(); ++k) {
    variants[k].filter = k == 0 ? "plain" : k == 1 ? "unrolled" : k == 2 ? "vector" : "local";
    variants[k].histogram = k % 2 == 0 ? "owner" : "atomic";
    variants[k].normalise = k % 2 == 0 ? "cells" : "blocks";
    variants[k].normalise_width = 2 << k;
  }
  compare(model, options, variants, frames.views);
  options.rejection_margin = 0;
  compare(model, options, {variants[3]}, frames.views);
}

TEST_F(OpenClStagesSmall, OctavesAndChangingSizes) {
  const Frames frames({{70, 68}, {16, 17}});
  const Model model = make_model(random_dictionary(3, 1), 1);
  Options options;
  options.scale_step = 1.9;
  compare(model, options, {filter_variant("vector", 4, 2, 4, 4)}, frames.views);
}

}  // namespace
}  // namespace sightline::filterbank
