#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "detectors/network/scheme.hpp"
#include "network/functions.hpp"

namespace sightline::network {
namespace {

using nn::functions::exponential;
using nn::functions::greater;
using nn::functions::hyperbolic_tangent;
using nn::functions::multiply_add;
using nn::functions::power;
using nn::functions::sigmoid;

// The sum of `count` numbers that `at(i)` gives, in the order of nn::Reduce.
template <typename At>
float tree_sum(std::int64_t count, const At& at) {
  constexpr std::size_t kSumLanes = 16;
  float lanes[kSumLanes] = {};
  for (std::int64_t i = 0; i < count; ++i) lanes[static_cast<std::size_t>(i) % kSumLanes] += at(i);
  for (std::size_t half = kSumLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

constexpr float kNoScore = -std::numeric_limits<float>::infinity();

// Whether boxes have sizes alone, of maps that have the centre's offset where others have objectness.
bool has_sizes_alone(const Scheme& scheme) {
  return scheme.box == BoxForm::size_at_cell || scheme.box == BoxForm::log_size_at_cell;
}

// Reads fields of one head.
class Reader {
 public:
  Reader(const Scheme& scheme, const Head& head, const std::vector<const Tensor*>& outputs)
      : scheme_(scheme), head_(head), outputs_(outputs), places_(head.places) {
    if (places_ < 0) places_ = count_places();
    const int scores = scheme.classes + (scheme.has_background ? 1 : 0);
    const int sides = scheme.box == BoxForm::distribution ? 4 * scheme.bins : has_sizes_alone(scheme) ? 2 : 4;
    check(head.classes, head.label.is_there() ? 1 : scores + (scheme.has_no_object ? 1 : 0));
    check(head.objectness, has_sizes_alone(scheme) ? 2 : 1);
    check(head.box, sides);
    check(head.points, 2 * scheme.points);
    check(head.label, 1);
  }
  std::int64_t places() const { return places_; }

  float at(const Field& field, std::int64_t place, std::int64_t channel = 0) const {
    const Tensor& tensor = *outputs_[static_cast<std::size_t>(field.output)];
    const std::int64_t i = field.offset + place * field.place_step + channel * field.channel_step;
    return number_at(tensor, i);
  }

  // How many scores `largest_scores` reads of a place.
  int scores() const { return end_of_classes() - first_class(); }

  // The largest class score of each place of a range, before the activation; NaN is none, -infinity stands
  // for none. Places with labels of their own have that label's.
  std::vector<float> largest_scores(std::int64_t begin, std::int64_t end) const {
    const Field& field = head_.classes;
    std::vector<float> largest(static_cast<std::size_t>(end - begin), kNoScore);
    const int first = first_class(), last = end_of_classes();  // the last one past
    const Tensor& tensor = *outputs_[static_cast<std::size_t>(field.output)];
    if (tensor.data() != DataType::f32 || (field.place_step != 1 && field.channel_step != 1)) {
      for (std::int64_t place = begin; place < end; ++place) {
        float& one = largest[static_cast<std::size_t>(place - begin)];
        for (int c = first; c < last; ++c) one = larger(at(field, place, c), one);
      }
      return largest;
    }
    const float* const values = tensor.as<float>().data() + field.offset + begin * field.place_step;
    for (int c = first; field.place_step == 1 && c < last; ++c) {
      const float* const channel = values + c * field.channel_step;
      for (std::size_t i = 0; i < largest.size(); ++i) largest[i] = larger(channel[i], largest[i]);
    }
    for (std::size_t i = 0; field.place_step != 1 && i < largest.size(); ++i)
      largest[i] = largest_of(values + static_cast<std::int64_t>(i) * field.place_step + first, last - first);
    return largest;
  }

  // The score of a place whose largest class score is given.
  float score_of(std::int64_t place, float largest) const {
    const bool is_softmax = scheme_.activation == ScoreFunction::softmax ||
                            scheme_.activation == ScoreFunction::softmax_of_classes;
    float score = is_softmax && !head_.label.is_there()
                      ? softmax_over(place, end_of_classes() + (scheme_.has_no_object ? 1 : 0)).of(largest)
                      : activated(largest);
    if (head_.label.is_there()) return score;
    if (head_.objectness.is_there() && !has_sizes_alone(scheme_)) {
      const float objectness = activated(at(head_.objectness, place));
      if (scheme_.takes_powers) return power(objectness, 0.6F) * power(score, 0.4F);
      score *= objectness;
    }
    return scheme_.takes_root ? std::sqrt(score) : score;
  }

  // The scores of all classes of a place.
  std::vector<float> class_scores(std::int64_t place) const {
    const bool is_softmax = scheme_.activation == ScoreFunction::softmax;
    const Softmax softmax = is_softmax ? softmax_over(place, end_of_classes()) : Softmax();
    std::vector<float> scores;
    for (int c = first_class(); c < end_of_classes(); ++c) {
      const float own = at(head_.classes, place, c);
      scores.push_back(is_softmax ? softmax.of(own) : activated(own));
    }
    return scores;
  }

  // The first class with that score; -1: none.
  int label_of(std::int64_t place, float largest) const {
    const int first = scheme_.has_background ? 1 : 0;
    if (head_.label.is_there()) {
      const float label = at(head_.label, place);
      return label >= 0 && label < 1e6F ? static_cast<int>(label) - first : -1;
    }
    int c = first;
    while (at(head_.classes, place, c) != largest) ++c;
    return c - first;
  }

  // Whether no neighbour's score is higher, and none before it is equal.
  bool is_peak(std::int64_t place, int label, float score) const {
    const std::int64_t columns = head_.columns, rows = places_ / columns;
    const std::int64_t x = place % columns, y = place / columns;
    for (std::int64_t ny = std::max<std::int64_t>(0, y - 1); ny <= std::min(rows - 1, y + 1); ++ny) {
      for (std::int64_t nx = std::max<std::int64_t>(0, x - 1); nx <= std::min(columns - 1, x + 1); ++nx) {
        const std::int64_t other = ny * columns + nx;
        const float theirs = activated(at(head_.classes, other, label));
        if (theirs > score || (theirs == score && other < place)) return false;
      }
    }
    return true;
  }

  void read_box(std::int64_t place, RawBox& box) const {
    float v[4] = {};
    const int sides = !head_.box.is_there() ? 0 : has_sizes_alone(scheme_) ? 2 : 4;
    for (std::int64_t i = 0; i < sides; ++i)
      v[i] = scheme_.box == BoxForm::distribution ? expected(place, i) : at(head_.box, place, i);
    const std::int64_t cell = head_.columns > 0 ? place / head_.anchors : 0;
    const float gx = head_.columns > 0 ? static_cast<float>(cell % head_.columns) : 0;
    const float gy = head_.columns > 0 ? static_cast<float>(cell / head_.columns) : 0;
    const float s = head_.stride, ux = scheme_.unit_x, uy = scheme_.unit_y;
    const auto centred = [&](float x, float y, float width, float height) {
      box.x1 = x - width / 2;
      box.y1 = y - height / 2;
      box.x2 = x + width / 2;
      box.y2 = y + height / 2;
    };
    switch (scheme_.box) {
      case BoxForm::corners: {
        const int x = scheme_.rows_first ? 1 : 0, y = 1 - x;
        box.x1 = v[x] * ux;
        box.y1 = v[y] * uy;
        box.x2 = v[x + 2] * ux;
        box.y2 = v[y + 2] * uy;
        break;
      }
      case BoxForm::centre:
        centred(v[0] * ux, v[1] * uy, v[2] * ux, v[3] * uy);
        break;
      case BoxForm::cell:
        centred((v[0] + gx) * s, (v[1] + gy) * s, exponential(v[2]) * s, exponential(v[3]) * s);
        break;
      case BoxForm::anchor: {
        const float width = 2 * activated(v[2]), height = 2 * activated(v[3]);
        centred((2 * activated(v[0]) - 0.5F + gx) * s, (2 * activated(v[1]) - 0.5F + gy) * s,
                width * width * head_.anchor_width, height * height * head_.anchor_height);
        break;
      }
      case BoxForm::darknet: {
        const auto centre = [&](float x, float start) {
          return (multiply_add(activated(x) - 0.5F, head_.spread, 0.5F) + start) * s;
        };
        centred(centre(v[0], gx), centre(v[1], gy), exponential(v[2]) * head_.anchor_width,
                exponential(v[3]) * head_.anchor_height);
        break;
      }
      case BoxForm::distances:
      case BoxForm::distribution:
        box.x1 = (gx + scheme_.anchor - v[0]) * s;
        box.y1 = (gy + scheme_.anchor - v[1]) * s;
        box.x2 = (gx + scheme_.anchor + v[2]) * s;
        box.y2 = (gy + scheme_.anchor + v[3]) * s;
        break;
      case BoxForm::prior: {
        const Prior& p = prior(place);
        centred(multiply_add(v[0] * 0.1F, p.width, p.x) * ux, multiply_add(v[1] * 0.1F, p.height, p.y) * uy,
                p.width * exponential(v[2] * 0.2F) * ux, p.height * exponential(v[3] * 0.2F) * uy);
        break;
      }
      case BoxForm::offset:
        centred((gx + 0.5F) * s + v[0], (gy + 0.5F) * s + v[1], v[2], v[3]);
        break;
      case BoxForm::share_at_cell:
        centred((hyperbolic_tangent(v[0]) + gx) * s, (hyperbolic_tangent(v[1]) + gy) * s, sigmoid(v[2]) * ux,
                sigmoid(v[3]) * uy);
        break;
      case BoxForm::size_at_cell: {
        const bool has_offset = head_.objectness.is_there();
        const float dx = has_offset ? at(head_.objectness, place, 0) : 0.5F;
        const float dy = has_offset ? at(head_.objectness, place, 1) : 0.5F;
        centred((gx + dx) * s, (gy + dy) * s, v[0] * s, v[1] * s);
        break;
      }
      case BoxForm::log_size_at_cell:
        centred((gx + 0.5F + at(head_.objectness, place, 1)) * s,
                (gy + 0.5F + at(head_.objectness, place, 0)) * s, exponential(v[1]) * s,
                exponential(v[0]) * s);
        break;
      case BoxForm::picture:
        box.x2 = ux;
        box.y2 = uy;
    }
    for (int i = 0; i < scheme_.points; ++i) {
      const float px = at(head_.points, place, 2 * i), py = at(head_.points, place, 2 * i + 1);
      float& x = box.points[static_cast<std::size_t>(2 * i)];
      float& y = box.points[static_cast<std::size_t>(2 * i) + 1];
      if (scheme_.box == BoxForm::prior) {
        const Prior& p = prior(place);
        x = multiply_add(px * 0.1F, p.width, p.x) * ux;
        y = multiply_add(py * 0.1F, p.height, p.y) * uy;
      } else if (scheme_.box == BoxForm::anchor) {
        x = multiply_add(px, head_.anchor_width, gx * s);
        y = multiply_add(py, head_.anchor_height, gy * s);
      } else if (scheme_.box == BoxForm::log_size_at_cell) {  // rows first
        x = multiply_add(py, box.x2 - box.x1, box.x1);
        y = multiply_add(px, box.y2 - box.y1, box.y1);
      } else {
        const float anchor = scheme_.box == BoxForm::cell ? 0 : scheme_.anchor;
        x = (gx + anchor + px) * s;
        y = (gy + anchor + py) * s;
      }
    }
  }

 private:
  static float larger(float score, float largest) { return score > largest ? score : largest; }
  // The largest of neighbouring numbers, found in eight lanes.
  static float largest_of(const float* scores, int count) {
    constexpr int kLanes = 8;
    std::array<float, kLanes> lanes;
    lanes.fill(kNoScore);
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane)
        lanes[static_cast<std::size_t>(lane)] =
            larger(scores[i + lane], lanes[static_cast<std::size_t>(lane)]);
    }
    float largest = kNoScore;
    for (; i < count; ++i) largest = larger(scores[i], largest);
    for (const float lane : lanes) largest = larger(lane, largest);
    return largest;
  }
  int first_class() const { return scheme_.has_background && !head_.label.is_there() ? 1 : 0; }
  int end_of_classes() const { return head_.label.is_there() ? 1 : scheme_.classes + first_class(); }

  const Prior& prior(std::int64_t place) const {
    return scheme_.priors[head_.first_prior + static_cast<std::size_t>(place)];
  }
  float activated(float score) const {
    const bool is_raw = scheme_.activation == ScoreFunction::sigmoid ||
                        scheme_.activation == ScoreFunction::softmax_of_classes;
    return is_raw ? sigmoid(score) : score;
  }
  struct Softmax {
    float largest = 0, sum = 1;
    float of(float score) const { return exponential(score - largest) / sum; }
  };
  // Over the first channels of a place's classes.
  Softmax softmax_over(std::int64_t place, int count) const {
    Softmax softmax{kNoScore, 0};
    for (int c = 0; c < count; ++c) softmax.largest = greater(at(head_.classes, place, c), softmax.largest);
    softmax.sum = tree_sum(
        count, [&](std::int64_t c) { return exponential(at(head_.classes, place, c) - softmax.largest); });
    return softmax;
  }
  // The mean of a side's distribution.
  float expected(std::int64_t place, std::int64_t side) const {
    const std::int64_t first = side * scheme_.bins;
    float largest = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < scheme_.bins; ++i) largest = greater(at(head_.box, place, first + i), largest);
    const auto weight = [&](std::int64_t i) {
      return exponential(at(head_.box, place, first + i) - largest);
    };
    const float sum = tree_sum(scheme_.bins, weight);
    return tree_sum(scheme_.bins, [&](std::int64_t i) { return weight(i) * static_cast<float>(i); }) / sum;
  }

