#include "detection/tracker.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "detection/assignment.hpp"
#include "detection/identity_pool.hpp"
#include "detection/kalman.hpp"
#include "detection/known_names.hpp"

namespace sightline {

namespace {

// Share of a track's area: a prediction covered by a found object counts as occluded.
constexpr double kCovered = 0.5;

bool is_usable(const Detection& object) {
  const Box& box = object.box;
  return std::isfinite(object.score) && std::isfinite(box.x) && std::isfinite(box.y) &&
         std::isfinite(box.width) && std::isfinite(box.height) && box.width > 0 && box.height > 0;
}

bool is_positive(const TrackerOptions::Noise& noise) {
  return noise.measurement > 0 && noise.acceleration >= 0 && noise.speed >= 0;
}

}  // namespace

struct Tracker::Track {
  ConstantVelocity x, y, aspect, height;  ///< centre, width over height, height; pixels
  double score = 0;                       ///< when last found
  double seen = 0;                        ///< when last found, seconds
  int label = 0;
  int hits = 0;
  int misses = 0;
  std::int64_t id = 0;          ///< 0: not yet reported
  bool found = false;           ///< true if found in this frame
  SharedAttributes attributes;  ///< from the last detection, with the name from `identity`
  IdentityPool identity;
};

Tracker::Tracker(const TrackerOptions& options)
    : options_(options), assignment_(std::make_unique<Assignment>()) {
  const bool sound = options.min_hits >= 1 && options.max_misses >= 0 && options.max_lost >= 0 &&
                     options.max_gap >= 0 && options.min_overlap > 0 && options.min_overlap <= 1 &&
                     !std::isnan(options.start_score) && std::isfinite(options.lowest_score) &&
                     options.max_pause > 0 && is_positive(options.place) && is_positive(options.size);
  if (!sound) throw std::invalid_argument("a tracker's options make no sense");
}

Tracker::~Tracker() = default;
Tracker::Tracker(Tracker&&) noexcept = default;
Tracker& Tracker::operator=(Tracker&&) noexcept = default;

std::size_t Tracker::tracks() const {
  return tracks_.size();
}

Tracker::Track Tracker::begin(const Detection& object, double time) const {
  const Box& box = object.box;
  const auto filter = [](double measured, const TrackerOptions::Noise& noise, double unit) {
    return ConstantVelocity::at(measured, noise.measurement * unit, noise.speed * unit);
  };
  const double aspect = box.width / box.height;
  Track track;
  track.x = filter(box.x + box.width / 2, options_.place, box.height);
  track.y = filter(box.y + box.height / 2, options_.place, box.height);
  track.aspect = filter(aspect, options_.size, aspect);
  track.height = filter(box.height, options_.size, box.height);
  track.score = object.score;
  track.seen = time;
  track.label = object.label;
  identify(track, object);
  track.hits = 1;
  track.found = true;
  return track;
}

void Tracker::identify(Track& track, const Detection& object) {
  track.identity.add(object.attributes);
  track.attributes = track.identity.pooled(object.attributes);
}

// Called before and after a frame's objects are added, for pooled names and for names of frames in flight.
void Tracker::drop_forgotten_names() {
  if (!options_.names) return;
  const auto known = options_.names->names();
  for (Track& track : tracks_) {
    track.identity.keep_only(*known);
    track.attributes = without_forgotten(track.attributes, *known);
  }
}

void Tracker::advance(Track& track, double seconds) const {
  const double height = std::max(track.height.position, 1.0);
  track.x.predict(seconds, options_.place.acceleration * height);
  track.y.predict(seconds, options_.place.acceleration * height);
  track.aspect.predict(seconds, options_.size.acceleration * track.aspect.position);
  track.height.predict(seconds, options_.size.acceleration * height);
  track.found = false;
}

void Tracker::correct(Track& track, const Detection& object, double time) const {
  const Box& box = object.box;
  const double aspect = box.width / box.height;
  track.x.correct(box.x + box.width / 2, options_.place.measurement * box.height);
  track.y.correct(box.y + box.height / 2, options_.place.measurement * box.height);
  track.aspect.correct(aspect, options_.size.measurement * aspect);
  track.height.correct(box.height, options_.size.measurement * box.height);
  track.score = object.score;
  identify(track, object);
  track.seen = time;
  track.misses = 0;
  track.found = true;
  ++track.hits;
}

Box Tracker::box_of(const Track& track, double ahead) {
  // A prediction far ahead could shrink to nothing.
  const double height = std::max(track.height.ahead(ahead), 1.0);
  const double width = std::max(track.aspect.ahead(ahead) * height, 1.0);
  return {track.x.ahead(ahead) - width / 2, track.y.ahead(ahead) - height / 2, width, height};
}

// Pairs the tracks that are (not yet) reported and still without an object with objects that are still free.
void Tracker::match(bool reported, bool strong, std::span<const Detection> objects, double time) {
  rows_.clear();
  columns_.clear();
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (!tracks_[i].found && (tracks_[i].id > 0) == reported) rows_.push_back(i);
  }
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!taken_[i] && (objects[i].score >= options_.start_score) == strong) columns_.push_back(i);
  }
  if (rows_.empty() || columns_.empty()) return;

  // A pair that may not be costs as much as none, so that it never pushes a good one aside.
  costs_.assign(rows_.size() * columns_.size(), 0.0);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Track& track = tracks_[rows_[r]];
    const Box predicted = box_of(track, 0);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Detection& object = objects[columns_[c]];
      if (object.label != track.label) continue;
      const double overlap = intersection_over_union(predicted, object.box);
      if (overlap >= options_.min_overlap) costs_[r * columns_.size() + c] = -overlap;
    }
  }
  const std::span<const int> columns = assignment_->solve(costs_, rows_.size(), columns_.size());
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (columns[r] < 0) continue;
    const auto c = static_cast<std::size_t>(columns[r]);
    if (costs_[r * columns_.size() + c] >= 0) continue;
    correct(tracks_[rows_[r]], objects[columns_[c]], time);
    taken_[columns_[c]] = 1;
  }
}

