#include "family/pixel_window_info.hpp"

#include "detection/pixel_windows.hpp"

namespace sightline {

FamilyInfo pixel_window_info(std::span<const char* const> kernel_variants,
                             const std::vector<ParameterInfo>& own_keys,
                             const std::vector<ParameterInfo>& own_options) {
  using namespace keys;
  FamilyInfo info;
  std::vector<ParameterInfo>& all = info.parameters;
  all = {kModel, kThreshold, kConfidence, kMaxOverlap, kLabel, kMaxModelSize};
  all.insert(all.end(), own_keys.begin(), own_keys.end());
  all.insert(all.end(), {kScaleStep, kMinSize, kMaxSize, kMaxCandidates, kPixelWindowBorder, kClip});
  all.insert(all.end(), own_options.begin(), own_options.end());
  info.remarks = {{"max_candidates", "default 100000"}, {"max_model_size", "default 16"}};
  // Shared with cascades, whose help adds these variants.
  info.variant_axes = {{kKernels,
                        Option("--kernels VARIANT,...", {}, "Variants of the device's kernels to compare"),
                        {kernel_variants.begin(), kernel_variants.end()},
                        "kernels",
                        true}};
  info.evaluation_values = {{"threshold", -1e6}};
  info.ungrouped_values = {{"max_overlap", 1.0}};
  info.needs_no_config = true;
  return info;
}

}  // namespace sightline
