#pragma once
/// Tiles of a picture as frames.

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include "device/frame_memory.hpp"
#include "frame/frame_source.hpp"
#include "texture/tiles/picture.hpp"
#include "texture/tiles/tile_grid.hpp"

namespace sightline::pipeline {

struct TileSourceOptions {
  std::vector<tiles::Channel> channels{tiles::Channel::luma};
  int threads = 0;  ///< reading and decoding threads; 0: all of the machine
  /// Memory for pixels while it has room; must outlive the source. May be null.
  FrameMemory* memory = nullptr;
  bool strict = false;                     ///< damage is an Error (input) of `read`, at its tile's turn
  std::int64_t first = 0;                  ///< tile to begin with
  std::optional<std::int64_t> count = {};  ///< tiles to read; none: all from `first` on
  const std::atomic<bool>* stop =
      nullptr;  ///< ends reading once it is set, within a tile's time; may be null
};

/// Reads tiles ahead on its own threads, with their halo filled by the grid's border rule. Each channel of a
/// tile is a gray frame: number 1 + tile * channels + channel. Reading ahead is bounded: two tiles a thread.
/// Thread-safety: `read` one thread at a time; the rest any thread.
class TileSource : public FrameSource {
 public:
  /// @param picture  must outlive it
  TileSource(tiles::Picture& picture, const tiles::TileGrid& grid, TileSourceOptions options = {});
  /// Waits for the tiles that are being read.
  ~TileSource() override;
  TileSource(const TileSource&) = delete;
  TileSource& operator=(const TileSource&) = delete;

  /// Throws Error (input) if the picture cannot be read any more, or is damaged and this is strict.
  std::optional<Frame> read() override;
  /// Damaged parts so far.
  std::int64_t decode_errors() const override;
  std::optional<std::int64_t> frames() const override;
  /// Damaged parts of the tiles that `read` has returned, each once, in the order of the tiles.
  std::vector<tiles::Damage> damage() const;

 private:
  using Plane = std::shared_ptr<Image<std::uint8_t>>;
  struct Tile {
    bool done = false;
    std::vector<Plane> planes;
    std::vector<tiles::Damage> damage;
    std::exception_ptr error;
  };
  /// Planes that frames have done with.
  class Planes;

  void read_tiles();
  void read_tile(std::int64_t index, Tile& tile);
  bool wait_for_tile();
  void take_damage(Tile& tile);
  bool stopping() const;
  Tile& place_of(std::int64_t index) { return window_[static_cast<std::size_t>(index) % window_.size()]; }

  tiles::Picture& picture_;
  const tiles::TileGrid grid_;
  const TileSourceOptions options_;
  const std::int64_t end_;  // tile behind the last one
  std::shared_ptr<Planes> planes_;

  mutable std::mutex mutex_;
  std::condition_variable room_, done_;
  bool ended_ = false;        // reading has ended
  std::int64_t next_;         // tile for the next free thread
  std::int64_t current_;      // tile that `read` is at
  std::vector<Tile> window_;  // tiles from `current_` on
  std::vector<tiles::Damage> damage_;
  std::set<std::tuple<std::int64_t, std::int64_t>> damaged_places_;

  std::size_t channel_ = 0;           // next channel of `read`
  std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace sightline::pipeline
