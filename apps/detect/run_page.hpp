#pragma once
/// A run of `detect` or `live` as a page.

#include <string>

#include "apps/common/engine.hpp"
#include "pipeline/runtime/pipeline.hpp"
#include "pipeline/runtime/run_history.hpp"

namespace sightline::apps {

/// A page of HTML that needs no other file, of a run that has ended: rate and setting over time, the frames
/// by setting, stage times.
/// @param input  name of the input, for people
std::string run_page(const std::string& input, const Engine& engine, const pipeline::Controller& controller,
                     const pipeline::RunReport& report, const pipeline::RunHistory& history);

}  // namespace sightline::apps
