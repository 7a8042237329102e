#pragma once
/// Files of finished parts: exact results, comparable byte for byte, and who computed them.
///
/// Layout: the body; a JSON text with machine, seconds and decode errors, which is not compared; sizes and
/// hashes of both (little-endian).

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/batch/job.hpp"
#include "base/error.hpp"
#include "frame/frame_result.hpp"
#include "media/video_parts.hpp"

namespace sightline::apps::batch {

/// Values as bytes, exact.
class ByteWriter {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_.append(text);
  }
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  std::string bytes_;
};

/// Reads what ByteWriter wrote. Throws Error (failed) at the end of the bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  bool is_at_end() const { return bytes_.empty(); }
  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string get_text() { return std::string(take(get<std::uint64_t>())); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) throw Error(ExitCode::failed, "a part ends too early");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view bytes_;
};

/// A part that is being computed. Its file has a temporary name, and is removed where `finish` is never
/// called. Its time changes every ten seconds until then, so that others see that the work goes on.
/// Thread-safety: one thread at a time.
class PartWriter {
 public:
  /// Throws Error (failed) where it cannot be made.
  PartWriter(const Job& job, const Job::Place& place);
  ~PartWriter();
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  const std::string& name() const { return name_; }
  /// Appends to the body. Throws Error (failed).
  void add(std::string_view bytes);
  /// The temporary name, which the temporary names of attached files begin with.
  const std::filesystem::path& file() const { return file_; }
  /// A file that belongs to the part: `finish` gives it its name.
  void attach(const std::filesystem::path& temporary, const std::filesystem::path& file);
  /// Gives the part its name. Throws Error (failed): no room; or another machine has computed another result,
  /// which the message names, and this one stays in the folder under `.differs`.
  /// @param making  seconds, frames, decode errors; the machine's name is added
  void finish(nlohmann::json making);

 private:
  void write(std::string_view bytes);
  void publish_or_keep(const std::filesystem::path& temporary, const std::filesystem::path& file,
                       bool is_part);

  const Job& job_;
  std::string about_;
  std::string name_;
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::string buffer_;
  std::uint64_t size_ = 0, hash_;
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> beside_;  ///< temporary, final
  std::jthread heartbeat_;
};

/// How a part was computed.
struct Making {
  std::string machine = "unknown";
  std::int64_t errors = 0;  ///< decode errors
  std::string last_error;
};
/// A finished part.
struct PartContent {
  std::string body;
  Making making;
};
/// Throws Error (failed) where it cannot be read, is not whole, is a link, or is larger than a part can be.
PartContent read_part(const std::filesystem::path& file);

/// One frame's result, exactly. `source` is left out: it is the input's name.
void put_result(ByteWriter& bytes, const FrameResult& result);
FrameResult get_result(ByteReader& bytes);

/// Facts after the results of a part, from which `merge` checks that no frame is missing or doubled.
void put_span(ByteWriter& bytes, const media::FrameSpan& span);
media::FrameSpan get_span(ByteReader& bytes);

}  // namespace sightline::apps::batch
