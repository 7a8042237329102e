#pragma once
/// The method as published, in floating point: the stages' inner loops on the CPU, each for one row of a
/// level. See Arithmetic and Descriptor. Thread-safety: rows of a level may be made by different threads at
/// once.

#include "detectors/filterbank/model.hpp"
#include "detectors/filterbank/workspace.hpp"

namespace sightline::filterbank {

namespace float_method {
void histogram_row(Level& level, const Model& model, int cell_y);
/// Term added to the sum of a block's histograms, in units of the float dictionary's responses.
float normalisation_epsilon(int epsilon);
/// Float features of one row of blocks.
void normalise_row(Level& level, const Model& model, int block_y);
/// The same rounded to eight bits, where and as the exact classifier wants them (layout.hpp).
void quantise_row(Level& level, const Model& model, int block_y);
void classify_row(Level& level, const Model& model, int window_y);
}  // namespace float_method

}  // namespace sightline::filterbank
