#pragma once
/// Engines of this program: a detector as an engine, and what the program adds to every engine's runs:
/// meters, results of `sightline devices --characterise`, texts.

#include <filesystem>
#include <functional>
#include <memory>
#include <set>

#include "detection/detector.hpp"
#include "pipeline/planning/engine.hpp"
#include "pipeline/planning/quality_objective.hpp"

namespace sightline::apps {

/// A detector that is ready to run, as the command line and the configuration ask for it.
struct DetectorEngine : pipeline::Engine {
  pipeline::QualityRequest quality;
  std::set<std::filesystem::path> files;  ///< files that the results depend on (Config::files)

  const Detector& detector() const { return static_cast<const Detector&>(*processor); }
};

/// The pipeline of an engine, with the program's meters and stored results; tells the user what plans weighed
/// where the engine is to explain them. Throws as EnginePipeline, and Error (usage) where a goal is asked for
/// what cannot be had here: before a run replaces anybody's files.
/// @param engine  must outlive the pipeline
pipeline::EnginePipeline make_pipeline(const pipeline::Engine& engine,
                                       const pipeline::QualityRequest& quality = {});
/// The same with a schedule to begin with.
/// @param source_rate  see ControllerOptions
pipeline::EnginePipeline make_pipeline(const pipeline::Engine& engine,
                                       const pipeline::QualityRequest& quality,
                                       const pipeline::Schedule& first, std::function<double()> source_rate);

/// Tells the user in a line what runs: threads and schedule. Details, such as the build, are logged as debug.
void describe_engine(const pipeline::Engine& engine, const pipeline::Pipeline& pipeline);
/// The same, and what is searched for.
void describe_engine(const DetectorEngine& engine, const pipeline::Pipeline& pipeline);

}  // namespace sightline::apps
