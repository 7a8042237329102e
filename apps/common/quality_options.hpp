#pragma once
/// Options of the quality controller, which changes a detector's setting during a run, and texts on the
/// settings.

#include <string>
#include <vector>

#include "family/family.hpp"
#include "params/options.hpp"
#include "pipeline/planning/quality_objective.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::apps {

/// --settings, --hold, --budget, --battery and --power-log.
void add_quality_options(OptionSet& options, pipeline::QualityRequest& request);

/// "filters=100; filters=50; filters=25,scale_step=1.2": settings separated by semicolons, what each changes
/// by commas; one without changes is the configuration as it is. Throws Error (usage).
std::vector<OperatingPointChanges> parse_settings(const std::string& text);

/// A table of a processor's settings with what is known of their accuracy; empty where there is one.
std::string settings_table(const FrameProcessor& processor);

/// Accuracy lost by changing operating points, from the stored evaluations of those that searched frames:
/// one sentence. Empty where they do not.
std::string accuracy_text(const pipeline::RunReport& report);

/// The share of the frames that each setting searched, and that sentence, a line each; empty where there is
/// one setting.
std::string settings_text(const pipeline::RunReport& report);

}  // namespace sightline::apps
