#pragma once
/// Pictures in which objects are marked, as commands that train take them.

#include <string>
#include <vector>

#include "evaluation/ground_truth.hpp"
#include "training/file_image_set.hpp"
#include "training/marked_objects.hpp"

namespace sightline::apps {

/// The pictures of several folders and lists, in their order. See training::FileImageSet.
/// @param paths   at least one
/// @param folder  where listed pictures are, if not beside their list
training::FileImageSet collect_pictures(const std::vector<std::string>& paths, const std::string& folder);

/// Throws Error (usage) where a file is among the pictures with the object and among those without it.
/// @param with, without  the options that name them
void refuse_shared_pictures(const training::FileImageSet& positives, const std::string& with,
                            const training::FileImageSet& negatives, const std::string& without);

/// Marks of all these files together; see load_marked_boxes.
/// @param label  of the objects, those of this class; empty: all
GroundTruth load_marks(const std::vector<std::string>& files, const std::string& label = {});

/// Message if no mark belongs to a picture: a name of each side, and the difference.
std::string unlike_names(const std::string& picture, const std::string& mark);

/// The objects that box lists or COCO files mark in the pictures, in the order of these.
/// @param lists     at least one; these and `label` as load_marks has them
/// @param of_which  are the pictures: the option that names them
/// Throws Error (input) where there is none, Error (usage) where no class has that name. Marked pictures that
/// are not there are counted in a warning.
std::vector<training::MarkedObject> marked_objects(const training::FileImageSet& pictures,
                                                   const std::vector<std::string>& lists,
                                                   const std::string& label, const std::string& of_which);

}  // namespace sightline::apps
