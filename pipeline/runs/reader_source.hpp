#pragma once
/// A file, a stream or a folder as a source of frames.

#include <optional>

#include "frame/frame_source.hpp"
#include "media/reader.hpp"

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

}  // namespace sightline::pipeline
