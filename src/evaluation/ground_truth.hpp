#pragma once
/// Ground truth: boxes that people marked in images, read from common formats.

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
  int label = 0;        ///< class number in the file; 0 if the format has none
  double area = 0;      ///< square pixels of the object's outline; 0: those of its box
  bool counts_in_coco = false;  ///< though ignored, an object by COCO's rule, which leaves out crowds alone
  friend bool operator==(const TruthBox&, const TruthBox&) = default;
};

/// Properties of an image besides its boxes.
struct ImageFacts {
  Size size;         ///< pixels
  std::string path;  ///< path in the file, with folders
};

/// The marks of a set of images.
///
/// Only the images in `images` count as annotated: a missing image is not evaluated, while one with an empty
/// list contains no objects. Formats that cannot list an image without objects (MOT, box lists) need
/// `annotate` for those. Thread-safety: any number of readers; writers alone.
struct GroundTruth {
  /// Boxes by the name of an image file (without folders) or a frame's decimal number.
  std::map<std::string, std::vector<TruthBox>> images;
  /// Names of classes by TruthBox::label; classes without a name are missing.
  std::map<int, std::string> labels;
  /// Properties of images by their key in `images`; only from COCO files.
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
  /// Number of objects without the ignore flag in all images.
  std::int64_t positives() const;
  /// Whether a class has that name.
  bool has_label(const std::string& name) const;
  /// Leaves the boxes of one class; images that have none are empty from then on.
  /// Throws Error (usage) if no class has that name, with those there are.
  void keep_label(const std::string& name);
};

/// Reads MOTChallenge ground truth: `frame,id,x,y,width,height[,confidence,...]`, frames from 1; up to ten
/// columns. Confidence 0 means ignore. The eighth of up to nine columns is the class from 1: `labels.txt`
/// beside the file names it, or else MOT20's numbers do, whose distractors are ignored people. Columns after
/// it must be numbers and are not used. Frames with a row are annotated. Coordinates are taken as they stand,
/// that is from 0 as in our own MOT output; give `first_pixel` 1 for files that count pixels from 1. Throws
/// Error(input) with `file:line: reason`.
GroundTruth load_mot_truth(const std::filesystem::path& file, double first_pixel = 0);

/// Reads a list of boxes with an image's name first on every line, separated by spaces:
///   `name x1 y1 x2 y2` (the two corners), `name x1 y1 x2 y2 class` or `name x y width height error W H`
///   (error and the image's size unused).
/// The first line with a box decides which of them the file holds. A line with only a name is an annotated
/// image without objects. Names and classes with spaces are in double quotes. Classes are numbered from 0 as
/// they appear. Throws Error(input) with `file:line: reason`.
GroundTruth load_box_list(const std::filesystem::path& file);

/// Reads COCO's object annotations (JSON): `images`, `annotations` with their `bbox`, `categories`; other
/// data are ignored. All listed images count as annotated, crowds (`iscrowd`) as ignore regions, and
/// so what is marked `ignore` except by COCO's rule. A box's label is its category's id, its area that of the
/// annotation. Throws Error(input) with the file's name and
/// the wrong entry, and for images in different folders with the same name.
GroundTruth load_coco_truth(const std::filesystem::path& file);

/// Loads a COCO file if the name ends in `.json`, else a list of boxes.
GroundTruth load_marked_boxes(const std::filesystem::path& file);

/// YOLO's file for the boxes of an image: `folder/name.txt`.
std::filesystem::path yolo_file(const std::filesystem::path& folder, const std::string& image);

/// The names of classes alone, as `folder/classes.txt` lists them; none if it is not there. Throws
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
