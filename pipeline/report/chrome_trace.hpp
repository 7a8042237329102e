#pragma once
/// Traces as files for Perfetto (ui.perfetto.dev) and chrome://tracing.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "base/atomic_file.hpp"
#include "pipeline/report/trace_file.hpp"

namespace sightline::pipeline {

/// Streams a run as trace events in JSON (Google, "Trace Event Format"). Times are microseconds from
/// TraceInfo::start.
///
/// A viewer shows a process for each processor. The CPU has a lane for each stage and slot, and for the
/// decoding and the output of each source; a device has a lane for each slot's queue, and lanes of their own
/// for copies. Waiting has lanes of its own, below. Spans in a lane never overlap: where they would (slots
/// shared by sources, clocks that are not quite mapped), the lane gets a second one. Frames are asynchronous
/// events from admission to delivery (of live ones, from their capture), arrows lead through the spans of a
/// frame, and counters show the slots in use, the frames dropped and, where the processor has several, the
/// setting.
///
/// Viewers drop events before time 0: a frame that was captured before the run begins with it.
///
/// Memory does not grow with the number of frames. The file has a temporary name until `finish`, so that a
/// half-written trace never passes for a whole one; a writer that goes without `finish` leaves nothing. A
/// path that exists and is not a file (a pipe, /dev/null) is written directly. Thread-safety: none; one
/// thread at a time, as TraceSink has it.
class ChromeTraceWriter : public TraceFile {
 public:
  /// Throws Error (failed), with the path and the system's reason, where the file cannot be written.
  explicit ChromeTraceWriter(const std::filesystem::path& path);
  ChromeTraceWriter(const ChromeTraceWriter&) = delete;
  ChromeTraceWriter& operator=(const ChromeTraceWriter&) = delete;

  /// Called before the first frame. A further call, for the next source of the same processor, keeps the
  /// lanes and the clock.
  void begin(const TraceInfo& info) override;
  /// Throws Error (failed) where the output cannot take it. Spans that name a stage or a processor that
  /// TraceInfo lacks are shown with its number.
  void accept(const FrameTrace& trace) override;
  void finish() override;

 private:
  struct Lane {
    int thread = 0;
    std::int64_t end = 0;  ///< of its last span
  };
  /// Process and thread of a span in the trace.
  struct Place {
    int process = 0;
    int thread = 0;
  };

  Place place(const FrameTrace& trace, const Span& span);
  Lane new_lane(const FrameTrace& trace, const Span& span, std::size_t copy);
  void write_span(const FrameTrace& trace, const Span& span, Place at);
  void write_frame(const FrameTrace& trace);
  void write_arrows(const FrameTrace& trace);
  void write_arrow(std::size_t from, std::size_t to, std::span<const Span> spans);
  void write_counters(const FrameTrace& trace);
  void write_counter(std::string_view name, std::int64_t time, std::int64_t value,
                     std::string_view unit = "frames");
  void write_name(std::string_view kind, int process, int thread, std::string_view name, int order);
  void event(std::string_view text);
  void flush();
  void check(std::error_code error) const;

  std::string stage_name(int stage) const;
  std::string source_suffix(int source) const;

  std::filesystem::path path_;
  AtomicFile file_;
  std::string buffer_;
  TraceInfo info_;
  bool begun_ = false;
  bool finished_ = false;
  std::int64_t origin_ = 0;
  std::int64_t last_ = 0;    ///< latest time seen
  std::int64_t frames_ = 0;  ///< written so far; numbers the asynchronous events
  std::int64_t arrows_ = 0;
  int threads_ = 0;
  std::unordered_map<std::uint64_t, std::vector<Lane>> lanes_;  ///< by what they show
  std::vector<Span> spans_;                                     ///< of the frame at hand, from origin_ on
  std::vector<Place> places_;                                   ///< of these
  std::vector<std::int64_t> dropped_;                           ///< last value of each source's counter
  int setting_ = -1;                                            ///< last value of its counter
};

}  // namespace sightline::pipeline
