#pragma once
/// What a training run keeps on disk so that it can be stopped and resumed: the dictionary, and which windows
/// were added as negatives. Features are computed again, which is cheap.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "filterbank/dictionary.hpp"

namespace sightline::filterbank {

/// One window of the pyramid over one negative picture.
struct WindowKey {
  std::uint32_t image = 0;
  std::uint16_t level = 0;
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  friend auto operator<=>(const WindowKey&, const WindowKey&) = default;
};

/// Thread-safety: one thread at a time. Writes are atomic (temporary name, then rename). A folder that was
/// made with another `signature` is ignored and overwritten.
class TrainingState {
 public:
  TrainingState(std::filesystem::path folder, std::string signature);

  std::optional<std::vector<FloatFilter>> dictionary() const;
  void save_dictionary(const std::vector<FloatFilter>& filters) const;

  /// The negatives of a finished step: 0 are the random ones, then one a round.
  std::optional<std::vector<WindowKey>> negatives(int step) const;
  void save_negatives(int step, const std::vector<WindowKey>& keys) const;

 private:
  std::filesystem::path file(const std::string& name) const { return folder_ / (name + ".safetensors"); }
  std::filesystem::path folder_;
  std::string signature_;
};

}  // namespace sightline::filterbank
