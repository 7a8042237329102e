#include "media/download.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "media/byte_source.hpp"
#include "media/ffmpeg.hpp"
#include "media/sha256.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class Transfer {
 public:
  Transfer(const Download& wanted, const std::function<bool()>& stopped)
      : wanted_(wanted), stopped_(stopped) {
    const auto origin = std::make_shared<HttpOrigin>();
    origin->host = host_of(wanted.url);
    origin->server = server_of(wanted.url);
    int code = 0;
    std::string problem;
    bytes_ = open_http(
        wanted.url, origin, [this] { return stopped_() || is_late(); }, code, problem);
    if (!bytes_) fail(code, problem);
  }

  /// @return the number of bytes; 0 at the end
  std::size_t read(std::span<std::uint8_t> buffer) {
    const int count = bytes_->read(buffer.data(), static_cast<int>(buffer.size()));
    if (count == AVERROR_EOF || count == 0) return 0;
    if (count < 0) fail(count, "the connection broke");
    last_ = Clock::now();
    return static_cast<std::size_t>(count);
  }

  [[noreturn]] void fail(int code, const std::string& problem) const {
    if (code != AVERROR_EXIT) refuse(problem, "check the connection and proxies, and try again");
    if (stopped_()) refuse("stopped", "");
    refuse(fmt::format("the server sent nothing for {} s",
                       std::chrono::duration_cast<std::chrono::seconds>(wanted_.patience).count()),
           "try again later");
  }
  [[noreturn]] void refuse(const std::string& problem, std::string_view remedy) const {
    throw Error(ExitCode::failed, fmt::format("cannot download '{}': {}", wanted_.name, problem), remedy)
        .about(wanted_.name);
  }

 private:
  bool is_late() const { return Clock::now() - last_ > wanted_.patience; }

  const Download& wanted_;
  const std::function<bool()>& stopped_;
  Clock::time_point last_ = Clock::now();
  std::unique_ptr<ByteSource> bytes_;
};

constexpr char kNotThatFile[] = "the file at that address is not the one that is listed; nothing was kept";

}  // namespace

void download(const Download& wanted, const fs::path& file, const std::function<bool()>& stopped,
              const std::function<void(std::uint64_t)>& progress) {
  if (!wanted.url.starts_with("https://") && !(wanted.may_be_plain && wanted.url.starts_with("http://")))
    throw Error(ExitCode::usage, fmt::format("cannot download '{}': its address is not HTTPS", wanted.name));
  Transfer transfer(wanted, stopped);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);  // failures appear below
  AtomicFile output(file);
  const auto check_written = [&](std::error_code problem) {
    if (problem)
      throw Error(ExitCode::failed, fmt::format("cannot write '{}': {}", file.string(), problem.message()));
  };
  check_written(output.error());
  Sha256 sum;
  std::uint64_t done = 0;
  std::vector<std::uint8_t> buffer(std::size_t{64} << 10);
  while (const std::size_t count = transfer.read(buffer)) {
    done += count;
    if (done > wanted.bytes)
      transfer.refuse(fmt::format("it is larger than {} bytes", wanted.bytes), kNotThatFile);
    sum.add(buffer.data(), count);
    check_written(output.write({reinterpret_cast<const char*>(buffer.data()), count}));
    progress(done);
  }
  if (done < wanted.bytes)
    transfer.refuse(fmt::format("it ended after {} of {} bytes", done, wanted.bytes), "try again");
  if (const std::string digits = sum.digits(); digits != wanted.sha256)
    transfer.refuse(fmt::format("its SHA-256 is {} instead of {}", digits, wanted.sha256), kNotThatFile);
  check_written(output.finish());
}

std::string sha256_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  Sha256 sum;
  std::vector<char> buffer(std::size_t{64} << 10);
  while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), stream.gcount() > 0)
    sum.add(reinterpret_cast<const std::uint8_t*>(buffer.data()), static_cast<std::size_t>(stream.gcount()));
  if (!stream.eof()) throw Error(ExitCode::input, "cannot read '" + file.string() + "'");
  return sum.digits();
}

}  // namespace sightline::media
