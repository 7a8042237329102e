#include "recognition/gallery_people.hpp"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/error.hpp"

namespace sightline::recognition {
namespace {

namespace fs = std::filesystem;
using gallery::Gallery;

constexpr std::chrono::milliseconds kLookEvery{250};

// What is as near as that is the same person's, by what is said of distances.
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

// Which file stands under a name: another one after it was renamed there, whatever is written into either.
struct FileNode {
  dev_t device = 0;
  ino_t node = 0;
  friend bool operator==(const FileNode&, const FileNode&) = default;
};

FileNode node_of(const fs::path& file) {
  struct stat now {};
  return ::stat(file.c_str(), &now) == 0 ? FileNode{now.st_dev, now.st_ino} : FileNode{};
}

// One gallery, read when it is asked for and whenever it has changed.
class FollowedGallery : public PeopleSource {
 public:
  FollowedGallery(fs::path file, std::shared_ptr<const Recogniser> recogniser, const LimitOptions& limit,
                  bool follow)
      : file_(std::move(file)), recogniser_(std::move(recogniser)), limit_(limit) {
    if (!look()) {
      spdlog::warn(
          "nobody is known yet: there is no gallery '{}' (`sightline faces add --name NAME` makes it)",
          file_.string());
    }
    if (follow) thread_ = std::jthread([this](const std::stop_token& stop) { keep_looking(stop); });
  }

  std::shared_ptr<const KnownPeople> current() const override {
    const std::lock_guard lock(mutex_);
    return people_;
  }

 private:
  // Whether there is a gallery.
  bool look() {
    if (!Gallery::is_there(file_)) {
      if (gallery_ || !current()) publish(nobody(*recogniser_));
      gallery_.reset();
      return false;
    }
    // Before it is opened: who puts another one there meanwhile is noticed the next time.
    const FileNode node = node_of(file_);
    if (gallery_ && node != node_) {
      spdlog::info("the gallery '{}' was replaced by another file: its people are read anew", file_.string());
      gallery_.reset();
    }
    if (gallery_ && !gallery_->changed()) return true;
    if (!gallery_) gallery_.emplace(file_, Gallery::Access::read);
    node_ = node;
    publish(load_people(*gallery_, *recogniser_, limit_));
    return true;
  }

  void publish(std::shared_ptr<const KnownPeople> people) {
    const std::lock_guard lock(mutex_);
    people_ = std::move(people);
  }

  void keep_looking(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wakes;
    std::string told;
    while (!stop.stop_requested()) {
      std::unique_lock lock(mutex);
      wakes.wait_for(lock, stop, kLookEvery, [] { return false; });
      try {
        look();
        told.clear();
      } catch (const std::exception& e) {
        gallery_.reset();
        if (told != e.what()) spdlog::warn("people stay as they are: {}", e.what());
        told = e.what();
      }
    }
  }

  fs::path file_;
  std::shared_ptr<const Recogniser> recogniser_;
  LimitOptions limit_;
  std::optional<Gallery> gallery_;  ///< of the constructor, then of the thread
  FileNode node_;                   ///< of the file that it has open
  mutable std::mutex mutex_;
  std::shared_ptr<const KnownPeople> people_;
  std::jthread thread_;  ///< last: ends before what it uses
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
