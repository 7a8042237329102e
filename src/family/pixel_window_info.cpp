#include "family/pixel_window_info.hpp"

namespace sightline {

FamilyInfo pixel_window_info(std::span<const char* const> kernel_variants) {
  using Kind = KeyOption::Kind;
  FamilyInfo info;
  info.config_keys = {"model", "threshold", "confidence", "max_overlap", "label", "max_model_size"};
  // Shared with other families, whose words are the same.
  info.options = window_options();
  info.options.emplace_back(
      "border", Kind::whole_number, "--border PX",
      "Pixels of the model's window that may lie beyond the frame's edge, which is repeated there");
  info.options.emplace_back(
      "clip", Kind::sets_false, "--no-clip",
      "Report whole boxes of objects that are partly outside the frame; otherwise boxes end at its edge");
  info.remarks = {{"max_candidates", "default 100000"}, {"max_model_size", "default 16"}};
  // Shared with cascades, whose help adds these variants.
  info.variant_axes = {
      {{"kernels", Kind::text, "--kernels VARIANT,...", "Variants of the device's kernels to compare"},
       std::vector<std::string>(kernel_variants.begin(), kernel_variants.end()),
       "kernels",
       true}};
  info.evaluation_values = {{"threshold", -1e6}};
  info.ungrouped_values = {{"max_overlap", 1.0}};
  info.needs_no_config = true;
  return info;
}

}  // namespace sightline
