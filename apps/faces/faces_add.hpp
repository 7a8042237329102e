#pragma once
/// Adding people and calibrating, with whoever finds faces.

#include <filesystem>
#include <string>
#include <vector>

#include "faces/gallery/calibration.hpp"
#include "faces/gallery/enrolment.hpp"
#include "faces/gallery/gallery.hpp"
#include "media/reader.hpp"

namespace sightline::apps {

struct AddFacesArguments {
  std::string name;
  std::vector<std::string> inputs;  ///< pictures, folders of them, videos, cameras
  std::filesystem::path gallery;    ///< made where it is not there
  gallery::FaceChoice choice;
  bool force = false;          ///< take doubtful faces, and those that are not like the person's others
  int most = 10;               ///< templates of the videos and cameras
  media::ReadOptions reading;  ///< of these
};

/// Adds faces of all inputs to somebody; says what was taken. What a single picture lacks is an Error
/// (input); of several, what is wrong with some is said, and an Error (input) where it is with all.
/// @return the exit code
int add_faces(AddFacesArguments arguments, gallery::FaceFinder& finder, int verbosity);

/// The same for a folder of people: each sub-folder holds the pictures of the person whose name it has. A
/// person of whom nothing can be added is named, and the others are added all the same.
/// @return 0, or 1 where somebody could not be added
int add_people(const AddFacesArguments& arguments, gallery::FaceFinder& finder, int verbosity);

/// Whether no face of one person is as near to a face of the other as faces of one person are.
bool are_unlike(const gallery::Snapshot& known, const std::string& one, const std::string& other,
                const gallery::FaceFinder& finder);

/// Finds a threshold, keeps it in the gallery and prints how sure it is.
int calibrate_gallery(const std::filesystem::path& gallery, const gallery::FaceFinder& finder, double rate);
/// @param finder  that the gallery's templates are from
std::string calibration_text(const gallery::Calibration& calibration, const gallery::FaceFinder& finder);

}  // namespace sightline::apps
