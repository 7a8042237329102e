#pragma once
/// Declaration of the resources that stages read and write. It is checked when a processor is built, and
/// transfers between processors follow from it.

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sightline {

/// Most stages, and most resources, of a processor.
inline constexpr std::size_t kMostStages = 32;

/// Which of a processor's stages run on the device; the others run on the CPU.
using StageSet = std::bitset<kMostStages>;

/// A resource is what one stage leaves for others: the images of all levels, a list of candidates. A
/// processor numbers its resources; number 0 is always the frame, which no stage writes.
inline constexpr std::size_t kFrameResource = 0;

/// Some of a processor's resources, by number (below kMostStages).
class ResourceSet {
 public:
  constexpr ResourceSet() = default;
  constexpr ResourceSet(std::initializer_list<std::size_t> numbers) {
    for (const std::size_t number : numbers) bits_ |= 1U << number;
  }
  constexpr bool contains(std::size_t number) const { return (bits_ >> number & 1U) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr void insert(std::size_t number) { bits_ |= 1U << number; }
  friend constexpr ResourceSet operator|(ResourceSet a, ResourceSet b) { return of(a.bits_ | b.bits_); }
  friend constexpr ResourceSet operator&(ResourceSet a, ResourceSet b) { return of(a.bits_ & b.bits_); }
  /// Resources of `a` that are not in `b`.
  friend constexpr ResourceSet operator-(ResourceSet a, ResourceSet b) { return of(a.bits_ & ~b.bits_); }
  friend constexpr bool operator==(ResourceSet, ResourceSet) = default;

 private:
  static constexpr ResourceSet of(std::uint32_t bits) {
    ResourceSet set;
    set.bits_ = bits;
    return set;
  }
  std::uint32_t bits_ = 0;
};

/// One step of a frame processor. Stages run in order; each reads what earlier ones wrote into the workspace.
struct StageInfo {
  std::string_view name;  ///< the field's word, for example "filter"
  ResourceSet reads;      ///< resources that it reads from the workspace
  ResourceSet writes;     ///< resources that it writes; those changed in place are in both sets
  /// Wide and regular: usually better on a GPU than on the CPU, where there is one.
  bool suits_device = false;
  /// Resources that the stage reads if at hand and makes again otherwise: no reason for a transfer.
  ResourceSet reuses = {};
  /// Whether its output is a part of the frame's result, as the last stage's always is.
  bool makes_result = false;
  friend constexpr bool operator==(const StageInfo&, const StageInfo&) = default;
};

/// Throws std::logic_error, naming stage and resource, unless all that a stage reads or reuses was written by
/// an earlier one (or is the frame), no stage writes the frame, every resource but the result is read or
/// reused after it was written, and names are there and different.
/// @param resources  names of all resources, by number
void check_contract(std::span<const StageInfo> stages, std::span<const std::string_view> resources);

/// Consecutive stages on a device, with what has to be copied for them.
struct DeviceSegment {
  std::size_t first = 0;
  std::size_t last = 0;   ///< one past
  ResourceSet uploads;    ///< the segment reads them, and the device does not have them as they are now
  ResourceSet downloads;  ///< a later stage on the CPU reads them, and the CPU does not have them
};

/// The copies that a mapping of stages needs: each resource moves once, and only where a stage on the other
/// side reads it. In the order of the stages.
std::vector<DeviceSegment> plan_transfers(std::span<const StageInfo> stages, const StageSet& on_device);

}  // namespace sightline
