#pragma once
/// What people marked in images: read from the formats in which such marks are passed around.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "image/box.hpp"
#include "image/view.hpp"

namespace sightline {

/// One marked object.
struct TruthBox {
  Box box;              ///< pixels, origin 0,0 at the top left
  bool ignore = false;  ///< neither to be found nor wrong to be found: a crowd, a drawing, an unclear case
  int label = 0;        ///< class number in the file; 0 where the format has none
  friend bool operator==(const TruthBox&, const TruthBox&) = default;
};

/// What a file says of an image besides its boxes.
struct ImageFacts {
  Size size;         ///< pixels
  std::string path;  ///< as the file has it, with folders
};

/// The marks of a set of images.
///
/// Only the images in `images` count as annotated: an image that is not there says nothing about a detector,
/// while one with an empty list says that nothing is to be found. Formats that cannot list an image without
/// objects (MOT, box lists) need `annotate` for those. Thread-safety: any number of readers; writers alone.
struct GroundTruth {
  /// By the name of an image file (without folders) or a frame's number in decimal.
  std::map<std::string, std::vector<TruthBox>> images;
  /// Names of classes by TruthBox::label; what has no name is not there.
  std::map<int, std::string> labels;
  /// Of images by their key in `images`; of COCO files alone.
  std::map<std::string, ImageFacts> facts;

  /// Declares an image annotated; keeps the boxes it has.
  void annotate(const std::string& name) { images.try_emplace(name); }
  void annotate(std::int64_t frame) { annotate(std::to_string(frame)); }
  /// The boxes of an image, or nullptr where it is not annotated. Owned by this object.
  const std::vector<TruthBox>* find(const std::string& name) const;
  const std::vector<TruthBox>* find(std::int64_t frame) const { return find(std::to_string(frame)); }
  /// Adds what another file marks: an image that both have gets the boxes of both. Names of classes and facts
  /// that are here stay.
  void add(GroundTruth other);
  /// Objects that are to be found, over all images: those without the ignore flag.
  std::int64_t positives() const;
  /// Leaves the boxes of one class; images that have none are empty from then on.
  /// Throws Error (usage) where no class has that name, with those there are.
  void keep_label(const std::string& name);
};

/// Reads MOTChallenge ground truth: `frame,id,x,y,width,height[,confidence,...]`, frames from 1; up to ten
/// columns. Confidence 0 means ignore; columns after it must be numbers and are not used. Frames with a row
/// are annotated. Coordinates are taken as they stand, that is from 0 as in our own MOT output; give
/// `first_pixel` 1 for files that count pixels from 1. Throws Error(input) with `file:line: reason`.
GroundTruth load_mot_truth(const std::filesystem::path& file, double first_pixel = 0);

/// Reads a list of boxes with an image's name first on every line, separated by spaces:
///   `name x1 y1 x2 y2` (the two corners), `name x1 y1 x2 y2 class` or `name x y width height error W H`
///   (error and the image's size unused).
/// The first line with a box decides which of them the file holds. A line of a name alone says that the
/// image is annotated and empty. A name or a class with spaces stands in double quotes. Classes are numbered
/// from 0 as they appear. Throws Error(input) with `file:line: reason`.
GroundTruth load_box_list(const std::filesystem::path& file);

/// Reads COCO's object annotations (JSON): `images`, `annotations` with their `bbox`, `categories`; all else
/// is left aside. All images that are listed are annotated, crowds (`iscrowd`) are to be ignored, and a box's
/// label is its category's id. Throws Error(input) with the file's name and which entry is wrong, also where
/// two images in different folders have one name.
GroundTruth load_coco_truth(const std::filesystem::path& file);

/// A COCO file where the name ends in `.json`, else a list of boxes.
GroundTruth load_marked_boxes(const std::filesystem::path& file);

/// Where YOLO has the boxes of an image: `folder/name.txt`.
std::filesystem::path yolo_file(const std::filesystem::path& folder, const std::string& image);

/// The names of classes alone, as `folder/classes.txt` lists them; none where it is not there. Throws
/// Error(input).
GroundTruth load_yolo_classes(const std::filesystem::path& folder);

/// Reads YOLO label files: for an image `name.ext` the file `folder/name.txt` with lines `class cx cy width
/// height`, in parts of the image's size. Classes have the names that `folder/classes.txt` lists, where it is
/// there.
/// @param images  sizes of the images by name; one without a label file is not annotated, one with an empty
/// file
///                is annotated and empty
/// Throws Error(input) with `file:line: reason`, or where not one image has a label file.
GroundTruth load_yolo_truth(const std::filesystem::path& folder, const std::map<std::string, Size>& images);

}  // namespace sightline
