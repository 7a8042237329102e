#pragma once
/// Internal to src/tiles: decoded parts of a picture, shared by its readers.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "image/view.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::tiles {

/// Unit of decoding. `samples` bytes a pixel, rows without gaps: 1 is gray or luma, 3 are red, green and
/// blue.
struct Block {
  Size size;
  int samples = 1;
  AlignedBuffer<std::uint8_t> pixels;
  std::vector<Damage> damage;

  void resize(Size wanted, int wanted_samples);
  std::size_t row_bytes() const { return static_cast<std::size_t>(size.width) * samples; }
  const std::uint8_t* at(int x, int y) const {
    return pixels.data() + y * row_bytes() + static_cast<std::size_t>(x) * samples;
  }
};

/// Blocks by a key, up to a number of bytes; those that were used last stay. Thread-safety: any thread.
class BlockCache {
 public:
  explicit BlockCache(std::size_t bytes);

  /// The block, made by `decode` if it is missing. Other requests for the same block wait for it. Throws what
  /// `decode` throws.
  std::shared_ptr<const Block> get(std::int64_t key, const std::function<void(Block&)>& decode);
  /// The block will hardly be asked for again: such go first.
  void spent(std::int64_t key);

 private:
  /// Reused memory of earlier blocks: allocating it costs as much time as a fast decoder.
  class Memory;
  struct Entry {
    std::shared_ptr<const Block> block;  // null while it is made
    std::list<std::int64_t>::iterator place;
    bool spent = false;
  };
  void shrink();
  void drop_first(std::list<std::int64_t>& keys);

  const std::size_t limit_;
  const std::size_t spent_limit_;
  std::shared_ptr<Memory> memory_;
  std::mutex mutex_;
  std::condition_variable made_;
  std::unordered_map<std::int64_t, Entry> entries_;
  std::list<std::int64_t> kept_, spent_;  // the first go first
  std::size_t bytes_ = 0, spent_bytes_ = 0;
};

}  // namespace sightline::tiles
