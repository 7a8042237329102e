#pragma once
/// A video file that several decoders read side by side.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "media/video_parts.hpp"
#include "pipeline/runtime/session.hpp"

namespace sightline::pipeline {

/// Reads the parts of a file (media::VideoParts) with several decoders, each of which is a stream of one
/// pipeline, and hands the results on in order, with the numbers that one decoder gives them.
///
/// A part's results are handed on when all its frames are searched, no error was met, and its decoder has
/// found the frame behind its last one to be the next part's first, as that part's decoder sees it. So the
/// results are those of one decoder, also of a file that is damaged or whose index lies: there the parts end,
/// and one decoder has to go on (RestOfVideo).
///
/// Memory: the results of parts whose predecessors are not complete, and a frame in flight for each decoder.
/// Thread-safety: one thread; the streams have their own.
class PartedVideo {
 public:
  /// @param file     to be opened for each part, with the options
  /// @param sinks    get the results with empty frames; must outlive the object
  /// @param decoders at least 1
  PartedVideo(std::string file, const media::VideoParts& parts, const media::ReadOptions& options,
              std::vector<Sink*> sinks, std::size_t decoders);
  ~PartedVideo();

  /// One for each decoder, to be run together.
  std::vector<Stream> streams();

  /// After the run: the number of frames that were handed on, if there are more. Of a run that was stopped,
  /// hands on what came in order, first. Throws what a sink threw.
  std::optional<std::int64_t> finish(bool was_stopped);
  /// Makes a report of the streams one of what was handed on.
  void correct(RunReport& report) const;

 private:
  class Source;
  class PartSink;
  struct Part;

  void hand_on();
  void hand_on(Part& part);

  const std::string file_;
  const media::ReadOptions options_;
  const std::vector<Sink*> sinks_;
  std::int64_t total_ = 0;  ///< estimated number of frames
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::unique_ptr<PartSink>> part_sinks_;

  std::mutex mutex_;  ///< of what follows
  std::vector<Part> parts_;
  std::size_t next_ = 0;        ///< the first part that nobody reads yet
  std::size_t head_ = 0;        ///< the first part that is not handed on
  std::size_t limit_ = 0;       ///< parts from this one on are given up
  RunReport handed_on_;         ///< counts of frames and objects
  std::exception_ptr failure_;  ///< a sink's
};

/// Goes on where the parts of a video ended. Decodes what comes before, too: what a decoder makes of damage
/// depends on it.
class RestOfVideo : public FrameSource {
 public:
  /// Opens the file. Throws as Reader does.
  /// @param before  frames that are read and left out
  RestOfVideo(const std::string& file, const media::ReadOptions& options, std::int64_t before)
      : reader_(file, options), before_(before) {}
  std::optional<Frame> read() override;
  std::int64_t decode_errors() const override { return reader_.decode_errors(); }
  const media::Reader& reader() const { return reader_; }

 private:
  media::Reader reader_;
  const std::int64_t before_;
};

}  // namespace sightline::pipeline
