#pragma once
/// A video file that several decoders read side by side.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "media/reader.hpp"
#include "media/video_parts.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::pipeline {

/// Decoders of one file. On an H100, which has seven decoding engines, a prototype decoded HEVC at 910 to
/// 1,140 frames/s with one decoder, 2,010 to 2,458 with four, and 1,683 to 2,057 with eight.
inline constexpr int kMostDecoders = 4;

/// A video that is being read, to be searched by `run_in_parts`.
struct PartedInput {
  std::string file;
  media::ReadOptions reading;  ///< with which `reader` was opened
  media::Reader& reader;       ///< that Stream::source reads
  int decoders = kMostDecoders;
};

/// As Pipeline::run, but decodes parts of the file side by side where that is faster: while a device decodes
/// (Reader::device), and where the container has an index and each decoder gets enough frames. The stream's
/// source reads everything else: frames until the device decodes, and all frames from the first part on that
/// is damaged or does not meet the next one. Then the results of later parts are discarded.
///
/// Sinks get the results that they get from Pipeline::run, in the same order, but empty frames. The schedule
/// has at least two frames in flight per decoder meanwhile.
RunReport run_in_parts(Pipeline& pipeline, const Stream& stream, const PartedInput& input,
                       const RunOptions& options = {});

/// Reads the parts of a file (media::VideoParts) with several decoders, each of which is a stream of one
/// pipeline, and passes the results on in order, with the numbers that one decoder gives them.
///
/// A part's results are passed on when all its frames are searched without a decode error, and its decoder
/// found the frame behind its last one to be the first frame of the next part, with the same time and luma.
/// So the results are those of one decoder, also for files that are damaged or have a wrong index: there the
/// parts end.
///
/// Memory: frames in flight, and the results of parts whose predecessors are not complete.
/// Thread-safety: one thread; the streams have their own.
class PartedVideo : private Sink {
 public:
  /// The last frame that was read before the parts. None: number 0.
  struct Place {
    std::int64_t number = 0;
    double time = 0;  ///< seconds
  };

  /// @param file   to be opened for each part, with the options
  /// @param parts  of the whole file; those outside of the options' start and duration are not read
  /// @param sinks  get the results with empty frames; must outlive the object
  PartedVideo(std::string file, const std::vector<media::VideoPart>& parts, const media::ReadOptions& options,
              const Place& reached, std::vector<Sink*> sinks);
  ~PartedVideo() override;

  /// Number of parts to be read.
  std::size_t size() const;
  /// A stream for each decoder, to be run together, once.
  std::vector<Stream> streams(std::size_t decoders);

  /// To be called after the run. Passes on what is left, also of a part that a stopped run did not complete.
  /// Returns whether all parts were passed on.
  bool finish(bool was_stopped);
  /// Why not.
  const std::string& problem() const { return problem_; }
  /// Number of the last frame (Frame::number) of the parts that were passed on.
  std::int64_t number() const { return number_; }
  /// Counts of the results that were passed on.
  const RunReport& counts() const { return counts_; }

 private:
  class Source;
  struct Part;

  void accept(const Frame& frame, const FrameResult& result) override;
  void pass_on();
  void deliver(std::vector<FrameResult>& results);
  bool is_complete();
  void give_up(std::size_t part, const std::string& problem);

  const std::string file_;
  const media::ReadOptions options_;
  const std::vector<Sink*> sinks_;
  std::vector<std::unique_ptr<Source>> sources_;

  std::mutex delivery_;  ///< held while sinks are called
  std::int64_t number_;  ///< guarded by `delivery_`
  RunReport counts_;     ///< guarded by `delivery_`

  std::mutex mutex_;  ///< of all members below
  std::vector<Part> parts_;
  std::size_t next_ = 0;   ///< the first part that nobody reads yet
  std::size_t head_ = 0;   ///< the first part that is not passed on
  std::size_t limit_ = 0;  ///< parts from this one on are given up
  std::string problem_;
};

}  // namespace sightline::pipeline
