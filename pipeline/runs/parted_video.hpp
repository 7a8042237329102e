#pragma once
/// Parts of a video file, read by several decoders side by side.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "media/reader.hpp"
#include "media/video_parts.hpp"
#include "pipeline/session/session.hpp"

namespace sightline::pipeline {

/// Frames of a file that are searched, beside media::ReadOptions.
struct VideoSelection {
  /// Time in seconds of the frame that reading ends at: it is read, but not searched. Infinite: the input's
  /// end.
  double end = std::numeric_limits<double>::infinity();
  /// Whether the frame of a number (Frame::number) is searched; empty: all are. Any thread may call it, also
  /// for numbers that no frame has.
  std::function<bool(std::int64_t)> is_wanted;
};

/// Reads the parts of a file (media::VideoParts) with several decoders, each of which is a stream of one
/// pipeline, and passes the results on in order, with the numbers that one decoder gives them.
///
/// The results of a part are passed on when all parts before it are complete: they are searched without a
/// decode error, and each of their decoders found the frame behind its last one to be the first frame of the
/// next part, with the same time and luma. So the results are those of one decoder, also for files that are
/// damaged or have a wrong index: there the parts end.
///
/// Memory: frames in flight, and the results of parts whose predecessors are not complete.
/// Thread-safety: one thread; the streams have their own.
class PartedVideo : private Sink {
 public:
  struct Decoder {
    std::string name = "software";  ///< ReadOptions::decoder
    int threads = 0;                ///< ReadOptions::threads
  };
  /// The last frame that was read before the parts. None: number 0.
  struct Place {
    std::int64_t number = 0;
    double time = 0;  ///< seconds
  };

  /// @param file      to be opened for each part, with the options
  /// @param parts     of the whole file; those outside of the options' start and duration are not read
  /// @param decoders  that may read parts
  /// @param sinks     get the results with empty frames; must outlive the object
  PartedVideo(std::string file, const std::vector<media::VideoPart>& parts, const media::ReadOptions& options,
              const std::vector<Decoder>& decoders, const Place& reached, std::vector<Sink*> sinks,
              VideoSelection selection = {});
  ~PartedVideo() override;

  /// Number of parts to be read.
  std::size_t size() const;
  /// A stream that reads parts with a decoder: always the first part that no decoder has taken. It ends when
  /// no part is left, or by `keep`; then another one may read with the decoder. The object must outlive it.
  /// @param decoder  index
  Stream stream(std::size_t decoder);
  /// Ends streams at the ends of their parts while more run than this.
  void keep(std::size_t streams) { most_running_ = streams; }
  /// Whether there is a part that no decoder has taken.
  bool has_parts();
  /// Nanoseconds that all decoders together have spent on frames so far.
  std::int64_t decoding_time() const;

  /// Passes on the remaining results. Call it after the run. Returns whether all parts were passed on.
  bool finish();
  /// Why not.
  const std::string& problem() const { return problem_; }
  /// Number (Frame::number) of the last frame that was passed on, or left out.
  std::int64_t number() const { return number_; }
  /// Where one decoder has to begin to read all frames behind `number`. Between this place and a problem lies
  /// at least one whole part, unless it is in the first one: so damage is concealed as in a reading from the
  /// start.
  struct Continuation {
    std::int64_t number = 0;  ///< of the last frame in front
    double start = 0;         ///< ReadOptions::start
  };
  const Continuation& continuation() const { return continuation_; }
  /// The frames that were read, where all parts were passed on; `first` is behind the place reached before.
  /// Else those in front of `continuation`, without `next`.
  media::FrameSpan span();
  /// Counts of the results that were passed on, and the first failure.
  const RunReport& counts() const { return counts_; }

 private:
  class Source;
  struct Part;

  void accept(const Frame& frame, const FrameResult& result) override;
  void pass_on();
  bool is_wanted(std::int64_t number) const;
  bool leaves_out_frames() const { return options_.every > 1 || selection_.is_wanted; }
  void deliver(const std::vector<FrameResult>& results);
  bool advance();
  void give_up(std::size_t part, const std::string& problem);

  const std::string file_;
  const media::ReadOptions options_;
  const VideoSelection selection_;
  const std::vector<Sink*> sinks_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::atomic<std::size_t> most_running_;

  std::mutex delivery_;      ///< held while sinks are called
  std::int64_t number_ = 0;  ///< guarded by `delivery_`
  RunReport counts_;         ///< guarded by `delivery_`

  std::mutex mutex_;  ///< of all members below
  std::vector<Part> parts_;
  std::size_t running_ = 0;  ///< streams
  std::size_t next_ = 0;     ///< the first part that no decoder has taken
  std::size_t head_ = 0;     ///< the first part that is not complete
  std::int64_t behind_ = 0;  ///< number of the last frame before it
  Continuation continuation_;
  std::size_t limit_ = 0;  ///< parts from this one on are given up
  bool is_over_ = false;   ///< nothing more is passed on
  std::string problem_;
};

}  // namespace sightline::pipeline
