#pragma once
/// Statistics of a run's traces.

#include <functional>

#include "pipeline/planning/costs.hpp"
#include "pipeline/session/trace.hpp"

namespace sightline::pipeline {

/// Traces of a run, without its beginning and end, when slots fill and drain.
class TraceStatistics : public TraceSink {
 public:
  void begin(const TraceInfo& info) override;
  void accept(const FrameTrace& trace) override;

  /// Removes the first and the last `count` delivered frames, unless fewer than two would remain. Their
  /// activities during the remaining time still count as overlap and utilisation.
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

  /// Seconds from the first remaining delivery to the last.
  double seconds() const;
  /// Frames per second in that time.
  double fps() const;
  /// The same as a regression of the frames' numbers on their times of delivery. Batches are delivered in
  /// bursts, which distort the plain rate of a few of them.
  double fps_of_bursts() const;
  /// Seconds from admission to delivery, in rising order.
  std::vector<double> latencies() const;

  /// Names of the rows: "decode", the processor's stages, "upload", "download", "output".
  std::vector<std::string> row_names() const;
  /// The row of a span; none for waits.
  std::optional<std::size_t> row_of(const Span& span) const;
  /// Mean seconds per frame by row.
  std::vector<double> row_seconds() const;
  /// Mean core-seconds per frame by row, on the CPU.
  std::vector<double> row_work() const;
  /// [a][b]: share of the time in which both rows were busy.
  std::vector<std::vector<double>> overlap() const;
  /// Sum of the rows' busy times over the time.
  double overlap_factor() const;
  /// Share of the time in which a processor ran a stage; for the CPU, of all its `threads`.
  double utilisation(std::size_t processor, int threads) const;

  /// Adds the costs of a run with one frame in flight, on the CPU and at most one device, to `costs`: medians
  /// over the frames. Stages of a frame that run concurrently on a device share its time. `costs` must have
  /// all stages of the processor.
  void add_to(FrameCosts& costs) const;

 private:
  using Interval = std::pair<std::int64_t, std::int64_t>;
  std::vector<Interval> busy(const std::function<bool(const Span&)>& which) const;
  void for_each_span(const std::function<void(const Span&)>& visit) const;
  void for_each_inside(const std::function<void(const Span&, Interval)>& visit) const;

  TraceInfo info_;
  std::vector<Frame> frames_;   ///< remaining
  std::vector<Frame> trimmed_;  ///< removed
  std::vector<Span> spans_;
};

}  // namespace sightline::pipeline
