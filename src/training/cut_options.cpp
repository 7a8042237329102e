#include "training/cut_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace sightline {

void add_window_option(OptionSet& options, std::vector<int>& sides, Size shown_default) {
  options
      .add("--window WxH", &sides,
           "Width and height of the window in pixels, the size of the smallest object to find, such as 24x48")
      .separated_by('x')
      .show_default(fmt::format("{}x{}", shown_default.width, shown_default.height));
}

std::optional<Size> given_size(const std::string& parameter, const std::vector<int>& sides, int smallest,
                               int largest, const std::string& example) {
  if (sides.empty()) return std::nullopt;
  const auto fits = [&](int side) { return side >= smallest && side <= largest; };
  if (sides.size() != 2 || !std::ranges::all_of(sides, fits)) {
    throw Error(
        ExitCode::usage, option(parameter, fmt::format("{}", fmt::join(sides, "x"))) + " is not a size",
        fmt::format("give width and height from {} to {} pixels, such as {}", smallest, largest, example));
  }
  return Size{sides[0], sides[1]};
}

std::optional<Size> given_window(const std::vector<int>& sides, int smallest, int largest) {
  return given_size("window", sides, smallest, largest, "24x48");
}

void add_cut_options(OptionSet& options, training::CutOptions& o, double least_held_out) {
  options
      .add("--margin RATIO", &o.margin,
           "Margin of a positive picture around the object in its middle, relative to the object's sides")
      .between(0, 4)
      .show_default();
  options
      .add("--copies N", &o.copies,
           "Number of copies of each positive, slightly moved, turned, zoomed or mirrored")
      .between(0, 50)
      .show_default();
  options.add("--shift RATIO", &o.shift, "Maximum shift of a copy, relative to the object's sides")
      .between(0, 0.5)
      .show_default();
  options.add("--zoom RATIO", &o.zoom, "Maximum zoom of a copy, relative to its size")
      .between(0, 0.5)
      .show_default();
  options.add("--turn DEGREES", &o.turn, "Maximum rotation of a copy, in degrees")
      .between(0, 180)
      .show_default();
  options
      .add("--blur PX", &o.roughness.blur,
           "Maximum blur of a copy and of mirrored negatives, in pixels of the window (of the picture)")
      .between(0, 3)
      .show_default();
  options
      .add("--grain FACTOR", &o.roughness.grain,
           "Maximum noise of a copy and of mirrored negatives, relative to the picture's standard deviation")
      .between(0, 2)
      .show_default();
  options.add("--held-out SHARE", &o.held_out, "Share of the pictures held out to estimate thresholds")
      .between(least_held_out, 0.8)
      .show_default();
  options.add("--seed N", &o.seed, "Seed of all random choices; equal seeds give equal models")
      .show_default();
}

void add_search_options(OptionSet& options, training::WindowTrainingOptions& o, std::string windows) {
  options.add("--windows N", &o.negatives, std::move(windows)).between(100, 10'000'000).show_default();
  options.add("--scale-step RATIO", &o.scale_step, "Scale step of the search of negatives")
      .between(1.01, 4.0)
      .show_default();
  options
      .add("--false-positives SHARE", &o.false_positives,
           "Share of the held-out negative pictures with a false positive at the model's threshold")
      .between(0, 1)
      .show_default();
  options.add("--box-scale RATIO", &o.box_scale, "Sides of reported boxes, relative to the marked boxes")
      .between(0.25, 4)
      .show_default();
  options.add("--provenance NOTE", &o.provenance, "Note on the data, stored in the model").free_text();
}

}  // namespace sightline
