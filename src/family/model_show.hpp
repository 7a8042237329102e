#pragma once
/// Description of a family's models, for `model show`.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "image/picture_view.hpp"
#include "params/options.hpp"

namespace sightline {

class ComputeDevice;

/// An open device and its measured rate.
struct MeasuredDevice {
  std::shared_ptr<ComputeDevice> device;
  double multiply_adds = 0;  ///< float multiply-adds a second, measured
};

/// A file to download, and what it must be.
struct DownloadRequest {
  std::string name;  ///< for messages
  std::string url;   ///< HTTPS, or HTTP where `may_be_plain`
  std::uint64_t bytes = 0;
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  bool may_be_plain = false;
};

/// Options of a command for the description of a model.
struct ShowContext {
  std::optional<int> max_model_size;  ///< MiB of the largest file that is taken; none: the family's limit
  std::function<void(std::string_view)> print;
  /// Calls `each` with every picture of a file or a folder. Throws Error (input), and Error (failed) where
  /// the user has asked to stop.
  std::function<void(const std::string& path, const std::function<void(PictureView)>& each)> pictures;
  /// Measures float multiply-adds a second of all the CPU's threads.
  std::function<double()> peak_multiply_adds;
  /// Opens the device of option --device, and measures it. Throws Error (usage, device).
  std::function<MeasuredDevice(const std::string& name)> device;
  /// Downloads a file, with a progress line (media/download.hpp).
  std::function<void(const DownloadRequest& request, const std::filesystem::path& file)> download;
  /// SHA-256 of a file's content, as 64 lower-case hexadecimal digits. Throws Error (input).
  std::function<std::string(const std::filesystem::path& file)> sha256_of;
};

/// Describes models: `model show`. The values of its options go into the object itself, so that one object
/// serves one command. Thread-safety: one thread at a time.
class ModelShow {
 public:
  virtual ~ModelShow() = default;
  virtual OptionSet options() { return {}; }
  /// @param model  a file, or a name that the family knows
  /// Throws Error (usage, model, input).
  virtual void show(const std::string& model, const ShowContext& context) = 0;
};

}  // namespace sightline