  std::int64_t count_places() const {
    const Field& field = head_.classes.place_step >= head_.box.place_step ? head_.classes : head_.box;
    const Tensor& tensor = *outputs_[static_cast<std::size_t>(field.output)];
    return field.place_step > 0 ? tensor.size() / field.place_step : 0;
  }
  void check(const Field& field, int channels) const {
    if (!field.is_there() || places_ == 0) return;
    const Tensor& tensor = *outputs_[static_cast<std::size_t>(field.output)];
    const std::int64_t last =
        field.offset + (places_ - 1) * field.place_step + (channels - 1) * field.channel_step;
    if (channels > 0 && (places_ < 0 || last >= tensor.size() || field.offset < 0))
      throw Problem("gives an output of " + text_of(tensor.shape()) +
                    ", which is smaller than its decoder needs");
  }

  const Scheme& scheme_;
  const Head& head_;
  const std::vector<const Tensor*>& outputs_;
  std::int64_t places_;
};

// Places of a head, and their boxes.
struct Share {
  std::size_t head = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t first_number = 0;  // of the head's places among all
  std::vector<RawBox> boxes;
};
constexpr int kScoresOfPart = 16 << 10;

// Every class of the one place is a finding.
void read_classes(const Reader& reader, float threshold, Share& part) {
  const std::vector<float> scores = reader.class_scores(0);
  for (int c = 0; c < static_cast<int>(scores.size()); ++c) {
    RawBox box;
    box.score = scores[static_cast<std::size_t>(c)];
    if (!(box.score >= threshold)) continue;
    box.label = box.place = c;
    reader.read_box(0, box);
    part.boxes.push_back(box);
  }
}

void read_boxes(const Scheme& scheme, const Reader& reader, float threshold, Share& part) {
  if (scheme.box == BoxForm::picture) return read_classes(reader, threshold, part);
  const std::vector<float> largest = reader.largest_scores(part.begin, part.end);
  for (std::int64_t place = part.begin; place < part.end; ++place) {
    const float own = largest[static_cast<std::size_t>(place - part.begin)];
    if (own == kNoScore) continue;
    RawBox box;
    box.score = reader.score_of(place, own);
    if (!(box.score >= threshold)) continue;
    box.label = reader.label_of(place, own);
    if (box.label < 0 || (scheme.only_peaks && !reader.is_peak(place, box.label, box.score))) continue;
    box.place = static_cast<int>(part.first_number + place);
    reader.read_box(place, box);
    const bool is_finite =
        std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) && std::isfinite(box.y2);
    if (is_finite && box.x2 > box.x1 && box.y2 > box.y1) part.boxes.push_back(box);
  }
}

}  // namespace

