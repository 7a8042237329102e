#pragma once
/// Resources that stages read and write. They are checked when a processor is built, and the transfers
/// between CPU and device follow from them.

#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sightline {

/// Maximum number of stages, and of resources, of a processor.
inline constexpr std::size_t kMostStages = 32;

/// Set of the stages that run on the device; the others run on the CPU.
using StageSet = std::bitset<kMostStages>;

/// A resource is data that one stage produces for others: the images of all levels, a list of candidates. A
/// processor numbers its resources; number 0 is always the frame, which no stage writes.
inline constexpr std::size_t kFrameResource = 0;

/// Set of a processor's resources, by number (below kMostStages).
class ResourceSet {
 public:
  constexpr ResourceSet() = default;
  constexpr ResourceSet(std::initializer_list<std::size_t> numbers) {
    for (const std::size_t number : numbers) bits_ |= 1U << number;
  }
  constexpr bool contains(std::size_t number) const { return (bits_ >> number & 1U) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  /// The lowest number; none if the set is empty.
  constexpr std::optional<std::size_t> first() const {
    return empty() ? std::nullopt : std::optional<std::size_t>(std::countr_zero(bits_));
  }
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
  std::string_view name;  ///< standard term, for example "filter"
  ResourceSet reads;      ///< resources that it reads from the workspace
  ResourceSet writes;     ///< resources that it writes; one changed in place is in both sets
  /// Whether the stage is regular and highly parallel, so usually faster on a GPU than on the CPU.
  bool suits_device = false;
  /// Resources that the stage reads if they are on its side, and recomputes otherwise; they cause no
  /// transfer.
  ResourceSet reuses = {};
  /// Whether its output is part of the frame's result. The last stage's output always is.
  bool makes_result = false;
  /// Whether the stage gives the same output on every processor, bit for bit.
  bool exact = true;
  friend constexpr bool operator==(const StageInfo&, const StageInfo&) = default;
};

/// Whether all stages are exact: the result is then the same under every schedule.
bool all_exact(std::span<const StageInfo> stages);

/// Throws std::logic_error, naming stage and resource, unless
///   - each resource that a stage reads or reuses is the frame or was written by an earlier stage;
///   - no stage writes the frame;
///   - each resource except the result is read or reused after it was written;
///   - all names are non-empty and unique.
/// @param resources  names of all resources, by number
void check_contract(std::span<const StageInfo> stages, std::span<const std::string_view> resources);

/// Consecutive stages on a device, with the copies that they need.
struct DeviceSegment {
  std::size_t first = 0;
  std::size_t last = 0;   ///< one past
  ResourceSet uploads;    ///< read by the segment and not current on the device
  ResourceSet downloads;  ///< read by a later CPU stage and not on the CPU
};

/// Device segments, with their copies, of a mapping of stages, in stage order. Each resource is copied only
/// if a stage on the other side reads it, and only once.
std::vector<DeviceSegment> plan_transfers(std::span<const StageInfo> stages, const StageSet& on_device);

}  // namespace sightline
