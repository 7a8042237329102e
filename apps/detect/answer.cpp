#include "apps/detect/answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration_text.hpp"
#include "base/text.hpp"

namespace sightline::apps {
namespace {

constexpr std::size_t kMostListed = 8;  // labels of which it is said that nothing was found

}  // namespace

void Answer::add(std::size_t input, bool is_picture, const FrameResult& result) {
  if (result.status != FrameStatus::ok) return;
  if (frames_++ == 0 && is_live_) start_ = result.time;
  only_pictures_ = only_pictures_ && is_picture;
  several_inputs_ = several_inputs_ || input > 1;
  std::vector<std::int64_t> counts(found_.size());
  for (const Detection& object : result.objects) {
    const auto label = static_cast<std::size_t>(object.label);
    Found& found = found_[label];
    ++counts[label];
    if (object.track > 0) {
      add_track(found, input, object, result.time);
    } else if (const std::string& name = object.attributes.name(); !name.empty()) {
      ++(name == kUnknownName ? found.unknown : found.named);
    }
  }
  for (std::size_t label = 0; label < counts.size(); ++label) {
    if (counts[label] == 0) continue;
    Found& found = found_[label];
    if (found.frames++ == 0) found.first = result.time;
    found.last = result.time;
    found.objects += counts[label];
    if (counts[label] <= found.most) continue;
    found.most = counts[label];
    found.most_picture = result.picture.empty() ? result.source : result.picture;
  }
}

void Answer::add_track(Found& found, std::size_t input, const Detection& object, double time) {
  constexpr double kForgotten = 120;  // seconds: --track-lost is at most 60
  if (found.recent.size() >= found.prune_at) {
    std::erase_if(found.recent, [&](const auto& one) {
      return one.first.first == input && time - one.second.seen > kForgotten;
    });
    found.prune_at = std::max<std::size_t>(1000, 2 * found.recent.size());
  }
  const auto [place, is_new] = found.recent.try_emplace({input, object.track});
  found.tracks += is_new ? 1 : 0;
  Track& track = place->second;
  track.seen = time;
  const std::string& name = object.attributes.name();
  const Name now = name.empty() ? Name::none : name == kUnknownName ? Name::unknown : Name::known;
  if (now <= track.name) return;
  if (track.name == Name::unknown) --found.unknown;
  ++(now == Name::known ? found.named : found.unknown);
  track.name = now;
}

std::string Answer::line(const Found& found, const std::string& label) const {
  if (of_classes_)
    return fmt::format("{}: {} of {}\n", label, found.frames,
                       counted(frames_, only_pictures_ ? "picture" : "frame"));
  if (found.objects == 0) return fmt::format("no {} found\n", several_of(label));
  if (only_pictures_) {
    std::string text = counted_objects(found.objects, label);
    if (frames_ > 1) {
      text += fmt::format(" in {} of {}, most in one: {} ({})", found.frames, counted(frames_, "picture"),
                          found.most, found.most_picture);
    }
    return text + '\n';
  }
  std::string text;
  if (found.tracks > 0) {
    text =
        fmt::format("{} ({})", counted_objects(found.tracks, label), found.tracks == 1 ? "track" : "tracks");
  } else {
    text = fmt::format("{}: {} in {} of {}", label, counted(found.objects, "detection"), found.frames,
                       counted(frames_, "frame"));
  }
  text += fmt::format(", most in one frame: {}", found.most);
  if (!several_inputs_)
    text += fmt::format(", from {} to {}", duration_text(found.first - start_),
                        duration_text(found.last - start_));
  return text + '\n';
}

std::string Answer::text() const {
  std::string text, names;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const Found& found = found_[i];
    if (found.objects > 0 || labels_.size() <= kMostListed) text += line(found, labels_[i]);
    if (found.named + found.unknown > 0)
      names += fmt::format("{} named, {} unknown\n", counted_objects(found.named, labels_[i]), found.unknown);
  }
  return text.empty() ? "nothing found\n" : text + names;
}

std::string Answer::one_line() const {
  return fmt::format("{}", fmt::join(split(text(), '\n'), "; "));
}

}  // namespace sightline::apps
