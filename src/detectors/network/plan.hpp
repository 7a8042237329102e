#pragma once
/// A network compiled for the CPU. Feature maps lie in blocks of 16 channels; steps compute one row of a map
/// at a time. Steps whose inputs are rows of the same number share a level, so that a convolution and the
/// chain of 1x1 products behind it work on a row while it is in the cache. Only between levels, threads wait
/// for each other. Parts of channels, joined channels and shuffled channels cost nothing: they are lists of
/// places.
///
/// Levels form segments, which may run on different processors. A storage that a later segment reads lies in
/// the pool of its writer's results, which is copied as a whole; all others lie in memory of the processor's
/// own. The last segment has the steps that no device has kernels for, and all that depends on them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "detectors/network/kernels.hpp"
#include "detectors/network/operators.hpp"
#include "detectors/network/runner.hpp"

namespace sightline::network {

/// Pools of memory: a row of each thread, a frame's own, and those that segments share.
enum Pool : int { kRowPool, kArenaPool, kInputPool, kFirstResultPool };

/// Memory of a feature map: blocks of 16 channels or planes of one, each of rows with zeros at both ends. A
/// tensor that segments share is one of planes without ends.
struct Storage {
  int height = 0, width = 0;
  int blocks = 0;          ///< of `lanes` channels
  int lanes = 16;          ///< floats of a pixel in a block: 16, 1 for planes, or all channels of one block
  int pad = 0;             ///< pixels of zeros at each end of a row
  int pool = kArenaPool;   ///< kRowPool: one row for each thread, which one chain of steps writes and reads
  bool is_result = false;  ///< whether it is read behind the network
  int first_level = -1, last_level = -1;
  std::int64_t offset = 0;  ///< floats, in the pool

  std::int64_t row_floats() const { return std::int64_t{width + 2 * pad} * lanes; }
  std::int64_t block_floats() const { return pool == kRowPool ? row_floats() : height * row_floats(); }
  std::int64_t floats() const { return blocks * block_floats(); }
};

/// Place of the values of one channel: channel `channel` of a storage, from row `y` and column `x` on.
struct ChannelPlace {
  int storage = 0;
  int channel = 0;
  int x = 0, y = 0;
};

/// A feature map as a list of channels. Rows and columns are so far apart in the storages.
struct Map {
  int height = 0, width = 0;
  int row_step = 1, column_step = 1;
  std::vector<ChannelPlace> channels;
};

/// Start of a row of a map, once memory is laid out.
struct RowPlace {
  std::int64_t offset = 0;    ///< floats, of row 0
  std::int64_t row_step = 0;  ///< floats from row to row; 0 in the row pool
  int pool = kArenaPool;
};

/// Memory for steps: the frame's and a thread's.
struct PlanMemory {
  float* const* pools = nullptr;  ///< by number; the row pool is this thread's
  float* zeros = nullptr;         ///< as long as any row; nobody writes them
  std::vector<Tensor>* values = nullptr;
  float** pointers = nullptr;  ///< of this thread, as many as any step needs
  float* spare = nullptr;      ///< of this thread, one row

  float* at(const RowPlace& place, std::int64_t row) const {
    return pools[place.pool] + place.offset + row * place.row_step;
  }
};

/// One operation on a row of a map. Immutable once laid out.
class Step {
 public:
  virtual ~Step() = default;
  /// Looks up places in the storages, whose offsets are set.
  virtual void lay_out(const std::vector<Storage>& storages) = 0;
  virtual void run(const PlanMemory& memory, int row) const = 0;
  /// Pointers that it needs at once.
  virtual std::size_t pointers() const { return 0; }
  /// Floats of zeros, and of a spare row.
  virtual std::int64_t zeros() const { return 0; }
  virtual std::int64_t spare() const { return 0; }
  /// Whether devices have kernels for it.
  virtual bool suits_devices() const { return true; }
  virtual std::int64_t multiply_adds() const { return 0; }
  /// What it does, in a word or two.
  virtual std::string text() const = 0;
};

/// A step in its chain.
struct ChainStep {
  const Step* step = nullptr;
  std::vector<int> reads;  ///< storages
  int writes = -1;         ///< storage
};

/// Steps of one level that work on rows of the same number, and how many rows there are.
struct Chain {
  int height = 0;
  std::vector<ChainStep> steps;
};

struct Level {
  std::vector<Chain> chains;
};

struct PlanSegment {
  std::size_t first_level = 0, last_level = 0;  ///< the last one past
  bool suits_devices = true;
  std::vector<int> reads;  ///< pools that it shares with the segments before it
  std::int64_t multiply_adds = 0;
};

/// Immutable.
struct Plan {
  std::vector<Storage> storages;
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<Level> levels;
  std::vector<PlanSegment> segments;
  std::vector<std::int64_t> pool_floats;  ///< by pool: kFirstResultPool + n has the results of segment n
  std::vector<int> result_pools;          ///< that the network's outputs are in
  std::vector<std::pair<int, TensorType>> tensors;  ///< values with memory of their own
  std::vector<std::pair<int, int>> shared_tensors;  ///< values, and the storages that they lie in
  /// Nodes whose results have sizes that each frame decides, and all that read these: the last step runs them
  /// one by one, on the CPU.
  std::vector<const Node*> dynamic_nodes;
  std::int64_t zero_floats = 0, spare_floats = 0;
  std::size_t pointers = 0;
  std::int64_t bytes = 0;  ///< of a frame's memory, with one thread
};

/// Compiles a simplified graph, which must outlive the plan. Null where frames decide all sizes in it, it has
/// too many steps or needs more memory than the limit, or the processor has no fused multiply-adds.
std::unique_ptr<const Plan> make_plan(const Graph& graph, std::int64_t memory_limit);

/// Runs a plan on all threads of the calling TBB arena. Both must outlive it.
std::unique_ptr<Runner> make_plan_runner(const Graph& graph, const Plan& plan);

}  // namespace sightline::network
