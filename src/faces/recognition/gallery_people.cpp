#include "faces/recognition/gallery_people.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/error.hpp"
#include "base/log.hpp"

namespace sightline::recognition {
namespace {

namespace fs = std::filesystem;
using gallery::Gallery;

constexpr std::chrono::milliseconds kFramePatience{0};
constexpr std::chrono::seconds kQuiet{2};  // time that another program may lock a gallery without a warning

// Largest distance of a match, from the limit options.
std::uint32_t limit_of(const gallery::Snapshot& known, const Recogniser& recogniser,
                       const LimitOptions& limit) {
  if (limit.distance) return recogniser.distance_within(*limit.distance);
  if (!limit.false_accepts && known.threshold)
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(known.threshold->distance, 0, UINT32_MAX));
  const double rate = limit.false_accepts.value_or(LimitOptions::kFalseAccepts);
  const double share = rate / std::max(1.0, static_cast<double>(known.size()));
  return distance_of_strangers(recogniser.model(), share).value_or(0);
}

std::shared_ptr<const KnownPeople> nobody(const Recogniser& recogniser) {
  return std::make_shared<KnownPeople>(KnownPeople{TemplateSet(recogniser.format()), {}, {}, 0});
}

// Identity of a file's content, to detect replacement and changes.
struct FileStamp {
  dev_t device = 0;
  ino_t node = 0;
  off_t size = 0;
  std::int64_t changed = 0;  // nanoseconds
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

FileStamp stamp_of(const fs::path& file) {
  struct stat now {};
  if (::stat(file.c_str(), &now) != 0) return {};
  return {now.st_dev, now.st_ino, now.st_size,
          std::int64_t{now.st_ctim.tv_sec} * 1'000'000'000 + now.st_ctim.tv_nsec};
}

// One gallery: read when it is made and, if it is followed, when people are asked for after a change.
class FollowedGallery : public PeopleSource {
 public:
  FollowedGallery(fs::path file, std::shared_ptr<const Recogniser> recogniser, const LimitOptions& limit,
                  bool follow)
      : file_(std::move(file)), recogniser_(std::move(recogniser)), limit_(limit), follow_(follow) {
    look(Gallery::kPatience);
    if (!gallery_) {
      logger().warn(
          "no people are known: there is no gallery '{}' (make it with `sightline faces add --name NAME`)",
          file_.string());
    } else if (follow) {
      gallery_->set_patience(kFramePatience);
    }
  }

  std::shared_ptr<const KnownPeople> current() const override {
    const std::lock_guard lock(mutex_);
    if (follow_) follow();
    return people_;
  }

 private:
  // An unusable gallery gives no people: people deleted with their gallery must not stay known.
  void follow() const {
    try {
      look(kFramePatience);
      busy_since_.reset();
      told_.clear();
    } catch (const Error& e) {
      e.code() == ExitCode::failed ? wait(e.what()) : forget_all(e.what());
    } catch (const std::exception& e) {
      forget_all(e.what());
    }
  }

  // Reads the gallery if it has changed.
  void look(std::chrono::milliseconds patience) const {
    const FileStamp stamp = stamp_of(file_);  // before it is opened: a later change shows the next time
    if (!gallery_ && seen_ == stamp) return;
    looked_at_ = stamp;
    const FileStamp before = seen_.value_or(FileStamp{});
    if (!Gallery::is_there(file_)) {
      if (gallery_) logger().warn("no people are known: the gallery '{}' is gone", file_.string());
      gallery_.reset();
      people_ = nobody(*recogniser_);
      seen_ = stamp;
      return;
    }
    const bool is_other = stamp.device != before.device || stamp.node != before.node;
    if (gallery_ && is_other)
      logger().info("the gallery '{}' was replaced by another file: reading its people again",
                    file_.string());
    if (gallery_ && !is_other) {
      const bool changed = gallery_->changed();
      if (!changed && stamp == before) return;
      if (!changed) gallery_.reset();  // SQLite does not notice changes by others, and keeps pages
    } else {
      gallery_.reset();
    }
    if (!gallery_) gallery_.emplace(file_, Gallery::Access::read, patience);
    people_ = load_people(*gallery_, *recogniser_, limit_);
    seen_ = stamp;
  }

  // Another program probably changes the gallery; its deletions take effect when it is done.
  void wait(const std::string& reason) const {
    const auto now = std::chrono::steady_clock::now();
    if (!busy_since_) busy_since_ = now;
    if (now - *busy_since_ >= kQuiet) warn_once("known people stay unchanged: " + reason);
  }

  void forget_all(const std::string& reason) const {
    gallery_.reset();
    people_ = nobody(*recogniser_);
    seen_ = looked_at_;
    warn_once("no people are known: " + reason);
  }

  void warn_once(const std::string& text) const {
    if (told_ != text) logger().warn("{}", text);
    told_ = text;
  }

  const fs::path file_;
  const std::shared_ptr<const Recogniser> recogniser_;
  const LimitOptions limit_;
  const bool follow_;

  mutable std::mutex mutex_;  ///< guards the following members
  mutable std::optional<Gallery> gallery_;
  mutable FileStamp looked_at_;
  mutable std::optional<FileStamp> seen_;  ///< stamp of the file that people were read from; none: no file
  mutable std::shared_ptr<const KnownPeople> people_;
  mutable std::optional<std::chrono::steady_clock::time_point> busy_since_;
  mutable std::string told_;
};

}  // namespace

gallery::TemplateKind template_kind(const Recogniser& recogniser) {
  return {recogniser.model().name, recogniser.hash(), recogniser.description(),
          static_cast<std::int64_t>(recogniser.template_bytes())};
}

std::shared_ptr<const KnownPeople> load_people(Gallery& gallery, const Recogniser& recogniser,
                                               const LimitOptions& limit) {
  gallery.require(template_kind(recogniser));
  const gallery::Snapshot snapshot = gallery.snapshot();
  auto people = std::make_shared<KnownPeople>(
      KnownPeople{TemplateSet(recogniser.format()), snapshot.owners, snapshot.names, 0});
  for (std::size_t i = 0; i < people->owners.size(); ++i) people->templates.append(snapshot.row(i));
  people->limit = limit_of(snapshot, recogniser, limit);
  return people;
}

std::unique_ptr<PeopleSource> people_of(const fs::path& file, std::shared_ptr<const Recogniser> recogniser,
                                        const LimitOptions& limit, bool follow) {
  return std::make_unique<FollowedGallery>(file, std::move(recogniser), limit, follow);
}

}  // namespace sightline::recognition
