#include "faces/recognition/face_descriptor.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace sightline::recognition {
namespace {

[[noreturn]] void refuse_channels(const char* problem) {
  throw Error(ExitCode::usage, std::string("descriptor of faces: ") + problem);
}

// True if the cells of an axis with `length` pixels are symmetric.
bool is_own_mirror(const std::vector<Span>& spans, int length) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Span other = spans[spans.size() - 1 - i];
    if (spans[i].begin != length - other.end) return false;
  }
  return true;
}

// Its bit p is bit (points / 2 - p) modulo points of the code.
std::uint32_t mirrored_code(std::uint32_t code, int points) {
  std::uint32_t result = 0;
  for (int p = 0; p < points; ++p) result |= (code >> ((points / 2 - p + points) % points) & 1U) << p;
  return result;
}

}  // namespace

std::vector<std::uint16_t> mirrored_bins(const LbpBins& bins) {
  if (bins.mapping() == LbpMapping::rotation)
    refuse_channels("codes mapped by rotation (ri) cannot be mirrored");
  const int points = bins.points();
  std::vector<std::uint16_t> result(static_cast<std::size_t>(bins.count()));
  const auto set = [&](std::uint32_t code) {
    result[static_cast<std::size_t>(bins.bin(code))] =
        static_cast<std::uint16_t>(bins.bin(mirrored_code(code, points)));
  };
  if (!bins.table().empty()) {
    for (std::uint32_t code = 0; code < bins.table().size(); ++code) set(code);
    return result;
  }
  // Codes that are not uniform share a bin; all others are blocks of ones.
  set(0b101);
  const std::uint32_t all = (1U << points) - 1;
  for (int ones = 0; ones <= points; ++ones) {
    for (int at = 0; at < points; ++at) {
      const std::uint64_t block = ((std::uint64_t{1} << ones) - 1) << at;
      set(static_cast<std::uint32_t>((block | block >> points) & all));
    }
  }
  return result;
}

FaceDescriptor::FaceDescriptor(std::vector<Channel> channels) : first_values_{0} {
  if (channels.empty()) refuse_channels("no channel");
  for (Channel& channel : channels) {
    check(channel.normalisation);
    normalisations_.push_back(channel.normalisation);
    const Descriptor& d = descriptors_.emplace_back(std::move(channel.descriptor));
    if (d.settings().crop != crop_size()) refuse_channels("channels of crops of different sizes");
    is_folded_.push_back(channel.is_folded);
    if (channel.is_folded && !is_own_mirror(d.columns(), crop_size().width))
      refuse_channels("the columns of regions are not their own mirror image");
    const int regions = columns(descriptors_.size() - 1) * static_cast<int>(d.rows().size());
    int values = 0;
    mirrored_.emplace_back();
    for (std::size_t circle = 0; circle < d.circles().size(); ++circle) {
      mirrored_.back().push_back(channel.is_folded ? mirrored_bins(d.bins(circle))
                                                   : std::vector<std::uint16_t>());
      values += regions * d.bins(circle).count();
      regions_ += regions;
    }
    first_values_.push_back(first_values_.back() + values);
    if (first_values_.back() > Descriptor::kMostValues) refuse_channels("too many values");
    const int largest = (channel.is_folded ? 2 : 1) * d.largest_count();
    if (largest > 0xFFFF) refuse_channels("folded regions have at most 32767 pixels");
    largest_count_ = std::max(largest_count_, largest);
  }
}

void FaceDescriptor::fold(std::size_t channel, const std::uint16_t* counts, std::uint16_t* values) const {
  const Descriptor& d = descriptors_[channel];
  if (!is_folded_[channel]) {
    std::copy_n(counts, d.values(), values);
    return;
  }
  const std::size_t all_columns = d.columns().size();
  const auto left = static_cast<std::size_t>(columns(channel));
  for (std::size_t circle = 0; circle < d.circles().size(); ++circle) {
    const std::vector<std::uint16_t>& mirrored = mirrored_[channel][circle];
    const std::size_t bins = mirrored.size();
    for (std::size_t row = 0; row < d.rows().size(); ++row) {
      for (std::size_t column = 0; column < left; ++column) {
        const std::uint16_t* const own = counts + column * bins;
        const std::uint16_t* const other = counts + (all_columns - 1 - column) * bins;
        for (std::size_t bin = 0; bin < bins; ++bin)
          values[bin] = static_cast<std::uint16_t>(own[bin] + other[mirrored[bin]]);
        values += bins;
      }
      counts += all_columns * bins;
    }
  }
}

void FaceDescriptor::count(GrayView crop, Scratch& scratch, std::uint16_t* values) const {
  for (std::size_t i = 0; i < descriptors_.size(); ++i) {
    scratch.counts.resize(static_cast<std::size_t>(descriptors_[i].values()));
    descriptors_[i].count(scratch.normaliser.run(crop, normalisations_[i]), scratch.descriptor,
                          scratch.counts.data());
    fold(i, scratch.counts.data(), values + first_values_[i]);
  }
}

namespace reference {

void count(const FaceDescriptor& descriptor, GrayView crop, std::uint16_t* values) {
  Image<std::uint8_t> normalised(crop.width(), crop.height());
  for (std::size_t i = 0; i < descriptor.channels(); ++i) {
    normalise(crop, descriptor.normalisation(i), normalised.view());
    std::vector<std::uint16_t> counts(static_cast<std::size_t>(descriptor.descriptor(i).values()));
    count(descriptor.descriptor(i), normalised.view(), counts.data());
    descriptor.fold(i, counts.data(), values + descriptor.first_value(i));
  }
}

}  // namespace reference

}  // namespace sightline::recognition
