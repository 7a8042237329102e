#include "faces/recognition/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "faces/recognition/chi_square.hpp"
#include "model/check.hpp"
#include "model/header.hpp"

namespace sightline::recognition {
namespace {

constexpr std::string_view kVersion = "3", kSecondVersion = "2", kFirstVersion = "1";
constexpr std::size_t kMostChannels = 8, kMostCircles = 8, kMostRates = 64;
constexpr std::int64_t kChannelNumbers = 9, kCircleNumbers = 3;
// Indices in the channel's numbers, if there are so many.
constexpr std::size_t kRelativeAt = 7, kFoldedAt = 8;

template <typename Number>
std::string number(Number value) {
  return std::to_string(value);
}

void check_channels(const FaceModel& model, const ModelCheck& check) {
  const CropGeometry& eyes = model.geometry;
  if (eyes.eye_distance < 1 || eyes.eye_distance > kCropSize.width || eyes.eye_row < 0 ||
      eyes.eye_row > kCropSize.height)
    check.fail(
        "eyes " + number(eyes.eye_distance) + " pixels apart in row " + number(eyes.eye_row) + " of a crop",
        "they must be within its " + number(kCropSize.width) + " by " + number(kCropSize.height) + " pixels");
  check.count("channels", std::ssize(model.channels), kMostChannels);
  for (const Channel& channel : model.channels) {
    if (channel.descriptor.circles.size() > kMostCircles)
      check.fail(number(channel.descriptor.circles.size()) + " circles in a channel",
                 "the limit is " + number(kMostCircles));
    if (channel.descriptor.crop != kCropSize || channel.descriptor.mapping != LbpMapping::uniform)
      check.fail("a channel of another crop or mapping", "it must be the same as for all models");
  }
  const FaceDescriptor descriptor = check.result_of([&] { return FaceDescriptor(model.channels); });
  const int most = model.projection ? kMostCount : kLargestCount;
  if (descriptor.largest_count() > most)
    check.fail("regions with up to " + number(descriptor.largest_count()) + " counts",
               "the limit is " + number(most));
  if (descriptor.values() > kLargestDims)
    check.fail(number(descriptor.values()) + " values of all channels",
               "the limit is " + number(kLargestDims));
}

void check_projection(const FaceModel& model, const ModelCheck& check) {
  const Projection& p = *model.projection;
  if (p.dims < 32 || p.dims > kMostTemplateDims || p.dims % 32 != 0)
    check.fail(number(p.dims) + " dimensions",
               "there are 32 to " + number(kMostTemplateDims) + ", in steps of 32");
  const int counts = FaceDescriptor(model.channels).values();
  if (p.values != counts)
    check.fail("a projection of " + number(p.values) + " values", "the channels have " + number(counts));
  const auto dims = static_cast<std::size_t>(p.dims), values = static_cast<std::size_t>(p.values);
  if (p.weights.size() != dims * values || p.bias.size() != dims || p.scale.size() != dims)
    check.fail("an array of the projection does not have the stated size", "train it again");
  check.integer("templates of length ", p.length, 1, kLongestTemplate);
  for (std::size_t d = 0; d < dims; ++d) {
    std::int64_t largest = std::abs(std::int64_t{p.bias[d]});
    for (std::size_t j = 0; j < values; ++j)
      largest += std::int64_t{255} * std::abs(int{p.weights[d * values + j]});
    if (largest >= kProjectionLimit)
      check.fail("sums of dimension " + number(d) + " can reach " + number(largest),
                 "they must stay below " + number(kProjectionLimit));
  }
}

void check_weights(const FaceModel& model, const ModelCheck& check) {
  const auto regions = static_cast<std::size_t>(FaceDescriptor(model.channels).regions());
  if (model.region_weights.size() != regions)
    check.fail(number(model.region_weights.size()) + " weights of regions", "there are " + number(regions));
  if (std::ranges::all_of(model.region_weights, [](std::uint8_t weight) { return weight == 0; }))
    check.fail("all regions have weight 0", "at least one must be positive");
  check.result_of([&] { return TemplateSet(template_format(model)); });  // distances fit
}

void check_strangers(const std::vector<FalseMatchRate>& strangers, const ModelCheck& check) {
  if (strangers.size() > kMostRates)
    check.fail(number(strangers.size()) + " false-match rates", "the limit is " + number(kMostRates));
  for (std::size_t i = 0; i < strangers.size(); ++i) {
    const bool is_rate = strangers[i].rate > 0 && strangers[i].rate <= 1;
    if (!is_rate || (i > 0 && (strangers[i].rate <= strangers[i - 1].rate ||
                               strangers[i].distance < strangers[i - 1].distance)))
      check.fail("the false-match rates do not rise with their distances from 0 to 1", "train it again");
  }
}

void check_model(const FaceModel& model, const ModelCheck& check) {
  check_channels(model, check);
  if (model.projection && !model.region_weights.empty())
    check.fail("both a projection and weights of regions", "a model has one of them");
  if (model.projection) {
    check_projection(model, check);
  } else {
    check_weights(model, check);
  }
  check_strangers(model.strangers, check);
}

// Length of an array along its first dimension; fails above `most`.
std::int64_t length(const Safetensors& file, const ModelHeader& header, const std::string& array,
                    std::int64_t most) {
  const TensorShape& shape = file.at(array).shape;
  if (shape.empty() || shape[0] > most)
    header.fail("array '" + array + "' is too long", "the limit is " + number(most) + " rows");
  return shape[0];
}

void read_channels(const Safetensors& file, const ModelHeader& header, FaceModel& model) {
  const auto count = length(file, header, "channels", kMostChannels);
  const auto circles = length(file, header, "circles", kMostChannels * kMostCircles);
  const std::string& version = header.text("version");
  const std::int64_t numbers = version == kFirstVersion    ? kChannelNumbers - 2
                               : version == kSecondVersion ? kChannelNumbers - 1
                                                           : kChannelNumbers;
  const auto channels = file.array<std::int32_t>("channels", {count, numbers});
  for (std::int64_t i = 0; i < count; ++i) {
    const auto n = channels.subspan(static_cast<std::size_t>(i * numbers), static_cast<std::size_t>(numbers));
    for (const std::int32_t value : n) {
      if (value < 0 || value > kCropSize.height)
        header.fail("a channel with a length of " + number(value), "lengths are pixels of the crop");
    }
    Channel channel;
    const bool is_relative = n.size() > kRelativeAt && n[kRelativeAt] != 0;
    channel.is_folded = n.size() <= kFoldedAt || n[kFoldedAt] != 0;
    channel.normalisation = {n[0], n[1], is_relative};
    channel.descriptor.circles.clear();
    channel.descriptor.margin = n[2];
    channel.descriptor.region = {n[3], n[4]};
    channel.descriptor.step = {n[5], n[6]};
    model.channels.push_back(channel);
  }
  const auto values = file.array<double>("circles", {circles, kCircleNumbers});
  for (std::int64_t i = 0; i < circles; ++i) {
    const auto n = values.subspan(static_cast<std::size_t>(i * kCircleNumbers), kCircleNumbers);
    if (!(n[0] >= 0 && n[0] < static_cast<double>(count)))
      header.fail("a circle belongs to channel " + number(n[0]), "there are " + number(count));
    if (n[1] != 8 && n[1] != 16 && n[1] != 24)
      header.fail("a circle of " + number(n[1]) + " points", "there are 8, 16 or 24");
    model.channels[static_cast<std::size_t>(n[0])].descriptor.circles.push_back(
        {static_cast<int>(n[1]), n[2]});
  }
}

void read_projection(const Safetensors& file, const ModelHeader& header, FaceModel& model) {
  Projection p;
  p.dims = static_cast<int>(length(file, header, "projection", kMostTemplateDims));
  p.values = FaceDescriptor(model.channels).values();
  p.length = file.array<std::int32_t>("length", {1})[0];
  const auto weights = file.array<std::int8_t>("projection", {p.dims, p.values});
  p.weights.assign(weights.begin(), weights.end());
  const auto bias = file.array<std::int32_t>("bias", {p.dims});
  p.bias.assign(bias.begin(), bias.end());
  for (const std::int32_t scale : file.array<std::int32_t>("scales", {p.dims})) {
    if (scale < 0 || scale > std::numeric_limits<std::uint16_t>::max())
      header.fail("a scale of " + number(scale), "it must be 0 to 65535");
    p.scale.push_back(static_cast<std::uint16_t>(scale));
  }
  model.projection = std::move(p);
}

void read_strangers(const Safetensors& file, const ModelHeader& header, FaceModel& model) {
  const auto count = length(file, header, "stranger_rates", kMostRates);
  const auto rates = file.array<double>("stranger_rates", {count});
  const auto distances = file.array<std::int64_t>("stranger_distances", {count});
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (distances[i] < 0 || distances[i] > std::numeric_limits<std::uint32_t>::max())
      header.fail("a distance of " + number(distances[i]), "distances have 32 bits");
    model.strangers.push_back({rates[i], static_cast<std::uint32_t>(distances[i])});
  }
}

}  // namespace

