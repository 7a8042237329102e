#pragma once
/// Storage of the marks of `sightline label`: a list of boxes, a COCO file, or a YOLO
/// folder.

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evaluation/truth_output.hpp"
#include "labelling/session.hpp"

namespace sightline::apps {

/// Writes marks whole to a file, or for YOLO a folder. Classes are numbered as the format has them.
/// Throws Error (failed; usage for names that the format cannot hold).
void write_truth(const std::filesystem::path& place, TruthFormat format, GroundTruth truth);

/// One place that is read once and then written again and again, only by this object. What stood there before
/// the first writing stays beside it, as `NAME~`. Thread-safety: one thread at a time.
class LabelStore {
 public:
  /// @param place  a file, or for YOLO a folder; need not be there
  /// Throws Error (failed) where it could not be written.
  LabelStore(std::filesystem::path place, TruthFormat format);
  /// One that is not written.
  static LabelStore to_read(std::filesystem::path place, TruthFormat format);

  /// All marks that are there, of YOLO none: see `find`. Throws Error (input).
  GroundTruth load();
  /// YOLO's boxes of one picture, in parts of its size; nothing where it has no file. Throws Error (input).
  std::optional<std::vector<TruthBox>> find(const std::string& picture) const;

  /// Writes what has changed, and tells the session. Throws Error (failed), and then nothing is lost: neither
  /// what is there nor what the session knows.
  void save(labelling::Session& session);
  /// Writes all marks to a file in the folder for temporary ones, and returns its name. Throws Error
  /// (failed).
  std::filesystem::path rescue(const GroundTruth& truth) const;

  const std::filesystem::path& place() const { return place_; }
  TruthFormat format() const { return format_; }
  bool is_yolo() const { return format_ == TruthFormat::yolo; }

 private:
  LabelStore() = default;
  void save_file(const GroundTruth& truth);
  void save_folder(const labelling::Session& session);
  void keep_former(const std::filesystem::path& file);

  std::filesystem::path place_;
  TruthFormat format_ = TruthFormat::boxes;
  std::optional<std::filesystem::file_time_type> written_;  // when the file was read or written last
  std::set<std::filesystem::path> kept_;                    // whose former contents are safe
};

}  // namespace sightline::apps
