#include "faces/recognition/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text_rows.hpp"

namespace sightline::recognition {
namespace {

using Scored = std::pair<std::uint32_t, bool>;  // distance, whether it is one person

// The distance up to which pairs are best taken for one person's; -1 where best none is.
std::int64_t best_limit(std::vector<Scored> pairs) {
  std::ranges::sort(pairs);
  std::int64_t right = 0, best = 0, limit = -1;  // more than with no pair accepted
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    right += pairs[i].second ? 1 : -1;
    if (i + 1 < pairs.size() && pairs[i + 1].first == pairs[i].first) continue;
    if (right > best) {
      best = right;
      limit = pairs[i].first;
    }
  }
  return limit;
}

double share_right(const std::vector<Scored>& pairs, std::int64_t limit) {
  const auto right = std::ranges::count_if(
      pairs, [&](const Scored& pair) { return (std::int64_t{pair.first} <= limit) == pair.second; });
  return static_cast<double>(right) / static_cast<double>(pairs.size());
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double standard_error(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double count = static_cast<double>(values.size());
  return std::sqrt(squares / (count - 1) / count);
}

// Between the two points around it where no threshold gives exactly as many.
double equal_error_rate(const std::vector<DetPoint>& curve) {
  DetPoint before{std::numeric_limits<double>::infinity(), 0, 1};
  for (const DetPoint& point : curve) {
    const double gap = before.miss_rate - before.false_positive_rate;
    const double next_gap = point.miss_rate - point.false_positive_rate;
    if (next_gap <= 0) {
      const double part = gap > next_gap ? gap / (gap - next_gap) : 0;
      return before.miss_rate + part * (point.miss_rate - before.miss_rate);
    }
    before = point;
  }
  return before.miss_rate;
}

}  // namespace

std::vector<NamedPair> load_named_pairs(const std::filesystem::path& file) {
  std::vector<NamedPair> pairs;
  std::map<std::string, std::set<bool>> kinds;
  text_rows::for_each_row(file, "pairs of photos", [&](std::string_view text, const text_rows::Row& row) {
    const std::vector<std::string_view> fields = text_rows::split_at_blanks(text);
    if (fields.size() != 4 || (fields[3] != "0" && fields[3] != "1"))
      row.refuse("a line has a fold, two photos, and 1 for one person or 0 for two");
    pairs.push_back(
        {std::string(fields[0]), std::string(fields[1]), std::string(fields[2]), fields[3] == "1"});
    kinds[pairs.back().fold].insert(pairs.back().is_same);
  });
  const bool are_whole = std::ranges::all_of(kinds, [](const auto& fold) { return fold.second.size() == 2; });
  if (kinds.size() < 2 || !are_whole)
    throw Error(ExitCode::input, "'" + file.string() + "' has no folds for cross-validation",
                "give two or more, each with pairs of one person and pairs of two");
  return pairs;
}

VerificationResult verify(std::span<const NamedPair> pairs, std::span<const std::uint32_t> distances) {
  std::map<std::string, std::vector<Scored>> folds;
  ImageScores scores;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    folds[pairs[i].fold].emplace_back(distances[i], pairs[i].is_same);
    scores.detections.push_back({-static_cast<double>(distances[i]), pairs[i].is_same});
    ++(pairs[i].is_same ? scores.positives : scores.images);
  }
  VerificationResult result;
  for (const auto& [name, own] : folds) {
    std::vector<Scored> others;
    for (const auto& [other, some] : folds) {
      if (other != name) others.insert(others.end(), some.begin(), some.end());
    }
    result.folds.push_back(share_right(own, best_limit(std::move(others))));
  }
  result.accuracy = mean_of(result.folds);
  result.error = standard_error(result.folds);
  result.curve = miss_rate_per_image(scores);
  result.equal_error_rate = equal_error_rate(result.curve);
  return result;
}

