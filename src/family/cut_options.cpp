#include "family/cut_options.hpp"

#include <utility>

namespace sightline {

void add_cut_options(OptionSet& options, training::CutOptions& o) {
  options
      .add("--margin", &o.margin,
           "What a positive picture shows around the object in its middle, in parts of the object's sides")
      .between(0, 4)
      .show_default();
  options
      .add("--copies", &o.copies,
           "Copies of each positive to train on as well, a little moved, turned, zoomed or mirrored")
      .between(0, 50)
      .show_default();
  options.add("--shift", &o.shift, "Of a copy at most, in parts of the object's sides")
      .between(0, 0.5)
      .show_default();
  options.add("--zoom", &o.zoom, "Of a copy at most, in parts of its size").between(0, 0.5).show_default();
  options.add("--turn", &o.turn, "Of a copy at most, in degrees").between(0, 180).show_default();
  options.add("--held-out", &o.held_out, "Share of the pictures that thresholds are estimated on")
      .between(0.05, 0.8)
      .show_default();
  options.add("--seed", &o.seed, "Same seed, same model").show_default();
}

void add_search_options(OptionSet& options, training::WindowTrainingOptions& o, std::string windows) {
  options.add("--windows", &o.negatives, std::move(windows)).between(100, 10'000'000).show_default();
  options.add("--scale-step", &o.scale_step, "Scale step at which negatives are searched")
      .between(1.01, 4.0)
      .show_default();
  options
      .add("--false-positives", &o.false_positives,
           "Share of the held-out pictures without the object that have one at the model's threshold")
      .between(0, 1)
      .show_default();
  options
      .add("--box-scale", &o.box_scale,
           "Sides of the boxes that the model reports, in parts of those of the marked ones")
      .between(0.25, 4)
      .show_default();
  options.add("--provenance", &o.provenance, "A note on the data, kept in the model").free_text();
}

}  // namespace sightline