void decode(const Scheme& scheme, const std::vector<const Tensor*>& outputs, float threshold,
            std::vector<RawBox>& boxes, WorkMeter* meter) {
  std::vector<Reader> readers;
  std::vector<Share> parts;
  std::int64_t first_number = 0;
  for (const Head& head : scheme.heads) {
    const Reader& reader = readers.emplace_back(scheme, head, outputs);
    const std::int64_t step = std::max(kScoresOfPart / std::max(reader.scores(), 1), 1);
    for (std::int64_t begin = 0; begin < reader.places(); begin += step)
      parts.push_back({readers.size() - 1, begin, std::min(begin + step, reader.places()), first_number, {}});
    first_number += reader.places();
  }
  parallel_for_isolated(
      parts.size(), [&](std::size_t i) { read_boxes(scheme, readers[parts[i].head], threshold, parts[i]); },
      meter);
  for (const Share& part : parts) boxes.insert(boxes.end(), part.boxes.begin(), part.boxes.end());
}

Survey survey(const Scheme& scheme, const std::vector<const Tensor*>& outputs, Size input) {
  Survey seen;
  const auto width = static_cast<float>(input.width), height = static_cast<float>(input.height);
  const auto is_far = [](float centre, float side) { return centre < -0.5F * side || centre > 1.5F * side; };
  for (const Head& head : scheme.heads) {
    const Reader reader(scheme, head, outputs);
    const std::vector<float> largest = reader.largest_scores(0, reader.places());
    for (std::int64_t place = 0; place < reader.places(); ++place) {
      const float own = largest[static_cast<std::size_t>(place)];
      const float score = own == kNoScore ? 0 : reader.score_of(place, own);
      seen.lowest = std::min(seen.lowest, score);  // a NaN changes nothing
      seen.highest = std::max(seen.highest, score);
      if (head.label.is_there()) {
        const float label = reader.at(head.label, place);
        seen.has_whole_labels &= label >= -1 && label == std::floor(label);
        if (label == 0 && scheme.has_background) seen.highest_of_none = std::max(seen.highest_of_none, score);
      }
      RawBox box;
      reader.read_box(place, box);
      if (box.x1 == 0 && box.y1 == 0 && box.x2 == 0 && box.y2 == 0) continue;
      ++seen.boxes;
      seen.inverted += box.x2 < box.x1 || box.y2 < box.y1;
      seen.outside += is_far((box.x1 + box.x2) / 2, width) || is_far((box.y1 + box.y2) / 2, height);
      seen.longest = std::max({seen.longest, box.x2 - box.x1, box.y2 - box.y1});
    }
  }
  return seen;
}

