#pragma once
/// Plans while they are made: storages, steps, and the levels that follow from what steps read.

#include "detectors/network/plan_steps.hpp"

namespace sightline::network {

/// Inputs of a step, for levels and for memory.
struct Read {
  int storage = 0;
  bool by_row = false;  ///< row y of it for row y alone
};

/// A step with what it reads and writes.
struct Planned {
  Step* step = nullptr;
  int height = 1;
  std::vector<Read> reads;
  std::vector<int> values_read;
  int writes = -1;  ///< storage
  std::vector<int> values_written;
  bool suits_devices = true;  ///< the step, and all that it depends on
  int level = 0;              ///< among the steps that suit devices, or among the others
  int chain = 0;              ///< steps with the same one share rows
  std::size_t segment = 0;
};

class PlanBuilder {
 public:
  /// @param values  of the graph
  PlanBuilder(Plan& plan, std::size_t values) : plan_(plan), value_level_(values, -1) {}

  Storage& storage(int number) { return plan_.storages[static_cast<std::size_t>(number)]; }
  const Storage& storage(int number) const { return plan_.storages[static_cast<std::size_t>(number)]; }
  /// A map of all channels of a new storage.
  Map new_map(int height, int width, std::size_t channels, int lanes = 16);
  static std::vector<Read> reads_of(const Map& map, bool by_row);
  /// Appends a step. Its level is behind all that it reads, or the same where it reads rows of the same
  /// number.
  void add_step(std::unique_ptr<Step> step, Planned planned);
  /// Appends a step that writes all channels of a new storage. Returns their map.
  template <typename Made>
  Map add_map_step(std::unique_ptr<Made> step, int height, int width, std::size_t channels,
                   std::vector<Read> reads, int lanes = 16, std::vector<int> values_read = {}) {
    Map map = new_map(height, width, channels, lanes);
    const int made = map.channels[0].storage;
    step->out = OutputRows(made, storage(made).blocks);
    add_step(std::move(step), {nullptr, height, std::move(reads), std::move(values_read), made, {}});
    return map;
  }
  /// Whether all that writes a map suits devices.
  bool suits_devices(const Map& map) const;
  std::size_t steps() const { return planned_.size(); }
  /// Makes levels and chains of the steps, and lays out memory.
  void finish();

 private:
  void join(int kept, int& joined);
  void make_levels();
  void cut_segments(std::size_t device_levels);
  void find_local_storages();
  void share_storages();
  void lay_out_arena();

  Plan& plan_;
  std::vector<int> value_level_;                   ///< among the steps that suit no device
  std::vector<std::vector<std::size_t>> writers_;  ///< planned steps, by storage
  std::vector<Planned> planned_;
};

}  // namespace sightline::network
