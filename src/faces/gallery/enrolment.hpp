#pragma once
/// Selection of faces from pictures and videos as a person's templates.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "faces/gallery/face_finder.hpp"

namespace sightline::gallery {

/// Choice of a face in a picture that shows several.
struct FaceChoice {
  bool largest = false;
  int number = 0;  ///< from left to right, from 1; 0: unset
};

/// The face of a picture that is meant, or why there is none.
struct ChosenFace {
  std::optional<std::size_t> face = {};  ///< an index into the faces
  std::string problem = {};              ///< "5 faces are found"
  Message remedy = {};
  bool is_doubtful = false;  ///< the faces that may be meant have too low a quality
};

/// Why a face is doubtful: "confidence 21%, below 60%"; empty if its quality is high enough.
std::string doubt_about(const FaceTemplate& face, const FaceQuality& least);

/// Faces are numbered by the middle of their box, from left to right, then from top to bottom. Doubtful ones
/// are numbered, too, but not chosen.
ChosenFace choose_face(const std::vector<FaceTemplate>& faces, const FaceChoice& choice,
                       const FaceQuality& least = {});

/// A face that may become a template, and where it is from.
struct Candidate {
  FaceTemplate face;
  std::string source;
};

/// Keeps some of the faces of a video of any length: the sharpest of each of at most 256 stretches of equal
/// length. Thread-safety: none.
class Stretches {
 public:
  static constexpr std::size_t kMost = 256;

  void add(Candidate candidate);
  /// The kept candidates in order of arrival.
  std::vector<Candidate> take();

 private:
  std::vector<Candidate> kept_;  // the last one's stretch may not be over
  std::size_t length_ = 1;       // faces in a stretch
  std::size_t seen_ = 0;         // frames of the last stretch
};

/// Selected and rejected candidates.
struct Selection {
  std::vector<std::size_t> taken;  ///< indices, rising
  std::size_t blurred = 0;         ///< left out, for these reasons
  std::size_t others = 0;
  std::size_t alike = 0;
};

/// Distance below which two pictures of a person are redundant: a quarter of the distance with a false-match
/// rate of 1 in 1000 pairs. 0 if the model does not know it: then only equal templates are redundant.
std::int64_t alike_distance(const FaceFinder& finder);

/// Pictures that most likely show the same person, and the others.
struct Likeness {
  std::vector<std::size_t> like, unlike;  ///< indices, rising
  bool is_certain = true;  ///< false: two pictures differ, and nothing says which of them is the person's
};

/// The share of strangers that one picture's likeness to all others lets pass.
inline constexpr double kStrangersAlike = 0.3;

/// Links pictures that are nearer to each other than a stranger's would be to any of them (the distance that
/// a share of kStrangersAlike / others of strangers reaches), and keeps those that are linked with a known
/// one, directly or through others; where none is known, the largest group, of equal ones the first. Keeps
/// all where there are fewer than three with the known ones, or the model knows nothing of strangers.
Likeness sort_by_likeness(const std::vector<Candidate>& candidates,
                          const std::vector<std::vector<std::uint8_t>>& known, const FaceFinder& finder);

/// Selects from pictures chosen by the user: all except those that resemble a known or selected one.
/// @param known  templates of the person so far
Selection select_pictures(const std::vector<Candidate>& candidates,
                          const std::vector<std::vector<std::uint8_t>>& known, const FaceFinder& finder);

/// Selects different sharp frames from a video of one person:
/// - rejects candidates nearer to another person than to the medoid (the candidate with the least distance to
///   all others): passers-by and non-faces;
/// - rejects the blurrier half;
/// - from the rest, selects the sharpest, then repeatedly the one that differs most from all known or
///   selected ones, until `most` are selected or the others are redundant.
/// Ties go to the first.
Selection select_frames(const std::vector<Candidate>& candidates,
                        const std::vector<std::vector<std::uint8_t>>& known, const FaceFinder& finder,
                        std::size_t most);

}  // namespace sightline::gallery
