#include "answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/duration_text.hpp"
#include "base/text.hpp"

namespace sightline::apps {

void Answer::add(std::size_t input, bool is_picture, const FrameResult& result) {
  if (result.status != FrameStatus::ok) return;
  ++frames_;
  only_pictures_ = only_pictures_ && is_picture;
  several_inputs_ = several_inputs_ || input > 1;
  std::vector<std::int64_t> counts(found_.size());
  for (const Detection& object : result.objects) {
    const auto label = static_cast<std::size_t>(object.label);
    Found& found = found_[label];
    ++counts[label];
    const std::pair<std::size_t, std::int64_t> track{input, object.track};
    if (object.track > 0) found.tracks.insert(track);
    const std::string& name = object.attributes.name();
    if (name.empty()) continue;
    const bool is_known = name != kUnknownName;
    if (object.track > 0) {
      (is_known ? found.named_tracks : found.unknown_tracks).insert(track);
    } else {
      ++(is_known ? found.named : found.unknown);
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

std::string Answer::line(const Found& found, const std::string& label) const {
  if (found.objects == 0) return fmt::format("no {} found\n", label == "person" ? "people" : label + "s");
  if (only_pictures_) {
    std::string text = counted(found.objects, label);
    if (frames_ > 1) {
      text += fmt::format(" in {} of {}, most in one: {} ({})", found.frames, counted(frames_, "picture"),
                          found.most, found.most_picture);
    }
    return text + '\n';
  }
  std::string text;
  if (!found.tracks.empty()) {
    text = fmt::format("{} ({})", counted(std::ssize(found.tracks), label),
                       found.tracks.size() == 1 ? "track" : "tracks");
  } else {
    text = fmt::format("{}: {} in {} of {}", label, counted(found.objects, "detection"), found.frames,
                       counted(frames_, "frame"));
  }
  text += fmt::format(", most in one frame: {}", found.most);
  if (!several_inputs_)
    text += fmt::format(", from {} to {}", duration_text(found.first), duration_text(found.last));
  return text + '\n';
}

std::string Answer::text() const {
  std::string text, names;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const Found& found = found_[i];
    text += line(found, labels_[i]);
    // A track that had a name once is not unknown.
    const auto unknown_tracks = std::ranges::count_if(
        found.unknown_tracks, [&](const auto& one) { return !found.named_tracks.contains(one); });
    const std::int64_t named = found.named + std::ssize(found.named_tracks);
    const std::int64_t unknown = found.unknown + unknown_tracks;
    if (named + unknown > 0)
      names += fmt::format("{} named, {} unknown\n", counted(named, labels_[i]), unknown);
  }
  return text + names;
}

}  // namespace sightline::apps
