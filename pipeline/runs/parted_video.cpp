#include "pipeline/runs/parted_video.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace sightline::pipeline {
namespace {

constexpr double kWithinRounding = 0.4e-6;  // seconds, less than what a Reader allows for

// To read from a part's first frame on.
media::ReadOptions from(double begin, media::ReadOptions options) {
  if (begin > 0) options.start = begin + kWithinRounding / 4;
  return options;
}

}  // namespace

struct PartedVideo::Part {
  double begin = 0;
  double end = 0;                           ///< the next part's begin; infinite for the last
  std::optional<media::FrameEdge> first;    ///< its first frame
  std::optional<media::FrameEdge> next;     ///< the frame behind its last one
  std::optional<std::int64_t> frames = {};  ///< known when all are read
  std::vector<FrameResult> results;
};

// What one decoder reads: a part after the other, each the first that nobody reads.
class PartedVideo::Source : public FrameSource {
 public:
  Source(PartedVideo& video, std::size_t number) : video_(video), number_(number) {}

  std::optional<Frame> read() override {
    try {
      for (;;) {
        if (!is_reading_ && !begin_part()) return std::nullopt;
        std::optional<Frame> frame = reader_->read();
        if (reader_->decode_errors() > 0) break;
        if (frame && frame->time() < end_ - kWithinRounding) {
          if (!takes(*frame)) break;
          return frame;
        }
        if (!frame && std::isfinite(end_)) break;  // too early
        end_part(frame);
      }
    } catch (const std::exception&) {  // one decoder will meet it again
    }
    give_up();
    return std::nullopt;
  }
  std::optional<std::int64_t> frames() const override { return number_ == 0 ? video_.total_ : 0; }

  // The part of the next frame to be delivered. Called with the video's mutex held.
  std::size_t take_tag() {
    const std::size_t part = tags_.front();
    tags_.pop_front();
    return part;
  }

 private:
  bool begin_part() {
    double begin = 0;
    {
      const std::lock_guard lock(video_.mutex_);
      if (video_.next_ >= video_.limit_) return false;
      part_ = video_.next_++;
      begin = video_.parts_[part_].begin;
      end_ = video_.parts_[part_].end;
    }
    is_reading_ = true;
    count_ = 0;
    reader_.reset();  // first: two decoders would need twice the memory
    reader_ = std::make_unique<media::Reader>(video_.file_, from(begin, video_.options_));
    return true;
  }

  // False where the part is not, or no longer, to be read.
  bool takes(const Frame& frame) {
    std::optional<media::FrameEdge> first;
    if (count_++ == 0) first = media::edge_of(frame);
    const std::lock_guard lock(video_.mutex_);
    Part& part = video_.parts_[part_];
    if (first) {
      if (part_ > 0 && std::abs(frame.time() - part.begin) > kWithinRounding) return false;
      part.first = first;
      video_.hand_on();  // the part before may have waited for it
    }
    if (part_ >= video_.limit_) return false;
    tags_.push_back(part_);
    return true;
  }

  void end_part(const std::optional<Frame>& next) {
    std::optional<media::FrameEdge> edge;
    if (next) edge = media::edge_of(*next);
    const std::lock_guard lock(video_.mutex_);
    Part& part = video_.parts_[part_];
    part.next = edge;
    part.frames = count_;
    is_reading_ = false;
    video_.hand_on();
  }

  void give_up() {
    const std::lock_guard lock(video_.mutex_);
    video_.limit_ = std::min(video_.limit_, part_);
  }

  PartedVideo& video_;
  const std::size_t number_;
  std::unique_ptr<media::Reader> reader_;
  bool is_reading_ = false;
  std::size_t part_ = 0;
  double end_ = 0;
  std::int64_t count_ = 0;        ///< frames of the part so far
  std::deque<std::size_t> tags_;  ///< parts of the frames that are on their way
};

class PartedVideo::PartSink : public Sink {
 public:
  PartSink(PartedVideo& video, Source& source) : video_(video), source_(source) {}
  void accept(const Frame&, const FrameResult& result) override {
    const std::lock_guard lock(video_.mutex_);
    video_.parts_[source_.take_tag()].results.push_back(result);
    video_.hand_on();
    if (video_.failure_) std::rethrow_exception(video_.failure_);
  }

 private:
  PartedVideo& video_;
  Source& source_;
};

PartedVideo::PartedVideo(std::string file, const media::VideoParts& parts, const media::ReadOptions& options,
                         std::vector<Sink*> sinks, std::size_t decoders)
    : file_(std::move(file)), options_(options), sinks_(std::move(sinks)), limit_(parts.parts.size()) {
  for (std::size_t i = 0; i < parts.parts.size(); ++i) {
    Part& part = parts_.emplace_back();
    part.begin = parts.parts[i].begin;
    total_ += parts.parts[i].frames;
    part.end = i + 1 < parts.parts.size() ? parts.parts[i + 1].begin : HUGE_VAL;
  }
  for (std::size_t i = 0; i < decoders; ++i) {
    sources_.push_back(std::make_unique<Source>(*this, i));
    part_sinks_.push_back(std::make_unique<PartSink>(*this, *sources_.back()));
  }
}

PartedVideo::~PartedVideo() = default;

std::vector<Stream> PartedVideo::streams() {
  std::vector<Stream> streams(sources_.size());
  for (std::size_t i = 0; i < streams.size(); ++i) {
    streams[i].source = sources_[i].get();
    streams[i].name = file_;
    streams[i].sinks = {part_sinks_[i].get()};
  }
  return streams;
}

// Whatever is complete. Called with the mutex held, by sources, too: they must not throw what a sink throws.
void PartedVideo::hand_on() try {
  while (head_ < limit_) {
    Part& part = parts_[head_];
    if (!part.frames || std::ssize(part.results) < *part.frames) return;
    if (head_ + 1 < parts_.size()) {
      const std::optional<media::FrameEdge>& next = parts_[head_ + 1].first;
      if (!next) return;
      if (part.next != next) {
        limit_ = head_;
        return;
      }
    }
    hand_on(part);
    ++head_;
  }
} catch (...) {
  failure_ = std::current_exception();
  limit_ = 0;
}

void PartedVideo::hand_on(Part& part) {
  for (FrameResult& result : std::exchange(part.results, {})) {
    result.frame = ++handed_on_.frames;
    handed_on_.objects += result.count();
    handed_on_.skipped += result.status == FrameStatus::skipped;
    handed_on_.failed += result.status == FrameStatus::failed;
    const Frame frame(nullptr, result.frame, result.time);
    for (Sink* const sink : sinks_) sink->accept(frame, result);
  }
}

std::optional<std::int64_t> PartedVideo::finish(bool was_stopped) {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  if (head_ == parts_.size()) return std::nullopt;
  if (was_stopped) hand_on(parts_[head_]);
  return handed_on_.frames;
}

void PartedVideo::correct(RunReport& report) const {
  report.frames = handed_on_.frames;
  report.objects = handed_on_.objects;
  report.skipped = handed_on_.skipped;
  report.failed = handed_on_.failed;
  report.decode_errors = 0;
}

std::optional<Frame> RestOfVideo::read() {
  for (;;) {
    std::optional<Frame> frame = reader_.read();
    if (!frame || frame->number() > before_) return frame;
  }
}

}  // namespace sightline::pipeline
