#pragma once
/// Pictures of found objects, for `detect`.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frame/stream_info.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::apps {

/// The folder for pictures of objects.
class CropFolder {
 public:
  /// Makes the folder. Throws Error (usage) if it contains files and `overwrite` is not set, or if it is a
  /// folder of an input; (failed) if it cannot be written.
  CropFolder(std::filesystem::path folder, const std::vector<std::string>& inputs, bool overwrite);

  /// A name for the pictures of a source, unlike that of every other source: its own without the extension,
  /// if possible.
  std::string name_for(const std::filesystem::path& source);
  /// Writes the part of a frame in a box as a PNG. Throws Error (failed) if it cannot be written.
  void write(const std::string& name, const Frame& picture, StreamInfo info);
  std::int64_t written() const { return written_; }
  const std::filesystem::path& path() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> names_;  ///< by source
  std::set<std::string> used_;
  std::int64_t written_ = 0;
};

/// Writes a picture of each object of one input: `NAME-FRAME-OBJECT.png`, of a picture `NAME-OBJECT.png`. Of
/// a track, only the one with the highest score, the first of equal ones: `NAME-TRACK.png`. The folder must
/// outlive it. Memory: a picture for each track that was seen in the last two minutes.
class CropSink : public pipeline::Sink {
 public:
  CropSink(CropFolder& folder, std::string source, StreamInfo info)
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
  void write_track(std::int64_t track, const Best& best);

  CropFolder& folder_;
  std::string source_;
  StreamInfo info_;
  std::map<std::int64_t, Best> tracks_;
};

}  // namespace sightline::apps
