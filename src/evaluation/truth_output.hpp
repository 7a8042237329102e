#pragma once
/// Writes what people marked in images in the formats that `load_box_list`, `load_coco_truth` and
/// `load_yolo_truth` read (evaluation/ground_truth.hpp). Files have their names once they are whole.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "evaluation/ground_truth.hpp"

namespace sightline {

enum class TruthFormat { boxes, yolo, coco };

/// "boxes", "yolo" or "coco".
const char* to_string(TruthFormat format);
/// Throws Error (usage) for other names.
TruthFormat parse_truth_format(const std::string& name);
/// COCO for a name that ends in `.json`, YOLO for a folder (or a name that ends with a slash), else a list of
/// boxes.
TruthFormat guess_truth_format(const std::filesystem::path& path);

/// Gives every class that boxes have a name, so that none is lost: `class 3`, where it had none. Boxes that
/// all have class 0 and no name stay without.
void name_labels(GroundTruth& truth);

/// A field of a list of boxes: in double quotes if it contains blanks, which separate fields. It must not
/// contain double quotes.
std::string quoted_field(const std::string& text);

/// The text of a list of boxes, with classes where these have names. An image without boxes is a line with
/// only its name. Ignore regions are left out, since the format lacks them. Throws Error (usage) for a name
/// that the format cannot store.
std::string as_box_list(const GroundTruth& truth);

/// The text of a COCO file. Categories have their labels as ids, one higher where one is 0, which COCO
/// does not use; images are numbered from 1, by name. Classes without a name are called `object`.
/// The sizes of images are those of `facts`.
std::string as_coco(const GroundTruth& truth);

/// The text of a YOLO label file: boxes relative to the image. Boxes are clipped to the image; boxes outside
/// and ignore regions are left out.
std::string as_yolo(const std::vector<TruthBox>& boxes, Size image, const std::map<int, int>& numbers);
/// Class numbers by label: the labels themselves if one is 0 and none is very high, else 0, 1, ... in their
/// order.
std::map<int, int> yolo_numbers(const GroundTruth& truth);
/// The text of `classes.txt`, for classes with such numbers; empty if they have no names.
std::string as_yolo_classes(const GroundTruth& truth, const std::map<int, int>& numbers);

/// Description of the content that a format cannot store: "2 boxes to be ignored"; empty if it holds all.
std::string lost_in(TruthFormat format, const GroundTruth& truth);

}  // namespace sightline
