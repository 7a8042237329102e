#pragma once
/// A run of `detect` or `live` as a page.

#include <string>

#include "apps/common/engine.hpp"
#include "pipeline/runtime/pipeline.hpp"
#include "pipeline/runtime/run_history.hpp"

namespace sightline::apps {

/// What a page tells of a run.
struct RunOnPage {
  std::string input;    ///< what was searched, for people
  std::string model;    ///< with what
  std::string control;  ///< success of the objective (Controller::summary); may be empty
  pipeline::QualityObjective objective;
  pipeline::RunReport report;
  pipeline::RunHistory::Summary history;
};

/// Contents of the page of a run that has ended.
RunOnPage page_of(const std::string& input, const Engine& engine, const pipeline::Controller& controller,
                  const pipeline::RunReport& report, const pipeline::RunHistory& history);

/// A page of HTML that needs no other file: rate and setting over time, the frames by setting, stage times.
std::string run_page(const RunOnPage& run);

}  // namespace sightline::apps