TemplateFormat template_format(const FaceModel& model) {
  TemplateFormat format;
  if (model.projection) {
    format.kind = TemplateFormat::Kind::vector8;
    format.dims = model.projection->dims;
    return format;
  }
  const FaceDescriptor descriptor(model.channels);
  format.kind =
      descriptor.largest_count() <= 255 ? TemplateFormat::Kind::counts8 : TemplateFormat::Kind::counts16;
  format.dims = descriptor.values();
  // A search without weights is the faster one.
  if (std::ranges::all_of(model.region_weights, [](std::uint8_t weight) { return weight == 1; }))
    return format;
  std::size_t region = 0;
  for (std::size_t channel = 0; channel < descriptor.channels(); ++channel) {
    const Descriptor& own = descriptor.descriptor(channel);
    const std::size_t regions = static_cast<std::size_t>(descriptor.columns(channel)) * own.rows().size();
    for (std::size_t circle = 0; circle < own.circles().size(); ++circle) {
      const auto bins = static_cast<std::size_t>(own.bins(circle).count());
      for (std::size_t i = 0; i < regions; ++i)
        format.weights.insert(format.weights.end(), bins, model.region_weights[region++]);
    }
  }
  return format;
}

void write_template(const TemplateFormat& format, const Projector* projector,
                    std::span<const std::uint16_t> counts, Projector::Scratch& scratch,
                    std::span<std::uint8_t> target) {
  if (projector) {
    projector->project(counts.data(), scratch, reinterpret_cast<std::int8_t*>(target.data()));
    return;
  }
  // A byte a count, or two, the lower first.
  const std::size_t bytes = format.kind == TemplateFormat::Kind::counts16 ? 2 : 1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (std::size_t byte = 0; byte < bytes; ++byte)
      target[bytes * i + byte] = static_cast<std::uint8_t>(counts[i] >> (8 * byte));
  }
}

