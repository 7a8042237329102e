#pragma once
/// Options of trainers that cut objects out of pictures as training/window_samples.hpp does.

#include <optional>
#include <string>
#include <vector>

#include "params/options.hpp"
#include "training/window_samples.hpp"

namespace sightline {

/// Adds --window, which is given as 24x48: its sides go to `sides`, which must outlive the parsing.
void add_window_option(OptionSet& options, std::vector<int>& sides, Size shown_default);
/// A size that an option separated by 'x' was given as, as in the example; none if nothing was. Throws
/// Error (usage) where it is no size, or a side is out of range.
std::optional<Size> given_size(const std::string& parameter, const std::vector<int>& sides, int smallest,
                               int largest, const std::string& example);
/// The given window size, if any. Throws Error (usage) if it is no size, or a side is out of range.
std::optional<Size> given_window(const std::vector<int>& sides, int smallest, int largest);

/// Adds --margin, --copies, --shift, --zoom, --turn, --blur, --grain, --held-out and --seed. `values` must
/// outlive the parsing.
/// @param least_held_out  lowest --held-out
void add_cut_options(OptionSet& options, training::CutOptions& values, double least_held_out = 0.05);

/// Adds --windows, --scale-step, --false-positives, --box-scale and --provenance, likewise.
/// @param windows  what --windows means
void add_search_options(OptionSet& options, training::WindowTrainingOptions& values, std::string windows);

}  // namespace sightline