void Tracker::forget(double time) {
  std::erase_if(tracks_, [&](Track& track) {
    if (track.found) return false;
    ++track.misses;
    return track.id > 0 ? time - track.seen > options_.max_lost : track.misses > options_.max_misses;
  });
}

const std::vector<Detection>& Tracker::update(double time, std::span<const Detection> objects) {
  const double seconds = time - time_;
  if (!(seconds >= 0 && seconds <= options_.max_pause)) tracks_.clear();
  time_ = time;
  for (Track& track : tracks_) advance(track, seconds);
  drop_forgotten_names();

  taken_.resize(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) taken_[i] = !is_usable(objects[i]);
  match(true, true, objects, time);   // confirmed tracks choose first
  match(true, false, objects, time);  // then weak objects
  match(false, true, objects, time);
  forget(time);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!taken_[i] && objects[i].score >= options_.start_score) tracks_.push_back(begin(objects[i], time));
  }
  for (Track& track : tracks_) {
    if (track.id == 0 && track.hits >= options_.min_hits) track.id = ++last_id_;
  }
  drop_forgotten_names();
  report(time, 0);
  return reported_;
}

const std::vector<Detection>& Tracker::predict(double time) {
  const double ahead = time - time_;
  drop_forgotten_names();
  reported_.clear();
  predicted_.clear();
  if (ahead >= 0 && ahead <= options_.max_pause) report(time, ahead);
  return reported_;
}

void Tracker::report(double time, double ahead) {
  reported_.clear();
  for (const Track& track : tracks_) {
    if (track.id > 0 && track.found && ahead <= options_.max_lost) {
      const bool is_seen = ahead == 0;
      reported_.push_back({box_of(track, ahead), track.score, track.label, track.id,
                           is_seen ? track.attributes : track.attributes.without_landmarks()});
    }
  }
  const std::size_t found = reported_.size();
  for (const Track& track : tracks_) {
    const double lost = time - track.seen;
    if (track.id == 0 || track.found || lost > options_.max_gap || options_.max_gap <= 0) continue;
    const Box box = box_of(track, ahead);
    const bool covered = std::any_of(
        reported_.begin(), reported_.begin() + static_cast<std::ptrdiff_t>(found),
        [&](const Detection& other) {
          return other.label == track.label && intersection_area(other.box, box) >= kCovered * box.area();
        });
    if (covered) continue;
    const double part = lost / options_.max_gap;
    const double score = track.score + part * (std::min(options_.lowest_score, track.score) - track.score);
    reported_.push_back({box, score, track.label, track.id, track.attributes.without_landmarks()});
  }
  std::sort(reported_.begin(), reported_.end(), [](const Detection& a, const Detection& b) {
    return a.score != b.score ? a.score > b.score : a.track < b.track;
  });
  found_tracks_.clear();
  for (const Track& track : tracks_) {
    if (track.id > 0 && track.found && ahead == 0) found_tracks_.push_back(track.id);
  }
  std::ranges::sort(found_tracks_);
  predicted_.clear();
  for (const Detection& one : reported_)
    predicted_.push_back(!std::ranges::binary_search(found_tracks_, one.track));
}

}  // namespace sightline
