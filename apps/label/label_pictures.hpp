#pragma once
/// The pictures of `sightline label`: those of folders and lists, single ones, and every n-th frame of
/// videos.

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frame/frame.hpp"
#include "media/reader.hpp"

namespace sightline::apps {

/// Pictures by number, each under the name that marks have for it: a file's without folders; of a video's
/// frames, their number, or the name of the picture that they are written to. Thread-safety: one thread at a
/// time.
class LabelPictures {
 public:
  struct Options {
    std::vector<std::string> inputs;  ///< folders, lists (.txt), pictures, videos
    media::ReadOptions reading;       ///< `every` counts for videos
    std::filesystem::path frames;     ///< folder that frames of videos are written to; empty: they are not
  };

  /// Throws Error (input, usage) where there is nothing, or two pictures would have one name.
  /// @param by_stem  marks of two pictures are in one file where their names differ by the extension alone
  LabelPictures(const Options& options, bool by_stem);

  /// Pictures known so far.
  std::size_t size() const { return entries_.size(); }
  const std::string& name(std::size_t picture) const { return entries_[picture].name; }
  /// Finds the next frame of a video. False: there is no more.
  bool extend();
  bool is_complete() const { return next_video_ == videos_.size(); }
  /// How many there will be, as far as it can be told.
  std::optional<std::size_t> expected() const;

  /// Throws Error (input) for what cannot be read now.
  Frame load(std::size_t picture);
  /// Writes a video's frame as a picture where that is asked for and it is not there yet. Throws Error
  /// (failed).
  void keep(std::size_t picture);

 private:
  struct Entry {
    std::string name;
    std::filesystem::path file;
    std::optional<std::size_t> video;
    double time = 0;
  };
  struct Recent {
    std::size_t picture;
    Frame frame;
  };

  void add(Entry entry);
  void add_input(const std::string& input);
  Frame load_frame(const Entry& entry) const;

  Options options_;
  const bool by_stem_;
  std::vector<Entry> entries_;
  std::set<std::string> names_;
  std::vector<std::string> videos_;
  std::vector<StreamInfo> infos_;  // of the videos that have been opened
  std::size_t next_video_ = 0;     // of those that are not at their end
  std::unique_ptr<media::Reader> reader_;
  std::int64_t frames_before_ = 0;
  std::deque<Recent> recent_;  // frames of videos, to go back to
};

}  // namespace sightline::apps
