#include "apps/batch/part_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>

#include "base/fault.hpp"
#include "base/fnv.hpp"
#include "base/json_problem.hpp"
#include "base/json_text.hpp"
#include "base/publish.hpp"
#include "base/shared_file.hpp"

namespace sightline::apps::batch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the numbers of parts are little-endian");

constexpr std::size_t kBuffer = 1 << 20;
constexpr std::chrono::seconds kHeartbeat{10};
constexpr std::uint64_t kMaxPartBytes = std::uint64_t{1} << 30, kMaxMakingBytes = 1 << 20;
constexpr std::uint64_t kMark = 0x314c455452415053;

struct Trailer {
  std::uint64_t body_size, body_hash, making_size, making_hash, mark;
};

[[noreturn]] void refuse_part(const fs::path& file, const std::string& problem) {
  throw Error(ExitCode::failed, "part '" + file.string() + "' " + problem,
              "delete it; `sightline batch work` computes it again");
}

// A part, which is opened as a file of a folder that others can write to.
SharedFile open_part(const fs::path& file) {
  const fs::path folder = file.parent_path();
  return {folder.parent_path(), folder.filename() / file.filename()};
}

Trailer trailer_of(const SharedFile& stream, const fs::path& file) {
  Trailer trailer{};
  if (stream.size() < sizeof trailer) refuse_part(file, "is not whole");
  if (stream.size() > kMaxPartBytes) refuse_part(file, "is larger than a part can be");
  const std::uint64_t rest = stream.size() - sizeof trailer;
  std::memcpy(&trailer, stream.read(rest, sizeof trailer).data(), sizeof trailer);
  if (trailer.mark != kMark || trailer.body_size > rest || trailer.making_size != rest - trailer.body_size)
    refuse_part(file, "is not whole");
  return trailer;
}

std::string bytes_at(const SharedFile& stream, const fs::path& file, std::uint64_t place, std::uint64_t size,
                     std::uint64_t hash) {
  std::string bytes = stream.read(place, size);
  if (fnv1a(bytes.data(), bytes.size()) != hash) refuse_part(file, "is damaged");
  return bytes;
}

Making making_at(const SharedFile& stream, const fs::path& file, const Trailer& trailer) {
  if (trailer.making_size > kMaxMakingBytes) refuse_part(file, "is damaged");
  const std::string text =
      bytes_at(stream, file, trailer.body_size, trailer.making_size, trailer.making_hash);
  try {
    check_json_limits(text);
    const Json json = Json::parse(text);
    Making making;
    making.machine = json.value("machine", making.machine);
    making.errors = json.value("errors", making.errors);
    making.last_error = json.value("last_error", making.last_error);
    return making;
  } catch (const std::exception&) {  // no JSON, no object, or values of other types
    refuse_part(file, "is damaged");
  }
}

bool equal_bodies(const fs::path& a, const fs::path& b) {
  const SharedFile one = open_part(a), other = open_part(b);
  const Trailer left = trailer_of(one, a), right = trailer_of(other, b);
  if (left.body_size == right.body_size && left.body_hash == right.body_hash) return true;
  if (making_at(one, a, left).errors == 0 || making_at(other, b, right).errors == 0) return false;
  spdlog::warn(
      "part '{}' was computed before with another result: its input is damaged, and decoders conceal "
      "damage differently with each number of threads; the first result counts",
      b.string());
  return true;
}

}  // namespace

PartWriter::PartWriter(const Job& job, const Job::Place& place)
    : job_(job),
      about_(job.describe(place)),
      name_(job.name(place)),
      file_(temporary_name(job.file(name_), "running")),
      hash_(kFnvSeed) {
  descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw Error(ExitCode::failed, "cannot write '" + file_.string() + "': " + std::strerror(errno),
                "check the job's folder, its permissions and the space left");
  }
  heartbeat_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, stop, kHeartbeat, [&] { return stop.stop_requested(); }))
      ::futimens(descriptor_, nullptr);
  });
}

