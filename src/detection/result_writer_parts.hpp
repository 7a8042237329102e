#pragma once
/// The two halves of ResultWriter: where the bytes go and how a frame is put. Private to `detection`.
/// Thread-safety: none.

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "detection/result_writer.hpp"

namespace sightline {

/// A file descriptor that is written whole, or throws Error(failed) with the path and the system's reason;
/// after one failure every further call fails alike.
class ResultWriter::Output {
 public:
  explicit Output(const std::filesystem::path& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text);
  void close();
  bool is_terminal() const;

 private:
  [[noreturn]] void fail(int error);

  const std::string name_;
  const bool is_own_;  ///< opened here, and so empty at the start
  int fd_ = -1;
  int error_ = 0;
  off_t whole_ = 0;  ///< end of the last complete text
};

/// The text of a format: a head, a piece for each frame and a tail.
class ResultWriter::Format {
 public:
  static std::unique_ptr<Format> create(ResultFormat format, std::vector<std::string> labels,
                                        bool has_settings);
  virtual ~Format() = default;
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;

  virtual std::string head() { return {}; }
  /// Leaves the format as it was where it throws for a reason that lies in the frame.
  virtual std::string frame(const FrameResult& result, const ResultNotes& notes) = 0;
  virtual void tail(Output& output) { static_cast<void>(output); }

 protected:
  explicit Format(std::vector<std::string> labels) : labels_(std::move(labels)) {}
  const std::vector<std::string>& labels() const { return labels_; }
  /// The name of a label; throws Error(failed) if it has none.
  const std::string& label(int index) const;
  /// The object of the JSON lines format, without a line end.
  std::string frame_object(const FrameResult& result, const ResultNotes& notes) const;

 private:
  std::string events_array(const ResultNotes& notes) const;

  std::vector<std::string> labels_;
};

}  // namespace sightline
