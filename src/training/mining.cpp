#include "training/mining.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace sightline::training {
namespace {

constexpr std::uint64_t kRandomWindowStream = 0x4E000000;

}  // namespace

std::vector<WindowKey> random_windows(const ImageSet& images, int per_image, std::uint64_t seed,
                                      const std::function<std::vector<Size>(GrayView)>& levels) {
  std::vector<WindowKey> windows;
  for (std::uint32_t i = 0; i < images.size(); ++i) {
    const Image<std::uint8_t> picture = images.load(i);
    const std::vector<Size> grids = levels(picture.view());
    if (grids.empty()) continue;
    Random random(seed, kRandomWindowStream + i);
    std::set<WindowKey> chosen;
    for (int n = 0; n < per_image; ++n) {
      const auto level = static_cast<std::uint16_t>(random.below(grids.size()));
      const auto draw = [&](int count) {
        return static_cast<std::uint16_t>(random.below(static_cast<std::uint64_t>(count)));
      };
      const std::uint16_t x = draw(grids[level].width);
      const std::uint16_t y = draw(grids[level].height);
      chosen.insert({i, level, x, y});
    }
    windows.insert(windows.end(), chosen.begin(), chosen.end());
  }
  return windows;
}

std::vector<WindowKey> HardWindows::take() {
  const std::size_t count = std::min(hard_.size(), limits_.per_image);
  const auto end = hard_.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(hard_.begin(), end, hard_.end());
  std::vector<WindowKey> windows;
  windows.reserve(count);
  for (auto hard = hard_.begin(); hard != end; ++hard) windows.push_back(hard->second);
  std::sort(windows.begin(), windows.end());
  return windows;
}

std::vector<std::span<const WindowKey>> windows_by_image(std::span<const WindowKey> windows,
                                                         std::size_t images) {
  std::vector<std::span<const WindowKey>> parts(images);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < images; ++i) {
    std::size_t end = begin;
    while (end < windows.size() && windows[end].image == i) ++end;
    parts[i] = windows.subspan(begin, end - begin);
    begin = end;
  }
  return parts;
}

std::optional<std::vector<WindowKey>> load_windows(const TrainingState& state, const std::string& step) {
  return state.load(step, [](const Safetensors& arrays) {
    const auto values = arrays.array<std::int32_t>("windows", {Safetensors::kAny, 4});
    std::vector<WindowKey> windows(values.size() / 4);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      windows[i] = {static_cast<std::uint32_t>(values[4 * i]), static_cast<std::uint16_t>(values[4 * i + 1]),
                    static_cast<std::uint16_t>(values[4 * i + 2]),
                    static_cast<std::uint16_t>(values[4 * i + 3])};
    }
    return windows;
  });
}

void save_windows(const TrainingState& state, const std::string& step, std::span<const WindowKey> windows) {
  std::vector<std::int32_t> values;
  values.reserve(4 * windows.size());
  for (const WindowKey& key : windows)
    values.insert(values.end(), {static_cast<std::int32_t>(key.image), key.level, key.x, key.y});
  Safetensors arrays;
  arrays.set<std::int32_t>("windows", {static_cast<std::int64_t>(windows.size()), 4}, values);
  state.save(step, std::move(arrays));
}

}  // namespace sightline::training
