#pragma once
/// Finds the fastest variant of every kernel on a device, and remembers it.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json_store.hpp"
#include "filterbank/opencl/stages.hpp"
#include "opencl/error.hpp"

namespace sightline::filterbank {

/// One variant of one stage's kernel, timed.
struct TuningTrial {
  std::string stage;
  std::string variant;       ///< for people: variant, widths, work-group
  double seconds = 0;        ///< a frame, the fastest of several; 0 where it did not run
  double multiply_adds = 0;  ///< that the method needs for the frame; 0 for stages bound by memory
  std::string failure;       ///< why it did not run
  bool exact = true;
  bool best = false;
};

/// Winners by device, driver and dictionary size, in one JSON file. A file that cannot be read counts as
/// empty. Thread-safety: `store` replaces the file in one step; the last of several processes wins.
class TuningDatabase {
 public:
  explicit TuningDatabase(std::filesystem::path file) : store_(std::move(file)) {}
  /// In the user's cache folder; empty (nothing is remembered) where there is none.
  static std::filesystem::path default_file();

  std::optional<KernelTuning> find(const opencl::DeviceInfo& device, int filters) const;
  /// Throws Error (failed) where the file cannot be written.
  void store(const opencl::DeviceInfo& device, int filters, const KernelTuning& tuning) const;
  const std::filesystem::path& file() const { return store_.file(); }

 private:
  JsonStore store_;
};

/// What one frame takes on a device, with a given tuning.
struct FrameTimes {
  struct Stage {
    std::string name;
    double seconds = 0;
  };
  std::vector<Stage> stages;  ///< upload, pyramid, ..., candidates: on the device's clock
  double device = 0;          ///< from the start of the upload to the end of the last kernel
  double host =
      0;  ///< from handing the frame over until its detections are there: transfers, grouping, waits
};

/// The fastest of `runs` runs (by the host's clock), after one to warm up.
FrameTimes time_frame(const FilterbankDetector& detector, const opencl::Context& context,
                      opencl::ProgramCache* cache, PictureView frame, const KernelTuning& tuning,
                      int runs = 20);

/// Times the variants of every stage on the given frame, one stage after the other, and returns the fastest
/// exact ones. Every variant's result is compared with the CPU's; one that differs and claims to be exact is
/// an Error (failed).
KernelTuning tune(const FilterbankDetector& detector, const opencl::Context& context,
                  opencl::ProgramCache* cache, PictureView frame,
                  const std::function<void(const TuningTrial&)>& report);

}  // namespace sightline::filterbank
