#include "opencl/kernel_resources.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

namespace sightline::opencl {
namespace {

constexpr std::uint64_t kSubGroup = 32;  // NVIDIA's warp

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Limits of a compute unit (streaming multiprocessor).
struct ComputeUnit {
  int capability;
  std::uint64_t sub_groups;
  std::uint64_t work_groups;
  std::uint64_t registers;
  std::uint64_t registers_of_group;  // most of one work-group
  std::uint64_t local_kib;
  std::uint64_t local_unit;      // bytes; local memory is allocated in multiples of it
  std::uint64_t local_reserved;  // bytes of each work-group that the driver takes
};

// Rows of NVIDIA's occupancy calculator and of the table "Technical Specifications per Compute Capability".
constexpr ComputeUnit kComputeUnits[] = {
    {30, 64, 16, 65536, 65536, 48, 256, 0},      {32, 64, 16, 65536, 65536, 48, 256, 0},
    {35, 64, 16, 65536, 65536, 48, 256, 0},      {37, 64, 16, 131072, 65536, 112, 256, 0},
    {50, 64, 32, 65536, 65536, 64, 256, 0},      {52, 64, 32, 65536, 65536, 96, 256, 0},
    {53, 64, 32, 65536, 32768, 64, 256, 0},      {60, 64, 32, 65536, 65536, 64, 256, 0},
    {61, 64, 32, 65536, 65536, 96, 256, 0},      {62, 64, 32, 65536, 65536, 64, 256, 0},
    {70, 64, 32, 65536, 65536, 96, 256, 0},      {72, 64, 32, 65536, 65536, 96, 256, 0},
    {75, 32, 16, 65536, 65536, 64, 256, 0},      {80, 64, 32, 65536, 65536, 164, 128, 1024},
    {86, 48, 16, 65536, 65536, 100, 128, 1024},  {87, 48, 16, 65536, 65536, 164, 128, 1024},
    {89, 48, 24, 65536, 65536, 100, 128, 1024},  {90, 64, 32, 65536, 65536, 228, 128, 1024},
    {100, 64, 32, 65536, 65536, 228, 128, 1024}, {120, 48, 24, 65536, 65536, 100, 128, 1024}};

// Work-groups whose registers fit: each sub-group takes multiples of 256, and sub-groups come in fours.
std::uint64_t groups_by_registers(const ComputeUnit& unit, std::uint64_t sub_groups,
                                  std::uint64_t registers) {
  if (registers == 0) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t of_sub_group = rounded_up(registers * kSubGroup, 256);
  const std::uint64_t fitting = unit.registers_of_group / of_sub_group / 4 * 4;
  return fitting / sub_groups * (unit.registers / unit.registers_of_group);
}

std::uint64_t groups_by_local_memory(const ComputeUnit& unit, std::uint64_t bytes) {
  const std::uint64_t allocated = rounded_up(bytes + unit.local_reserved, unit.local_unit);
  return allocated == 0 ? std::numeric_limits<std::uint64_t>::max() : unit.local_kib * 1024 / allocated;
}

// The number before a text: 24 of "24 bytes spill stores". No value if the text is not there.
std::optional<std::uint64_t> number_before(std::string_view text, std::string_view what) {
  const std::size_t at = text.find(what);
  if (at == text.npos || at == 0) return std::nullopt;
  const std::size_t first = text.find_last_not_of("0123456789", at - 1) + 1;  // npos + 1 is 0
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + at, number);
  return error == std::errc() && end == text.data() + at ? std::optional(number) : std::nullopt;
}

nlohmann::ordered_json json_or_null(const auto& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace

nlohmann::ordered_json as_json(const KernelResources& resources) {
  const bool is_free = resources.work_group[0] == 0;
  return {{"kernel", resources.kernel},
          {"work_group", is_free ? nlohmann::ordered_json() : nlohmann::ordered_json(resources.work_group)},
          {"registers", json_or_null(resources.registers)},
          {"spill_bytes", json_or_null(resources.spill_bytes)},
          {"private_bytes", json_or_null(resources.private_bytes)},
          {"local_bytes", json_or_null(resources.local_bytes)},
          {"multiple", json_or_null(resources.multiple)},
          {"occupancy", json_or_null(resources.occupancy)}};
}

std::map<std::string, CompiledFunction, std::less<>> parse_verbose_log(std::string_view log) {
  constexpr std::string_view kEntry = "Compiling entry function '";
  std::map<std::string, CompiledFunction, std::less<>> kernels;
  for (std::size_t at = log.find(kEntry); at != log.npos;) {
    const std::size_t name = at + kEntry.size();
    const std::size_t next = log.find(kEntry, name);
    const std::string_view text = log.substr(name, next == log.npos ? next : next - name);
    at = next;
    const std::size_t quote = text.find('\'');
    if (quote == text.npos) continue;
    CompiledFunction& found = kernels[std::string(text.substr(0, quote))];
    found.registers = number_before(text, " registers");
    // The kernel's own come first, then those of functions that it calls.
    const auto stores = number_before(text, " bytes spill stores");
    const auto loads = number_before(text, " bytes spill loads");
    if (stores && loads) found.spill_bytes = *stores + *loads;
  }
  return kernels;
}

std::optional<double> occupancy(int capability, const KernelLaunch& launch) {
  const auto* const unit = std::ranges::find(kComputeUnits, capability, &ComputeUnit::capability);
  if (unit == std::end(kComputeUnits) || launch.work_items == 0) return std::nullopt;
  const std::uint64_t sub_groups = rounded_up(launch.work_items, kSubGroup) / kSubGroup;
  const std::uint64_t groups = std::min({unit->work_groups, unit->sub_groups / sub_groups,
                                         groups_by_registers(*unit, sub_groups, launch.registers),
                                         groups_by_local_memory(*unit, launch.local_bytes)});
  return static_cast<double>(groups * sub_groups) / static_cast<double>(unit->sub_groups);
}

}  // namespace sightline::opencl
