#pragma once
/// What the filter bank's benchmarks compute on where no model and no picture is at hand.

#include "detectors/filterbank/dictionary.hpp"
#include "image/pyramid.hpp"

namespace sightline::benchmarks {

/// Random filters, zero mean and unit length: the same ones each time, of which a smaller dictionary is the
/// beginning.
filterbank::Dictionary made_up_dictionary(int filters);

/// A frame with edges, texture and noise.
PaddedImage made_up_frame(Size size);

}  // namespace sightline::benchmarks
