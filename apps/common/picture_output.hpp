#pragma once
/// Pictures in, annotated pictures of the same names out.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pipeline/session/sinks.hpp"

namespace sightline::apps {

/// Whether a name is, by its extension, that of a single picture.
bool is_picture(const std::filesystem::path& file);

/// The name that the annotated picture of a source picture gets: its own, or with ".png" in place of its
/// extension where its type cannot be written with boxes in colour.
std::string annotated_name(const std::string& name);

/// Output file for each picture: the file itself, or for the pictures of a folder their paths in it.
/// If the annotated picture would get the name of another one, it keeps its extension, too
/// ("a.gif.png").
struct PicturePair {
  std::filesystem::path source;
  std::filesystem::path target;
};
std::vector<PicturePair> picture_pairs(const std::filesystem::path& input,
                                       const std::filesystem::path& folder, bool recursive);

/// Every frame with its boxes into a picture of its own, named as the picture that it came from.
class PictureSink : public pipeline::Sink {
 public:
  /// @param input   a picture or a folder of pictures; none of them is overwritten
  /// @param folder  made if it is not there; throws Error (failed) where it cannot be
  PictureSink(std::filesystem::path input, std::filesystem::path folder, const StreamInfo& info,
              media::WriteOptions options, std::vector<std::string> labels, bool recursive);
  /// Throws Error (failed) where the picture cannot be written, and (usage) where it is the source.
  void accept(const Frame& frame, const FrameResult& result) override;

 private:
  std::filesystem::path input_;
  std::filesystem::path folder_;
  std::map<std::string, std::filesystem::path> targets_;  // by the source's path
  StreamInfo info_;
  media::WriteOptions options_;
  std::vector<std::string> labels_;
};

}  // namespace sightline::apps
