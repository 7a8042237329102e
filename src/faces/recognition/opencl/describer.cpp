#include "faces/recognition/opencl/describer.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "opencl/data.hpp"

namespace sightline::recognition {
namespace {

using opencl::define;
using opencl::upload;

// Mirrors `Channel` in kernels/recognition/describe.cl.
struct DeviceChannel {
  cl_int reach[2];
  cl_int weights[2][kMostBlurReach + 1];
  cl_int is_relative;
};
static_assert(sizeof(DeviceChannel) == (3 + 2 * (kMostBlurReach + 1)) * sizeof(cl_int));

// Mirrors `Circle` there.
struct DeviceCircle {
  cl_int channel, margin, points, first_sample, first_bin, padding[3];
};
static_assert(sizeof(DeviceCircle) == 8 * sizeof(cl_int));
constexpr cl_int kUniform = -1, kRotationUniform = -2;

// Mirrors `Region` there.
struct DeviceRegion {
  cl_int circle, width, top, bottom, left, other_left, bins, first_value, first_mirrored;
};
constexpr cl_int kNoOther = -1;
static_assert(sizeof(DeviceRegion) == 9 * sizeof(cl_int));

// Mirrors `LbpSample` in kernels/image/circular_lbp.clh.
struct DeviceSample {
  cl_int x, y, weights[4];
};
static_assert(sizeof(DeviceSample) == 6 * sizeof(cl_int));

// The kernel `crop` takes them as they are.
static_assert(sizeof(Similarity) == 5 * sizeof(cl_int));

DeviceChannel device_channel(const Normalisation& normalisation) {
  DeviceChannel channel{};
  const int deviations[] = {normalisation.inner, normalisation.outer};
  for (int i = 0; i < 2; ++i) {
    const std::span<const std::uint8_t> weights = blur_weights(deviations[i]);
    channel.reach[i] = static_cast<cl_int>(weights.size()) - 1;
    std::ranges::copy(weights, channel.weights[i]);
    if (deviations[i] == 0) channel.weights[i][0] = 256;
  }
  if (normalisation.outer == 0) channel.reach[1] = -1;
  channel.is_relative = normalisation.is_relative ? 1 : 0;
  return channel;
}

// Work-groups of `group` items for every pixel of a crop, in each of `rows` and `faces`.
opencl::NDRange for_pixels(Size crop, int group, std::size_t rows, std::size_t faces) {
  const auto items = static_cast<std::size_t>(group);
  const std::size_t pixels = static_cast<std::size_t>(crop.width) * static_cast<std::size_t>(crop.height);
  return {{(pixels + items - 1) / items * items, rows, faces}, {items, 1, 1}};
}

}  // namespace

OpenClDescriber::OpenClDescriber(const FaceDescriptor& descriptor, const Projector* projector,
                                 const opencl::Context& context, opencl::ProgramCache* cache)
    : descriptor_(&descriptor), projector_(projector) {
  if (projector && (projector->values() != descriptor.values() || descriptor.largest_count() > kMostCount))
    throw Error(ExitCode::usage, "the projection of faces does not fit this descriptor");
  constexpr int kItems = 128, kItemsOnCpu = 16;
  group_ = context.device().type == opencl::DeviceType::cpu ? kItemsOnCpu : kItems;
  while (static_cast<std::uint64_t>(group_) > context.device().largest_work_group) group_ /= 2;
  int most_bins = 0;
  for (std::size_t channel = 0; channel < descriptor.channels(); ++channel) {
    const Descriptor& d = descriptor.descriptor(channel);
    circles_ += static_cast<int>(d.circles().size());
    for (std::size_t i = 0; i < d.circles().size(); ++i) most_bins = std::max(most_bins, d.bins(i).count());
  }
  stride_ = projector ? static_cast<int>(projector->stride()) : descriptor.values();
  crop_ = opencl::Program(context, "recognition/crop.cl", "", cache);
  const std::string options =
      define("WIDTH", descriptor.crop_size().width) + define("HEIGHT", descriptor.crop_size().height) +
      define("CHANNELS", static_cast<int>(descriptor.channels())) + define("CIRCLES", circles_) +
      define("GROUP", group_) + define("MOST_BINS", most_bins);
  describe_ = opencl::Program(context, "recognition/describe.cl", options, cache);
  opencl::Queue queue(context);
  upload_descriptor(queue);
  upload_projection(queue);
}

void OpenClDescriber::upload_descriptor(opencl::Queue& queue) {
  std::vector<DeviceChannel> channels;
  std::vector<DeviceCircle> circles;
  std::vector<DeviceSample> samples;
  std::vector<DeviceRegion> regions;
  std::vector<std::uint16_t> bins, mirrored;
  for (std::size_t channel = 0; channel < descriptor_->channels(); ++channel) {
    channels.push_back(device_channel(descriptor_->normalisation(channel)));
    const Descriptor& d = descriptor_->descriptor(channel);
    cl_int first_value = descriptor_->first_value(channel);
    for (std::size_t i = 0; i < d.circles().size(); ++i) {
      const LbpBins& mapping = d.bins(i);
      cl_int first_bin = static_cast<cl_int>(bins.size());
      if (mapping.table().empty())
        first_bin = mapping.mapping() == LbpMapping::uniform ? kUniform : kRotationUniform;
      const auto circle = static_cast<cl_int>(circles.size());
      circles.push_back({static_cast<cl_int>(channel),
                         d.settings().margin,
                         mapping.points(),
                         static_cast<cl_int>(samples.size()),
                         first_bin,
                         {}});
      bins.insert(bins.end(), mapping.table().begin(), mapping.table().end());
      for (const LbpSample& s : d.circles()[i].samples())
        samples.push_back({s.x, s.y, {s.weights[0], s.weights[1], s.weights[2], s.weights[3]}});
      const auto first_mirrored = static_cast<cl_int>(mirrored.size());
      const std::vector<std::uint16_t>& own = descriptor_->mirrored(channel, i);
      mirrored.insert(mirrored.end(), own.begin(), own.end());
      for (const Span& row : d.rows()) {
        for (int c = 0; c < descriptor_->columns(channel); ++c) {
          const Span column = d.columns()[static_cast<std::size_t>(c)];
          const Span other = d.columns()[d.columns().size() - 1 - static_cast<std::size_t>(c)];
          const cl_int other_left = descriptor_->is_folded(channel) ? other.begin : kNoOther;
          regions.push_back({circle, column.end - column.begin, row.begin, row.end, column.begin, other_left,
                             mapping.count(), first_value, first_mirrored});
          first_value += mapping.count();
        }
      }
    }
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(descriptor_->largest_count()) + 1);
  for (std::size_t count = 0; count < bytes.size(); ++count)
    bytes[count] = projector_ ? kRoots[count] : static_cast<std::uint8_t>(std::min<std::size_t>(count, 255));
  regions_ = static_cast<int>(upload(queue, region_table_, regions));
  upload(queue, channels_, channels);
  upload(queue, circle_table_, circles);
  upload(queue, samples_, samples);
  upload(queue, bins_, bins);
  if (mirrored.empty()) mirrored.push_back(0);  // a buffer has something in it
  upload(queue, mirrored_, mirrored);
  upload(queue, bytes_, bytes);
}

void OpenClDescriber::upload_projection(opencl::Queue& queue) {
  if (!projector_) return;
  upload(queue, weights_,
         std::span(projector_->padded_weights().data(), projector_->padded_weights().size()));
  upload(queue, bias_, projector_->projection().bias);
  upload(queue, scale_, projector_->projection().scale);
}

DescribedFaces::DescribedFaces(const OpenClDescriber& describer)
    : describer_(&describer),
      crop_(describer.crop_, "crop"),
      blur_rows_(describer.describe_, "blur_rows"),
      blur_columns_(describer.describe_, "blur_columns"),
      scale_(describer.describe_, "scale"),
      codes_(describer.describe_, "codes"),
      count_(describer.describe_, "count"),
      project_(describer.describe_, "project"),
      finish_(describer.describe_, "finish") {}

int DescribedFaces::template_stride() const {
  return describer_->projector_ ? describer_->projector_->dims() : describer_->stride_;
}

void DescribedFaces::fit(opencl::Queue& queue, std::size_t faces) {
  if (faces <= room_) return;
  const OpenClDescriber& d = *describer_;
  const Size crop = d.descriptor_->crop_size();
  const std::size_t pixels =
      faces * static_cast<std::size_t>(crop.width) * static_cast<std::size_t>(crop.height);
  const std::size_t channels = d.descriptor_->channels();
  const auto make = [&](opencl::Buffer& buffer, std::size_t bytes) {
    opencl::checked(static_cast<std::int64_t>(bytes));
    buffer = opencl::Buffer(queue.context(), bytes);
  };
  make(similarities_, faces * sizeof(Similarity));
  make(crops_, pixels);
  make(sums_, 2 * channels * pixels * sizeof(cl_ushort));
  make(differences_, channels * pixels * sizeof(cl_int));
  make(totals_, faces * channels * sizeof(cl_uint));
  make(normalised_, channels * pixels);
  make(bins_, static_cast<std::size_t>(d.circles_) * pixels * sizeof(cl_ushort));
  make(counts_, faces * static_cast<std::size_t>(d.descriptor_->values()) * sizeof(cl_ushort));
  const std::size_t bytes = faces * static_cast<std::size_t>(d.stride_);
  make(bytes_, bytes + sizeof(cl_uint));
  // The padding after a face's values is read, but has weights of 0.
  queue.fill(bytes_, 0, (bytes + 3) / 4 * 4);
  if (d.projector_) {
    const std::size_t dims = faces * static_cast<std::size_t>(d.projector_->dims());
    make(projected_, dims * sizeof(cl_int));
    make(templates_, dims);
  }
  room_ = faces;
}

void DescribedFaces::enqueue(opencl::Queue& queue, const DeviceFrame& frame,
                             std::span<const Similarity> faces, const Launched& launched) {
  if (faces.empty()) return;
  faces_.assign(faces.begin(), faces.end());
  fit(queue, faces_.size());
  launched("crop", queue.write(similarities_, faces_.data(), faces_.size() * sizeof(Similarity)));
  enqueue(queue, frame, similarities_, faces_.size(), launched);
}

void DescribedFaces::enqueue(opencl::Queue& queue, const DeviceFrame& frame, const opencl::Buffer& faces,
                             std::size_t count, const Launched& launched) {
  if (count == 0) return;
  const OpenClDescriber& d = *describer_;
  fit(queue, count);
  const Size crop = d.descriptor_->crop_size();
  constexpr std::size_t kCropItems = 16;
  crop_.arguments(*frame.luma, static_cast<cl_int>(frame.stride), static_cast<cl_int>(frame.size.width),
                  static_cast<cl_int>(frame.size.height), faces, static_cast<cl_int>(crop.width),
                  static_cast<cl_int>(crop.height), crops_);
  const std::size_t columns =
      (static_cast<std::size_t>(crop.width) + kCropItems - 1) / kCropItems * kCropItems;
  launched("crop", crop_.enqueue(
                       queue, {{columns, static_cast<std::size_t>(crop.height), count}, {kCropItems, 1, 1}}));
  describe(queue, count, launched);
  if (d.projector_) project(queue, count, launched);
}

void DescribedFaces::describe(opencl::Queue& queue, std::size_t faces, const Launched& launched) {
  const OpenClDescriber& d = *describer_;
  const std::size_t channels = d.descriptor_->channels();
  const auto launch = [&](opencl::Kernel& kernel, std::size_t rows) {
    launched("describe",
             kernel.enqueue(queue, for_pixels(d.descriptor_->crop_size(), d.group_, rows, faces)));
  };
  launched("describe", queue.fill(totals_, 0, faces * channels * sizeof(cl_uint)));
  blur_rows_.arguments(crops_, d.channels_, sums_);
  launch(blur_rows_, 2 * channels);
  blur_columns_.arguments(sums_, d.channels_, differences_, totals_);
  launch(blur_columns_, channels);
  scale_.arguments(differences_, totals_, d.channels_, normalised_);
  launch(scale_, channels);
  codes_.arguments(normalised_, d.circle_table_, d.samples_, d.bins_, bins_);
  launch(codes_, static_cast<std::size_t>(d.circles_));
  count_.arguments(bins_, d.region_table_, d.mirrored_, d.bytes_,
                   static_cast<cl_int>(d.descriptor_->values()), static_cast<cl_int>(d.stride_), counts_,
                   bytes_);
  const auto group = static_cast<std::size_t>(d.group_);
  launched("describe",
           count_.enqueue(queue, {{static_cast<std::size_t>(d.regions_) * group, faces, 1}, {group, 1, 1}}));
}

void DescribedFaces::project(opencl::Queue& queue, std::size_t faces, const Launched& launched) {
  const OpenClDescriber& d = *describer_;
  const auto dims = static_cast<cl_int>(d.projector_->dims());
  const auto group = static_cast<std::size_t>(d.group_);
  project_.arguments(bytes_, d.weights_, static_cast<cl_int>(d.stride_), dims, projected_);
  launched("project",
           project_.enqueue(queue, {{static_cast<std::size_t>(dims) * group, faces, 1}, {group, 1, 1}}));
  finish_.arguments(projected_, d.bias_, d.scale_, dims,
                    static_cast<cl_int>(d.projector_->projection().length), templates_);
  launched("project", finish_.enqueue(queue, opencl::groups(faces, group)));
}

}  // namespace sightline::recognition
