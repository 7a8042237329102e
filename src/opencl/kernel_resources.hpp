#pragma once
/// Resources that kernels use on a device, and the share of the device that they can occupy. No OpenCL types.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace sightline::opencl {

/// Resources of a kernel for one size of its work-groups, as the driver states them. No value: unknown.
struct KernelResources {
  std::string kernel;                               ///< its function
  std::array<std::size_t, 3> work_group{};          ///< work-items in each dimension; 0: the driver's choice
  std::optional<std::uint64_t> registers = {};      ///< 32-bit registers a work-item
  std::optional<std::uint64_t> spill_bytes = {};    ///< stores and loads of spilled registers, a work-item
  std::optional<std::uint64_t> private_bytes = {};  ///< private memory a work-item
  std::optional<std::uint64_t> local_bytes = {};    ///< local memory a work-group, with that of arguments
  std::optional<std::uint64_t> multiple = {};       ///< preferred multiple of work-items in a work-group
  std::optional<double> occupancy = {};             ///< theoretical, 0..1; see `occupancy`

  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};

/// `{"kernel":..,"work_group":[x,y,z],"registers":..,"spill_bytes":..,"private_bytes":..,"local_bytes":..,
///   "multiple":..,"occupancy":..}`; null: unknown, or a work-group that the driver chooses.
nlohmann::ordered_json as_json(const KernelResources& resources);

/// A function in NVIDIA's compiler log.
struct CompiledFunction {
  std::optional<std::uint64_t> registers = {};
  std::optional<std::uint64_t> spill_bytes = {};
};

/// Kernels by name in a build log of `-cl-nv-verbose`. Other text is ignored; lines may be joined by blanks.
std::map<std::string, CompiledFunction, std::less<>> parse_verbose_log(std::string_view log);

/// What occupancy depends on.
struct KernelLaunch {
  std::uint64_t work_items = 0;   ///< a work-group
  std::uint64_t registers = 0;    ///< a work-item
  std::uint64_t local_bytes = 0;  ///< a work-group
};

/// Theoretical occupancy by the formula of NVIDIA's calculator: sub-groups of 32 work-items that a compute
/// unit can hold at once, of the most that it can hold. No value for compute capabilities that it does not
/// know and for launches without work-items; 0 where not even one work-group fits.
/// @param capability  10 * major + minor: 90 is an H100
std::optional<double> occupancy(int capability, const KernelLaunch& launch);

}  // namespace sightline::opencl
