#include "family/cut_options.hpp"

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

}  // namespace sightline
