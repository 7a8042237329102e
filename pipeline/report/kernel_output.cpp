#include "pipeline/report/kernel_output.hpp"

namespace sightline::report {
namespace {

using opencl::KernelResources;

Cell known(const std::optional<std::uint64_t>& value) {
  return value ? Cell(*value) : Cell("unknown");
}

// "256", "16x16", or that the driver chooses.
std::string work_group_text(const KernelResources& one) {
  const auto [x, y, z] = one.work_group;
  if (x == 0) return "driver's choice";
  std::string text = std::to_string(x);
  if (y * z > 1) text += "x" + std::to_string(y);
  if (z > 1) text += "x" + std::to_string(z);
  return text;
}

}  // namespace

Table kernel_table(const std::vector<KernelResources>& kernels) {
  using K = KernelResources;
  return table_of<K>(kernels, {{"kernel", &K::kernel},
                               {"work-group", work_group_text},
                               {"registers", [](const K& one) { return known(one.registers); }},
                               {"spills B", [](const K& one) { return known(one.spill_bytes); }},
                               {"private B", [](const K& one) { return known(one.private_bytes); }},
                               {"local B", [](const K& one) { return known(one.local_bytes); }},
                               {"multiple", [](const K& one) { return known(one.multiple); }},
                               {"occupancy", [](const K& one) {
                                  return one.occupancy ? Cell(whole_percent(*one.occupancy))
                                                       : Cell("unknown");
                                }}});
}

}  // namespace sightline::report
