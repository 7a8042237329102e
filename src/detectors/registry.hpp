#pragma once
/// Makes detectors of all families from configurations.

#include <memory>

#include "detection/detector.hpp"
#include "params/config.hpp"

namespace sightline {

class Family;

/// Makes the detector that section [detector] of a configuration describes; its key `family` names the
/// family. Sections [[detector.inside]] describe detectors of any family in the same way, which search inside
/// the boxes of the first; their key `part` = [left, top, right, bottom] limits the search to a part of the
/// box. A configuration has at most 16 detectors.
/// Throws Error (usage) for unknown families, sections and keys and for values out of range, Error (model)
/// where a model cannot be used. For the detector's stages on a device, see FrameProcessor::make_stages_on.
std::unique_ptr<Detector> make_detector(const Config& config);

/// Adds a family behind the others; does nothing if it is one of them. The caller makes sure that no other
/// thread uses the registry meanwhile.
/// @param family  must live as long as the program
void add_family(const Family& family);

namespace network {
/// Users' ONNX networks. Library sightline::network defines it; a program that links it adds the family.
const Family& family();
}  // namespace network

}  // namespace sightline