std::string sign_of_error(const Scheme& scheme, const Survey& seen, Size input) {
  constexpr float kRounding = 0.01F, kSmallestBox = 1.5F;
  constexpr int kSmallInput = 32;
  if (seen.highest > 1 + kRounding) return fmt::format("scores up to {:.3g}", seen.highest);
  if (seen.lowest < -kRounding) return fmt::format("scores down to {:.3g}", seen.lowest);
  if (!seen.has_whole_labels) return "class numbers that are no whole numbers";
  if (seen.boxes == 0 || scheme.in_picture) return "";
  if (seen.inverted > seen.boxes / 10) return "boxes of a negative size";
  if (seen.longest <= kSmallestBox && input.width >= kSmallInput)
    return fmt::format("no box larger than {:.2g} pixels", std::max(seen.longest, 0.0F));
  if (seen.outside > seen.boxes / 2) return "most boxes far outside of the picture";
  return "";
}

std::optional<float> only_score(const Scheme& scheme, const std::vector<const Tensor*>& outputs) {
  std::optional<float> only;
  std::int64_t places = 0;
  for (const Head& head : scheme.heads) {
    const Reader reader(scheme, head, outputs);
    places += reader.places();
    const std::vector<float> largest = reader.largest_scores(0, reader.places());
    for (std::int64_t place = 0; place < reader.places(); ++place) {
      const float own = largest[static_cast<std::size_t>(place)];
      const float score = own == kNoScore ? 0 : reader.score_of(place, own);
      if (score != only.value_or(score)) return {};  // a NaN equals nothing
      only = score;
    }
  }
  return places > 1 ? only : std::nullopt;
}

double overlap(const RawBox& a, const RawBox& b) {
  const double width = std::min<double>(a.x2, b.x2) - std::max<double>(a.x1, b.x1);
  const double height = std::min<double>(a.y2, b.y2) - std::max<double>(a.y1, b.y1);
  if (!(width > 0 && height > 0)) return 0;
  const auto area = [](const RawBox& box) {
    return (double{box.x2} - double{box.x1}) * (double{box.y2} - double{box.y1});
  };
  return width * height / (area(a) + area(b) - width * height);
}

void suppress(std::vector<RawBox>& boxes, double iou, bool agnostic) {
  std::ranges::sort(boxes, has_higher_confidence);
  std::vector<RawBox> kept;
  for (const RawBox& box : boxes) {
    const bool falls = std::ranges::any_of(kept, [&](const RawBox& surer) {
      return (agnostic || surer.label == box.label) && overlap(surer, box) > iou;
    });
    if (!falls) kept.push_back(box);
  }
  boxes = std::move(kept);
}

}  // namespace sightline::network
