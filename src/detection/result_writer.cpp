#include "detection/result_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"
#include "detection/result_writer_parts.hpp"

namespace sightline {

namespace {

struct FormatName {
  ResultFormat format;
  const char* name;
};
constexpr std::array<FormatName, 5> kFormatNames{{{ResultFormat::jsonl, "jsonl"},
                                                  {ResultFormat::json, "json"},
                                                  {ResultFormat::csv, "csv"},
                                                  {ResultFormat::mot, "mot"},
                                                  {ResultFormat::coco, "coco"}}};

/// Holds SIGPIPE back from this thread, so that a closed pipe comes back as EPIPE from write() without
/// changing how the whole process treats the signal.
class SigpipeBlock {
 public:
  SigpipeBlock() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeBlock() {
    const int error = errno;
    if (!was_pending_) {
      const timespec now{};
      while (sigtimedwait(&pipe_, nullptr, &now) == -1 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace

const char* to_string(ResultFormat format) {
  for (const auto& entry : kFormatNames) {
    if (entry.format == format) return entry.name;
  }
  return "jsonl";
}

std::vector<std::string_view> result_format_names() {
  std::vector<std::string_view> names;
  for (const auto& entry : kFormatNames) names.emplace_back(entry.name);
  return names;
}

ResultFormat parse_result_format(std::string_view name) {
  std::string choices;
  for (const auto& entry : kFormatNames) {
    if (name == entry.name) return entry.format;
    choices += choices.empty() ? entry.name : std::string(", ") + entry.name;
  }
  throw Error(ExitCode::usage, "unknown result format '" + std::string(name) + "'",
              "choose one of " + choices);
}

std::optional<ResultFormat> guess_result_format(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  if (path == "-") return ResultFormat::jsonl;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.ends_with(".jsonl") || name.ends_with(".ndjson")) return ResultFormat::jsonl;
  if (name.ends_with(".coco.json")) return ResultFormat::coco;
  if (name.ends_with(".json")) return ResultFormat::json;
  if (name.ends_with(".csv")) return ResultFormat::csv;
  if (name.ends_with(".txt") || name.ends_with(".mot")) return ResultFormat::mot;
  return std::nullopt;
}

ResultWriter::Output::Output(const std::filesystem::path& path)
    : name_(path == "-" ? "standard output" : path.string()), is_own_(path != "-") {
  // A duplicate of standard output can be closed, and so checked, without taking it from others.
  fd_ = path == "-" ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : open_anew(path);
  if (fault::strikes(fault::Kind::open, "open")) fail(EACCES);
  if (fd_ < 0) fail(errno);
}

ResultWriter::Output::~Output() {
  if (fd_ >= 0) ::close(fd_);
}

void ResultWriter::Output::write(std::string_view text) {
  if (error_ != 0) fail(error_);
  const SigpipeBlock block;
  const std::size_t size = text.size();
  while (!text.empty()) {
    if (fault::strikes(fault::Kind::write, "write")) fail(ENOSPC);
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0) {
      fail(EIO);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      // Another program that shares the terminal or pipe may have made standard output non-blocking.
      pollfd wait{fd_, POLLOUT, 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      const int error = errno;
      // Removes the incomplete line. Not from standard output, which other programs may write to as well.
      if (is_own_ && text.size() < size) static_cast<void>(!::ftruncate(fd_, whole_));
      fail(error);
    }
  }
  whole_ += static_cast<off_t>(size);
}

bool ResultWriter::Output::is_terminal() const {
  return ::isatty(fd_) != 0;
}

void ResultWriter::Output::close() {
  if (error_ != 0) fail(error_);
  // Network file systems report a full disk only here. A close that was interrupted has still closed on
  // Linux.
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) fail(errno);
  if (fault::strikes(fault::Kind::write, "close")) fail(EIO);
}

void ResultWriter::Output::fail(int error) {
  error_ = error;
  // A closed pipe (`| head`) is no failure.
  if (error == EPIPE && !is_own_) throw Error(ExitCode::done, "'" + name_ + "' was closed");
  throw Error(ExitCode::failed, "cannot write results to '" + name_ + "': " + std::strerror(error),
              error == ENOSPC ? "free some space or choose another folder" : "");
}

std::unique_ptr<ResultWriter> ResultWriter::open(const std::filesystem::path& path, ResultFormat format,
                                                 std::vector<std::string> labels, bool has_settings) {
  // The format first: where it fails, an existing file is left as it was.
  auto text = Format::create(format, std::move(labels), has_settings);
  return std::make_unique<ResultWriter>(std::make_unique<Output>(path), std::move(text));
}

ResultWriter::ResultWriter(std::unique_ptr<Output> output, std::unique_ptr<Format> format)
    : output_(std::move(output)), format_(std::move(format)) {
  // In the constructor's body: a failure here must not end in the destructor's second attempt.
  output_->write(format_->head());
}

ResultWriter::~ResultWriter() {
  if (finished_ || failed_) return;
  try {
    finish();
  } catch (const std::exception& error) {
    logger().error("{}", error.what());
  }
}

void ResultWriter::write(const FrameResult& result, const ResultNotes& notes) {
  if (finished_) throw Error(ExitCode::failed, "a frame was written to results that are already finished");
  std::string text = format_->frame(result, notes);
  if (output_->is_terminal()) text = printable(text, kLineEndsAndTabs);
  guard([&] { output_->write(text); });
}

void ResultWriter::finish() {
  if (finished_) return;
  guard([&] {
    format_->tail(*output_);
    output_->close();
  });
  finished_ = true;
}

template <typename Work>
void ResultWriter::guard(const Work& work) {
  try {
    work();
  } catch (...) {
    failed_ = true;
    throw;
  }
}

}  // namespace sightline
