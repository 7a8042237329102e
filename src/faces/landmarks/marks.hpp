#pragma once
/// Faces with marked points, for training and evaluation of landmarks.

#include <filesystem>
#include <string>
#include <vector>

#include "faces/landmarks/finder.hpp"
#include "image/box.hpp"
#include "training/file_image_set.hpp"

namespace sightline::landmarks {

/// A face in a picture.
struct MarkedFace {
  std::string picture;  ///< file name, with or without its ending
  std::string part;     ///< part of the collection: "train", "test"
  Box box;              ///< pixels of the frame
  Points points;        ///< pixels of the frame
};

/// Reads lines `picture part left top right bottom` and five points `x y`, in the order of kPointNames. Whole
/// numbers of points are the middles of pixels, as most programs for marking have it; of boxes, edges.
/// Throws Error (input): the file, the line and the reason.
std::vector<MarkedFace> load_marked_faces(const std::filesystem::path& file);

/// Faces of one part, in order. Throws Error (input) with the file if there are none.
std::vector<MarkedFace> faces_of_part(std::vector<MarkedFace> faces, const std::string& part,
                                      const std::filesystem::path& file);

/// The picture of each face, in their order. Throws Error (input) if one is not in the folder.
training::FileImageSet pictures_of(const std::vector<MarkedFace>& faces, const std::filesystem::path& folder);

}  // namespace sightline::landmarks
