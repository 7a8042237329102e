#pragma once
/// A detector that calls and streams of any threads share.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/bindings/c/image.hpp"
#include "apps/bindings/c/result.hpp"
#include "apps/common/toml_options.hpp"
#include "detection/detector.hpp"
#include "pipeline/planning/engine.hpp"

namespace sightline::api {

/// The engine of a detector that sl_detector_open opens.
struct OpenedDetector {
  pipeline::Engine engine;
  std::string fingerprint;  ///< of models and settings

  const Detector& detector() const { return static_cast<const Detector&>(*engine.processor); }
};

/// Reads configurations and models, and opens devices. Throws Error as make_detector and
/// pipeline::make_devices do, and Error (usage) for options that the detector does not read.
/// @param what  a configuration, a model, or several with commas; empty: the option `model` names one
OpenedDetector open_detector(const std::string& what, const apps::TomlOptions& options);

/// A detector with one session for all searches and streams. Thread-safety: any thread.
class SharedDetector {
 public:
  explicit SharedDetector(OpenedDetector opened);

  const Detector& detector() const { return opened_.detector(); }
  const std::shared_ptr<const DetectorFacts>& facts() const { return facts_; }
  const std::string& fingerprint() const { return opened_.fingerprint; }
  std::string explanation() const;
  /// Stream::tiles of all searches.
  const std::optional<TileOptions>& tiles() const { return opened_.engine.tiles; }

  /// Results of all images, in order. Throws CallError if an image cannot be searched.
  std::vector<ResultPtr> search(const Images& images);

  /// Chooses the schedule, at the first call, as the program does for a run over such frames: measures where
  /// the user asks for that, or the run is long, and nothing is remembered. Later calls do nothing.
  /// @param frames  of one size; may be empty
  /// @param total   frames to come; none: unknown
  void choose_schedule(const std::vector<Frame>& frames, std::optional<std::int64_t> total);
  /// Whether `choose_schedule` has still something to do.
  bool measures_schedules() const;

  pipeline::Session& session() { return pipeline_.pipeline().session(); }
  pipeline::ProgramId program() const { return pipeline_.pipeline().program(); }
  pipeline::Schedule schedule() const { return pipeline_.pipeline().schedule(); }

 private:
  OpenedDetector opened_;
  std::shared_ptr<const DetectorFacts> facts_;
  pipeline::EnginePipeline pipeline_;
  std::once_flag chosen_;
  std::atomic<bool> is_chosen_{false};
  std::atomic<std::int64_t> converted_{0};  ///< images of 16 bits
};

}  // namespace sightline::api

struct sl_detector {
  std::shared_ptr<sightline::api::SharedDetector> shared;
};
