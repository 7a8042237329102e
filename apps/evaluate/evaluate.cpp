// `sightline evaluate`: how good a detector is, per window and per frame, and how several compare.
#include "apps/cli/commands.hpp"

namespace sightline::apps {

void add_evaluate(CLI::App& app, Common& common) {
  CLI::App& evaluate = add_command_group(app, "evaluate", "Measure the accuracy of a detector");
  add_evaluate_windows(evaluate, common);
  add_evaluate_frames(evaluate, common);
  add_evaluate_compare(evaluate, common);
  add_evaluate_landmarks(evaluate, common);
  add_evaluate_recognition(evaluate, common);
  add_evaluate_classes(evaluate, common);
  add_evaluate_texture(evaluate, common);
}

}  // namespace sightline::apps
