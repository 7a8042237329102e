#pragma once
/// Options of trainers that cut objects out of pictures as training/window_samples.hpp does.

#include <string>

#include "base/options.hpp"
#include "training/window_samples.hpp"

namespace sightline {

/// Adds --margin, --copies, --shift, --zoom, --turn, --held-out and --seed. `values` must outlive the
/// parsing.
void add_cut_options(OptionSet& options, training::CutOptions& values);

/// Adds --windows, --scale-step, --false-positives, --box-scale and --provenance, likewise.
/// @param windows  what --windows means
void add_search_options(OptionSet& options, training::WindowTrainingOptions& values, std::string windows);

}  // namespace sightline