PartWriter::~PartWriter() {
  heartbeat_ = {};
  if (descriptor_ >= 0) ::close(descriptor_);
  ::unlink(file_.c_str());
  for (const auto& [temporary, file] : beside_) ::unlink(temporary.c_str());
}

void PartWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (fault::strikes(fault::Kind::write, "write")) {
      written = -1;
      errno = ENOSPC;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      throw Error(ExitCode::failed, "cannot write '" + file_.string() + "': " + std::strerror(errno),
                  "free some space");
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void PartWriter::add(std::string_view bytes) {
  hash_ = fnv1a(bytes.data(), bytes.size(), hash_);
  size_ += bytes.size();
  if (size_ > kMaxPartBytes - kMaxMakingBytes) {
    throw Error(ExitCode::usage,
                fmt::format("{} has more than {} MiB of results", about_, kMaxPartBytes >> 20),
                "plan again with a smaller --chunk, or a higher --threshold");
  }
  buffer_.append(bytes);
  if (buffer_.size() >= kBuffer) {
    write(buffer_);
    buffer_.clear();
  }
}

void PartWriter::attach(const fs::path& temporary, const fs::path& file) {
  beside_.emplace_back(temporary, file);
}

void PartWriter::finish(Json making) {
  heartbeat_ = {};
  making["machine"] = machine_name();
  const std::string text = json_text(making);
  const Trailer trailer{size_, hash_, text.size(), fnv1a(text.data(), text.size()), kMark};
  write(buffer_);
  write(text);
  write({reinterpret_cast<const char*>(&trailer), sizeof trailer});
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
    throw Error(ExitCode::failed, "cannot write '" + file_.string() + "': " + std::strerror(errno));
  for (const auto& [temporary, file] : beside_) publish_or_keep(temporary, file, false);
  publish_or_keep(file_, job_.file(name_), true);
}

void PartWriter::publish_or_keep(const fs::path& temporary, const fs::path& file, bool is_part) {
  if (publish(temporary, file, is_part ? equal_bodies : equal_files) != Published::differs) return;
  fs::path kept = temporary;
  kept.replace_extension(".differs");
  std::error_code ignored;
  fs::rename(temporary, kept, ignored);
  std::string other = "unknown";
  try {
    other = read_part(job_.file(name_)).making.machine;
  } catch (const Error&) {  // the other copy has no part yet
  }
  throw Error(
      ExitCode::device,
      fmt::format("machines {} and {} have computed different results of {}", other, machine_name(), about_),
      fmt::format("one of them is broken: delete '{}' and '{}', and run that task on others", file.string(),
                  kept.string()));
}

PartContent read_part(const fs::path& file) {
  const SharedFile stream = open_part(file);
  const Trailer trailer = trailer_of(stream, file);
  return {bytes_at(stream, file, 0, trailer.body_size, trailer.body_hash), making_at(stream, file, trailer)};
}

namespace {

[[noreturn]] void refuse_result() {
  throw Error(ExitCode::failed, "a part has an invalid result", "delete the parts, and compute them again");
}

double finite_in(ByteReader& bytes) {
  const auto value = bytes.get<double>();
  if (!std::isfinite(value)) refuse_result();
  return value;
}

std::int64_t frames_in(ByteReader& bytes) {
  const auto frames = bytes.get<std::int64_t>();
  if (frames < 0 || frames > kMaxFrames) refuse_result();
  return frames;
}

}  // namespace

void put_span(ByteWriter& bytes, const media::FrameSpan& span) {
  bytes.put(span.frames);
  for (const std::optional<media::FrameEdge>& edge : {span.first, span.next}) {
    bytes.put(static_cast<std::uint8_t>(edge.has_value()));
    bytes.put(edge.value_or(media::FrameEdge{}).time);
    bytes.put(edge.value_or(media::FrameEdge{}).pixels);
  }
}

media::FrameSpan get_span(ByteReader& bytes) {
  media::FrameSpan span;
  span.frames = frames_in(bytes);
  for (std::optional<media::FrameEdge>* const edge : {&span.first, &span.next}) {
    const bool is_there = bytes.get<std::uint8_t>() != 0;
    media::FrameEdge one;
    one.time = bytes.get<double>();
    one.pixels = bytes.get<std::uint64_t>();
    if (is_there) *edge = one;
  }
  return span;
}

void put_result(ByteWriter& bytes, const FrameResult& result) {
  bytes.put(result.frame);
  bytes.put(result.time);
  bytes.put(static_cast<std::uint8_t>(result.status));
  bytes.put(result.width);
  bytes.put(result.height);
  bytes.put_text(result.message);
  bytes.put_text(result.picture);
  bytes.put(static_cast<std::uint32_t>(result.objects.size()));
  for (const Detection& object : result.objects) {
    for (const double value : {object.box.x, object.box.y, object.box.width, object.box.height, object.score})
      bytes.put(value);
    bytes.put(object.label);
    bytes.put(static_cast<std::uint8_t>((object.confidence ? 1 : 0) | (object.attributes ? 2 : 0)));
    if (object.confidence) bytes.put(*object.confidence);
    if (!object.attributes) continue;
    const DetectionAttributes& more = *object.attributes;
    bytes.put_text(more.name);
    bytes.put(static_cast<std::uint8_t>(more.distance.has_value()));
    bytes.put(more.distance.value_or(0));
    bytes.put_text(more.view);
    bytes.put(more.limit);
    bytes.put(static_cast<std::uint32_t>(more.landmarks.size()));
    for (const Landmark& one : more.landmarks) {
      bytes.put_text(one.name);
      bytes.put(one.x);
      bytes.put(one.y);
    }
    bytes.put(static_cast<std::uint32_t>(more.identities.size()));
    for (const Identity& one : more.identities) {
      bytes.put_text(one.name);
      bytes.put(one.distance);
    }
  }
}

FrameResult get_result(ByteReader& bytes) {
  FrameResult result;
  result.frame = frames_in(bytes);
  result.time = bytes.get<double>();
  const auto status = bytes.get<std::uint8_t>();
  if (status > static_cast<std::uint8_t>(FrameStatus::failed)) refuse_result();
  result.status = static_cast<FrameStatus>(status);
  result.width = bytes.get<int>();
  result.height = bytes.get<int>();
  result.message = bytes.get_text();
  result.picture = bytes.get_text();
  for (auto objects = bytes.get<std::uint32_t>(); objects > 0; --objects) {
    Detection& object = result.objects.emplace_back();
    for (double* const value :
         {&object.box.x, &object.box.y, &object.box.width, &object.box.height, &object.score})
      *value = finite_in(bytes);
    object.label = bytes.get<int>();
    const auto present = bytes.get<std::uint8_t>();
    if (present & 1) object.confidence = finite_in(bytes);
    if (!(present & 2)) continue;
    DetectionAttributes more;
    more.name = bytes.get_text();
    const bool has_distance = bytes.get<std::uint8_t>() != 0;
    const auto distance = bytes.get<double>();
    if (has_distance) more.distance = distance;
    more.view = bytes.get_text();
    more.limit = bytes.get<double>();
    for (auto landmarks = bytes.get<std::uint32_t>(); landmarks > 0; --landmarks) {
      Landmark& one = more.landmarks.emplace_back();
      one.name = bytes.get_text();
      one.x = bytes.get<double>();
      one.y = bytes.get<double>();
    }
    for (auto identities = bytes.get<std::uint32_t>(); identities > 0; --identities) {
      Identity& one = more.identities.emplace_back();
      one.name = bytes.get_text();
      one.distance = bytes.get<double>();
    }
    object.attributes = std::move(more);
  }
  return result;
}

}  // namespace sightline::apps::batch
