#pragma once
/// The ends of a pipeline that read and write files: sources and sinks of src/media.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "media/contact_sheet.hpp"
#include "media/reader.hpp"
#include "media/writer.hpp"
#include "pipeline/runtime/pipeline.hpp"

namespace sightline::pipeline {

/// Reads a file, a stream or a folder. The reader must outlive it.
class ReaderSource : public FrameSource {
 public:
  explicit ReaderSource(media::Reader& reader) : reader_(reader) {}
  std::optional<Frame> read() override { return reader_.read(); }
  std::int64_t decode_errors() const override { return reader_.decode_errors(); }
  std::optional<std::int64_t> frames() const override { return reader_.info().frames; }

 private:
  media::Reader& reader_;
};

/// Every frame that has pixels, with its boxes, into a video. The writer must outlive the sink.
class VideoSink : public Sink {
 public:
  VideoSink(media::Writer& writer, std::vector<std::string> labels)
      : writer_(writer), labels_(std::move(labels)) {}
  void accept(const Frame& frame, const FrameResult& result) override {
    if (!frame.empty()) writer_.write(frame, result.objects, labels_);
  }

 private:
  media::Writer& writer_;
  std::vector<std::string> labels_;
};

/// A picture of the whole run. The sheet must outlive the sink.
class ContactSheetSink : public Sink {
 public:
  ContactSheetSink(media::ContactSheet& sheet, std::vector<std::string> labels)
      : sheet_(sheet), labels_(std::move(labels)) {}
  void accept(const Frame& frame, const FrameResult& result) override {
    sheet_.add(frame, result.objects, labels_);
  }

 private:
  media::ContactSheet& sheet_;
  std::vector<std::string> labels_;
};

}  // namespace sightline::pipeline
