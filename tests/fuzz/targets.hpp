#pragma once
/// What is fuzzed: each target reads bytes as Sightline reads files of strangers. Whatever they are, it takes
/// them or refuses them with the error that is meant for that; anything else is a finding.

#include <cstdint>
#include <span>

namespace sightline::fuzz {

using Bytes = std::span<const std::uint8_t>;

/// OpenCV's cascade XML; what is taken searches a small picture.
void cascade(Bytes bytes);
/// WaldBoost classifiers, as XML and as Sightline's own; what is taken looks at a window and is described.
void waldboost(Bytes bytes);
/// Census cascades; what is taken looks at a window.
void census(Bytes bytes);
/// Users' networks (ONNX); what is taken and small looks at a picture.
void network(Bytes bytes);
/// Models of landmarks; what is taken looks at a patch.
void landmarks(Bytes bytes);
/// Models of recognition; what is taken describes a crop.
void recognition(Bytes bytes);
/// Models of the filter-bank detector.
void model(Bytes bytes);
/// Galleries of faces; what is taken is read wholly, and somebody is added and deleted.
void gallery(Bytes bytes);
/// TIFF files; of what is taken, the corners are decoded.
void tiles(Bytes bytes);
/// Pipeline files.
void config(Bytes bytes);
/// Ground truth, read as all of its formats.
void truth(Bytes bytes);
/// Results of `sightline texture`; what is taken is written, read again and compared.
void textures(Bytes bytes);
/// Characteristics of processors; what is taken is written, read again and compared.
void processors(Bytes bytes);
/// Files of the user's cache folder, which later versions and other programs may have written: energies of
/// stages, characteristics, tuned kernels. What is taken predicts a frame's energy.
void kept(Bytes bytes);
/// Logs of external power meters; what is taken is added up.
void power_log(Bytes bytes);
/// What `--settings` lists; each value is read as every kind there is.
void settings(Bytes bytes);
/// Command lines, a word on each line: parsed, explained where they are wrong, and completed; what they ask
/// for is not run.
void command_line(Bytes bytes);

}  // namespace sightline::fuzz
