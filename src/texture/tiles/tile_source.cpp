#include "texture/tiles/tile_source.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.hpp"
#include "device/frame_image.hpp"

namespace sightline::pipeline {

class TileSource::Planes {
 public:
  /// @param most  that are kept
  Planes(std::size_t most, FrameMemory* memory) : most_(most), memory_(memory) { free_.reserve(most); }

  static Plane take(const std::shared_ptr<Planes>& planes, Size size) {
    std::unique_ptr<FrameImage> image = planes->take();
    image->resize(size);
    const std::shared_ptr<FrameImage> shared(image.release(), [planes](FrameImage* done) {
      planes->give_back(std::unique_ptr<FrameImage>(done));
    });
    return {shared, &shared->image()};
  }

 private:
  std::unique_ptr<FrameImage> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<FrameImage>(memory_);
    auto image = std::move(free_.back());
    free_.pop_back();
    return image;
  }
  void give_back(std::unique_ptr<FrameImage> image) noexcept {
    const std::lock_guard lock(mutex_);
    if (free_.size() < most_) free_.push_back(std::move(image));
  }

  const std::size_t most_;
  FrameMemory* const memory_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<FrameImage>> free_;
};

TileSource::TileSource(tiles::Picture& picture, const tiles::TileGrid& grid, TileSourceOptions options)
    : picture_(picture),
      grid_(grid),
      options_(std::move(options)),
      end_(std::min(grid_.count(), options_.first + options_.count.value_or(grid_.count()))),
      next_(options_.first),
      current_(options_.first) {
  const unsigned machine = std::max(1u, std::thread::hardware_concurrency());
  const auto threads = static_cast<std::size_t>(std::min<std::int64_t>(
      options_.threads > 0 ? options_.threads : machine, std::max<std::int64_t>(end_ - next_, 1)));
  window_.resize(2 * threads);
  planes_ = std::make_shared<Planes>((2 * window_.size() + 2) * options_.channels.size(), options_.memory);
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { read_tiles(); });
  } catch (const std::system_error&) {  // fewer do it as well
    if (threads_.empty()) throw;
  }
}

TileSource::~TileSource() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  room_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool TileSource::stopping() const {
  return ended_ || (options_.stop && *options_.stop);
}

void TileSource::read_tiles() {
  std::unique_lock lock(mutex_);
  const auto window = static_cast<std::int64_t>(window_.size());
  while (true) {
    room_.wait(lock, [&] { return ended_ || next_ >= end_ || next_ < current_ + window; });
    if (stopping() || next_ >= end_) return;
    const std::int64_t index = next_++;
    lock.unlock();
    Tile tile;
    try {
      read_tile(index, tile);
    } catch (...) {
      tile.error = std::current_exception();
    }
    tile.done = true;
    lock.lock();
    place_of(index) = std::move(tile);
    if (index == current_) done_.notify_all();
  }
}

void TileSource::read_tile(std::int64_t index, Tile& tile) {
  const tiles::Region region = grid_.with_halo(index);
  std::vector<ImageView<std::uint8_t>> views;
  for (std::size_t i = 0; i < options_.channels.size(); ++i) {
    tile.planes.push_back(Planes::take(planes_, {region.width, region.height}));
    views.push_back(tile.planes.back()->view());
  }
  tile.damage = tiles::read_with_border(picture_, region, grid_.border(), options_.channels, views);
  picture_.passed(region, 2 * grid_.halo());
}

// Whether there is one. Looks at `stop` now and then: a signal handler cannot wake it.
bool TileSource::wait_for_tile() {
  std::unique_lock lock(mutex_);
  if (current_ >= end_) return false;
  while (!stopping() && !place_of(current_).done) done_.wait_for(lock, std::chrono::milliseconds(20));
  return !stopping();
}

void TileSource::take_damage(Tile& tile) {
  for (tiles::Damage& one : tile.damage) {
    if (!damaged_places_.emplace(one.where.y, one.where.x).second) continue;
    if (options_.strict) {
      ended_ = true;
      throw Error(ExitCode::input, "'" + picture_.info().name + "' is damaged at " + tiles::to_string(one));
    }
    damage_.push_back(std::move(one));
  }
  tile.damage.clear();
}

std::optional<Frame> TileSource::read() {
  if (!wait_for_tile()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  Tile& tile = place_of(current_);
  if (tile.error) {
    ended_ = true;
    room_.notify_all();
    std::rethrow_exception(tile.error);
  }
  take_damage(tile);
  const auto channels = static_cast<std::int64_t>(options_.channels.size());
  const std::int64_t number = current_ * channels + static_cast<std::int64_t>(channel_) + 1;
  Frame frame = frame_of_gray(std::move(tile.planes[channel_]), number, static_cast<double>(number - 1));
  if (++channel_ == options_.channels.size()) {
    channel_ = 0;
    tile = {};
    ++current_;
    room_.notify_all();
  }
  return frame;
}

std::int64_t TileSource::decode_errors() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(damaged_places_.size());
}

std::optional<std::int64_t> TileSource::frames() const {
  return (end_ - options_.first) * static_cast<std::int64_t>(options_.channels.size());
}

std::vector<tiles::Damage> TileSource::damage() const {
  const std::lock_guard lock(mutex_);
  return damage_;
}

}  // namespace sightline::pipeline
