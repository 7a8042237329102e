#pragma once
/// Sinks that draw what was found: into a video, on a contact sheet.

#include <string>
#include <utility>
#include <vector>

#include "media/contact_sheet.hpp"
#include "media/writer.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::pipeline {

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