std::vector<NamedPhoto> load_named_photos(const std::filesystem::path& file) {
  std::vector<NamedPhoto> photos;
  text_rows::for_each_row(file, "photos of people", [&](std::string_view text, const text_rows::Row& row) {
    const std::vector<std::string_view> fields = text_rows::split_at_blanks(text);
    if (fields.size() != 3) row.refuse("a line has a role, a person and a photo");
    NamedPhoto photo;
    if (fields[0] == "probe") {
      photo.role = NamedPhoto::Role::probe;
    } else if (fields[0] == "unknown") {
      photo.role = NamedPhoto::Role::unknown;
    } else if (fields[0] != "gallery") {
      row.refuse("'" + std::string(fields[0]) + "' is not a role; roles are gallery, probe and unknown");
    }
    photo.person = fields[1];
    photo.photo = fields[2];
    photos.push_back(std::move(photo));
  });
  std::set<std::string> known;
  bool has_probes = false;
  for (const NamedPhoto& photo : photos) {
    if (photo.role == NamedPhoto::Role::gallery) known.insert(photo.person);
    has_probes |= photo.role == NamedPhoto::Role::probe;
  }
  if (known.empty() || !has_probes)
    throw Error(ExitCode::input, "'" + file.string() + "' has no gallery or no probes",
                "give lines of both roles");
  for (const NamedPhoto& photo : photos) {
    if (photo.role != NamedPhoto::Role::gallery &&
        known.contains(photo.person) != (photo.role == NamedPhoto::Role::probe))
      throw Error(ExitCode::input,
                  "'" + file.string() + "': the role of photo '" + photo.photo +
                      "' does not fit: a probe's person must be in the gallery, an unknown person must not",
                  "correct the list");
  }
  return photos;
}

IdentificationResult identify(std::span<const NamedPhoto> photos,
                              const std::function<std::uint32_t(std::size_t, std::size_t)>& distance,
                              std::size_t ranks) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> gallery, owners, looked_up;
  for (std::size_t i = 0; i < photos.size(); ++i) {
    if (photos[i].role == NamedPhoto::Role::gallery) {
      gallery.push_back(i);
      owners.push_back(numbers.try_emplace(photos[i].person, numbers.size()).first->second);
    } else {
      looked_up.push_back(i);
    }
  }
  struct Lookup {
    std::size_t rank = 0;  // rank of the right person, from 0
    std::uint32_t nearest = 0;
  };
  std::vector<Lookup> lookups(looked_up.size());
  parallel_for_isolated(looked_up.size(), [&](std::size_t i) {
    std::vector<std::uint32_t> of_people(numbers.size(), std::numeric_limits<std::uint32_t>::max());
    for (std::size_t k = 0; k < gallery.size(); ++k)
      of_people[owners[k]] = std::min(of_people[owners[k]], distance(looked_up[i], gallery[k]));
    lookups[i].nearest = *std::ranges::min_element(of_people);
    const auto own = numbers.find(photos[looked_up[i]].person);
    if (own == numbers.end()) return;
    for (std::size_t person = 0; person < of_people.size(); ++person) {
      const std::uint32_t right = of_people[own->second];
      lookups[i].rank += of_people[person] < right || (of_people[person] == right && person < own->second);
    }
  });
  IdentificationResult result;
  result.people = numbers.size();
  result.gallery = gallery.size();
  result.cumulative.assign(std::min(ranks, numbers.size()), 0);
  ImageScores scores;
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    const bool is_probe = photos[looked_up[i]].role == NamedPhoto::Role::probe;
    ++(is_probe ? result.probes : result.unknown);
    if (is_probe && lookups[i].rank < result.cumulative.size()) ++result.cumulative[lookups[i].rank];
    // A probe under a wrong name is a miss at any threshold.
    if (is_probe && lookups[i].rank != 0) continue;
    scores.detections.push_back({-static_cast<double>(lookups[i].nearest), is_probe});
  }
  double sum = 0;
  for (double& share : result.cumulative) share = (sum += share) / static_cast<double>(result.probes);
  scores.positives = static_cast<std::int64_t>(result.probes);
  scores.images = static_cast<std::int64_t>(result.unknown);
  if (result.unknown > 0) result.curve = miss_rate_per_image(scores);
  return result;
}

}  // namespace sightline::recognition
