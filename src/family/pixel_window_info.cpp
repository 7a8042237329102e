#include "family/pixel_window_info.hpp"

namespace sightline {

FamilyInfo pixel_window_info(std::span<const char* const> kernel_variants) {
  using Kind = KeyOption::Kind;
  FamilyInfo info;
  // Shared with other families, whose words are the same.
  info.options = {
      {"border", Kind::whole_number, "--border",
       "How far windows may lie beyond the frame's edge, which is repeated there, in pixels of the "
       "model's window"},
      {"clip", Kind::sets_false, "--no-clip",
       "Boxes as large as the whole object where it stands out of the frame; otherwise they end at "
       "its edge"}};
  info.remarks = {{"max_candidates", "100000 unless given"}, {"max_model_size", "16 unless given"}};
  // Shared with cascades, whose help adds these variants.
  info.variant_axes = {{{"kernels", Kind::text, "--kernels", "Variants of the device's kernels to compare"},
                        std::vector<std::string>(kernel_variants.begin(), kernel_variants.end()),
                        "kernels",
                        true}};
  info.evaluation_values = {{"threshold", -1e6}};
  info.ungrouped_values = {{"max_overlap", 1.0}};
  info.needs_no_config = true;
  return info;
}

}  // namespace sightline