std::optional<std::uint32_t> distance_of_strangers(const FaceModel& model, double rate) {
  const auto above =
      std::ranges::find_if(model.strangers, [&](const FalseMatchRate& known) { return known.rate > rate; });
  if (above == model.strangers.begin()) return std::nullopt;
  const FalseMatchRate& below = *(above - 1);
  if (above == model.strangers.end()) return below.distance;
  // In proportion to the logarithm of the rate, by which tails of distances are nearly straight.
  const double part = std::log(rate / below.rate) / std::log(above->rate / below.rate);
  return below.distance + static_cast<std::uint32_t>(part * (above->distance - below.distance));
}

double distance_unit(const FaceModel& model) {
  if (model.projection) return 2.0 * model.projection->length * model.projection->length;
  if (model.strangers.empty() || model.strangers.back().distance == 0) return kChiSquareUnit;
  return model.strangers.back().distance;
}

FaceModel load_face_model(const std::filesystem::path& path, std::uint64_t max_bytes) {
  return read_face_model(Safetensors::load(path, max_bytes), path);
}

bool looks_like_face_model(const std::filesystem::path& file) {
  return safetensors_kind(file) == kFaceModelKind;
}

FaceModel read_face_model(const Safetensors& file, const std::filesystem::path& path) {
  const ModelHeader header(file, path);
  header.expect("kind", kFaceModelKind, "choose a model of `train recognition`");
  if (header.text("version") != kFirstVersion && header.text("version") != kSecondVersion)
    header.expect("version", kVersion, "train it again, or use the version that made it");
  FaceModel model;
  model.name = path.stem().string();
  if (const std::string* provenance = header.find("provenance")) model.provenance = *provenance;
  read_channels(file, header, model);
  if (header.text("version") == kVersion) {
    const auto geometry = file.array<std::int32_t>("geometry", {2});
    model.geometry = {geometry[0], geometry[1]};
  }
  const bool is_learned = file.contains("projection");
  if (is_learned) model.projection.emplace();  // decides how large regions may be
  const ModelCheck check(header);
  check_channels(model, check);
  if (is_learned) {
    read_projection(file, header, model);
  } else {
    const auto weights = file.array<std::uint8_t>("region_weights", {Safetensors::kAny});
    model.region_weights.assign(weights.begin(), weights.end());
  }
  if (file.contains("stranger_rates")) read_strangers(file, header, model);
  check_model(model, check);
  return model;
}

