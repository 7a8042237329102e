#pragma once
/// Files of frames and pictures of found objects, for `detect`.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frame/stream_info.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::apps {

/// A folder with a file for each frame, or more.
class FrameFolder {
 public:
  /// Makes the folder. Throws Error (usage) if it contains files and `overwrite` is not set, or if it is a
  /// folder of an input; (failed) if it cannot be written.
  /// @param option  that names the folder, for messages
  FrameFolder(std::filesystem::path folder, const std::string& option, const std::vector<std::string>& inputs,
              bool overwrite);

  /// A name for the files of a source, unlike that of every other source: its own without the extension, if
  /// possible.
  std::string name_for(const std::filesystem::path& source);
  /// A name for the files of a frame: `NAME-000012`, of a picture `NAME`.
  std::string name_for(const FrameResult& result, const std::string& source, bool is_picture);
  /// The path of a new file, which is counted.
  std::filesystem::path add(const std::string& file);
  std::int64_t files() const { return files_; }

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> names_;  ///< by source
  std::set<std::string> used_;
  std::int64_t files_ = 0;
};

/// Writes a picture of each object of one input: `NAME-FRAME-OBJECT.png`, of a picture `NAME-OBJECT.png`. Of
/// a track, only the one with the highest score, the first of equal ones: `NAME-TRACK.png`. The folder must
/// outlive it. Memory: a picture for each track that was seen in the last two minutes.
class CropSink : public pipeline::Sink {
 public:
  CropSink(FrameFolder& folder, std::string source, StreamInfo info)
      : folder_(folder), source_(std::move(source)), info_(std::move(info)) {
    if (!info_.is_pictures) folder_.name_for(source_);  // now, in the order of the inputs
  }
  void accept(const Frame& frame, const FrameResult& result) override;
  /// Writes the tracks that have not ended.
  void finish();

 private:
  struct Best {
    double score = 0;
    double seen = 0;  ///< time in seconds
    Frame picture;
  };
  /// Writes a picture as a PNG. Throws Error (failed) if it cannot be written.
  void write(const std::string& name, const Frame& picture);
  void write_track(std::int64_t track, const Best& best);

  FrameFolder& folder_;
  std::string source_;
  StreamInfo info_;
  std::map<std::int64_t, Best> tracks_;
};

/// The objects of a frame in the format of YOLO: a line `class x y width height score` for each, and `track`
/// if it has one. x and y are the box's centre; all four are shares of the frame's sides, with 6 decimals.
/// Boxes are clipped to the frame, and those outside are left out.
std::string yolo_labels(const FrameResult& result);

/// Writes a label file for each searched frame of one input: `NAME-FRAME.txt`, of a picture `NAME.txt`.
/// It is empty if nothing was found. The folder must outlive it.
class LabelSink : public pipeline::Sink {
 public:
  LabelSink(FrameFolder& folder, std::string source, bool is_pictures)
      : folder_(folder), source_(std::move(source)), is_pictures_(is_pictures) {
    if (!is_pictures_) folder_.name_for(source_);  // now, in the order of the inputs
  }
  void accept(const Frame& frame, const FrameResult& result) override;

 private:
  FrameFolder& folder_;
  std::string source_;
  bool is_pictures_;
};

/// Writes `classes.txt`, a label a line. Throws Error (failed).
void write_classes(FrameFolder& folder, const std::vector<std::string>& labels);

}  // namespace sightline::apps
