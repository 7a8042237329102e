#pragma once
/// The TIFF reader of media.

#include "media/tiff_reader.hpp"

namespace sightline::tiles {

/// A reader of every kind of TIFF that open_tiff() takes. Lives for the whole program.
const media::TiffReader& tiff_reader();

}  // namespace sightline::tiles