namespace {

// Keeps other models readable by older programs, and unchanged to the byte.
bool needs_new_version(const FaceModel& model) {
  return model.geometry != CropGeometry() ||
         !std::ranges::all_of(model.channels, [](const Channel& channel) { return channel.is_folded; });
}

}  // namespace

Safetensors container_of(const FaceModel& model) {
  check_model(model, ModelCheck());
  Safetensors container;
  const bool is_new = needs_new_version(model);
  container.metadata = {{"kind", std::string(kFaceModelKind)},
                        {"version", std::string(is_new ? kVersion : kSecondVersion)}};
  if (!model.provenance.empty()) container.metadata["provenance"] = model.provenance;
  std::vector<double> circles;
  std::vector<std::int32_t> channels;
  for (std::size_t i = 0; i < model.channels.size(); ++i) {
    const auto& [light, descriptor, is_folded] = model.channels[i];
    channels.insert(channels.end(), {light.inner, light.outer, descriptor.margin, descriptor.region.width,
                                     descriptor.region.height, descriptor.step.width, descriptor.step.height,
                                     light.is_relative ? 1 : 0});
    if (is_new) channels.push_back(is_folded ? 1 : 0);
    for (const Circle& circle : descriptor.circles)
      circles.insert(circles.end(),
                     {static_cast<double>(i), static_cast<double>(circle.points), circle.radius});
  }
  const auto rows = [](const auto& values, std::int64_t columns) {
    return TensorShape{static_cast<std::int64_t>(values.size()) / columns, columns};
  };
  container.set<std::int32_t>("channels", rows(channels, is_new ? kChannelNumbers : kChannelNumbers - 1),
                              channels);
  if (is_new) {
    const std::int32_t geometry[] = {model.geometry.eye_distance, model.geometry.eye_row};
    container.set<std::int32_t>("geometry", {2}, geometry);
  }
  container.set<double>("circles", rows(circles, kCircleNumbers), circles);
  if (model.projection) {
    const Projection& p = *model.projection;
    container.set<std::int8_t>("projection", {p.dims, p.values}, p.weights);
    container.set<std::int32_t>("bias", {p.dims}, p.bias);
    const std::vector<std::int32_t> scales(p.scale.begin(), p.scale.end());
    container.set<std::int32_t>("scales", {p.dims}, scales);
    const std::int32_t length[] = {p.length};
    container.set<std::int32_t>("length", {1}, length);
  } else {
    container.set<std::uint8_t>("region_weights", {static_cast<std::int64_t>(model.region_weights.size())},
                                model.region_weights);
  }
  if (!model.strangers.empty()) {
    std::vector<double> rates;
    std::vector<std::int64_t> distances;
    for (const FalseMatchRate& known : model.strangers) {
      rates.push_back(known.rate);
      distances.push_back(known.distance);
    }
    const auto count = static_cast<std::int64_t>(rates.size());
    container.set<double>("stranger_rates", {count}, rates);
    container.set<std::int64_t>("stranger_distances", {count}, distances);
  }
  return container;
}

void save_face_model(const FaceModel& model, const std::filesystem::path& file) {
  container_of(model).save(file);
}

}  // namespace sightline::recognition
