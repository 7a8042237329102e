#pragma once
/// Keeps the traces of a run and works out what they say.

#include <functional>

#include "pipeline/planning/costs.hpp"
#include "pipeline/runtime/trace.hpp"

namespace sightline::pipeline {

/// Keeps all frames of a run, less those at its beginning and end, when slots fill and drain.
class TraceStatistics : public TraceSink {
 public:
  void begin(const TraceInfo& info) override;
  void accept(const FrameTrace& trace) override;

  /// Leaves out the first and the last `count` frames delivered; does nothing where fewer than two would
  /// remain. What went on in them while the others were delivered still counts as overlap and utilisation.
  void trim(std::size_t count);

  struct Frame {
    std::int64_t number = 0;
    int slot = 0;
    std::int64_t admitted = 0;
    std::int64_t delivered = 0;
    std::size_t first_span = 0;
    std::size_t spans = 0;
  };
  const TraceInfo& info() const { return info_; }
  const std::vector<Frame>& frames() const { return frames_; }
  std::span<const Span> spans(const Frame& frame) const {
    return {spans_.data() + frame.first_span, frame.spans};
  }

  /// Seconds from the first delivery kept to the last.
  double seconds() const;
  /// Frames delivered in that time, per second.
  double fps() const;
  /// Seconds from admission to delivery, in rising order.
  std::vector<double> latencies() const;

  /// Names of what is accounted for: "decode", the processor's stages, "upload", "download", "output".
  std::vector<std::string> row_names() const;
  /// The row of a span; none for waits.
  std::optional<std::size_t> row_of(const Span& span) const;
  /// Mean seconds a frame by row.
  std::vector<double> row_seconds() const;
  /// Mean core-seconds a frame by row, on the CPU.
  std::vector<double> row_work() const;
  /// [a][b]: share of the time in which both rows were at work.
  std::vector<std::vector<double>> overlap() const;
  /// Sum of the rows' busy times over the time.
  double overlap_factor() const;
  /// Share of the time in which a processor ran a stage; of the CPU, of all `threads`.
  double utilisation(std::size_t processor, int threads) const;

  /// The costs that the run shows, where one frame at a time was in flight: what ran on the CPU, and what on
  /// the device (one alone must have taken part), each the median over the frames. Stages of a frame that run
  /// side by side on a device share its time. Adds to `costs`, whose stages must be as many as the
  /// processor's.
  void add_to(FrameCosts& costs) const;

 private:
  using Interval = std::pair<std::int64_t, std::int64_t>;
  std::vector<Interval> busy(const std::function<bool(const Span&)>& which) const;
  void for_each_span(const std::function<void(const Span&)>& visit) const;
  void for_each_inside(const std::function<void(const Span&, Interval)>& visit) const;

  TraceInfo info_;
  std::vector<Frame> frames_;   ///< kept
  std::vector<Frame> trimmed_;  ///< before and after them
  std::vector<Span> spans_;
};

}  // namespace sightline::pipeline
