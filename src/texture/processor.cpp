#include "texture/processor.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/parallel.hpp"
#include "frame/frame_result.hpp"
#include "processing/opencl/shared_device.hpp"
#include "texture/counting.hpp"
#include "texture/labels.hpp"
#include "texture/opencl/stages.hpp"

namespace sightline::texture {

namespace {

constexpr std::string_view kResources[] = {"frame", "counts", "labels", "texture"};
constexpr StageInfo kStages[] = {{"count", {kFrameResource}, {kCounts}, true},
                                 {"collect", {kCounts}, {kTexture}}};
constexpr StageInfo kLabelStages[] = {{"count", {kFrameResource}, {kCounts, kLabels}, true},
                                      {"collect", {kCounts, kLabels}, {kTexture}}};

TextureWorkspace& own(Workspace& workspace) {
  return static_cast<TextureWorkspace&>(workspace);
}

std::uint32_t* numbers(InterStageBuffer& buffer, std::int64_t at) {
  return reinterpret_cast<std::uint32_t*>(buffer.data()) + at;
}

// Operators with eight points count raw codes if only the histogram is wanted.
bool counts_codes(const TextureSettings& settings, const LbpOperator& one) {
  return one.points() == 8 && settings.cell == 0 && !settings.labels;
}

std::string describe(const TextureSettings& settings) {
  std::string text;
  for (const LbpOperator& one : settings.operators) text += (text.empty() ? "" : " + ") + one.name();
  text += fmt::format(" {}", to_string(settings.mapping));
  if (settings.contrast) text += ", contrast";
  if (settings.cell > 0) text += fmt::format(", cells of {0}x{0}", settings.cell);
  if (settings.labels) text += ", labels";
  return text;
}

// Counts of one operator by one thread.
struct Tally {
  // Several tables, for counts that follow each other are often of the same bin, and the second would have to
  // wait for the first.
  static constexpr std::size_t kTables = 4;

  CodeTables codes;
  std::vector<std::uint32_t> bins;  // [table][bin]
  std::vector<std::uint32_t> contrast;

  template <typename Label>
  void add(const Label* labels, int count) {
    std::uint32_t* const tables = bins.data();
    const std::size_t size = bins.size() / kTables;
    int i = 0;
    for (; i + 4 <= count; i += 4) {
      ++tables[labels[i]];
      ++tables[size + labels[i + 1]];
      ++tables[2 * size + labels[i + 2]];
      ++tables[3 * size + labels[i + 3]];
    }
    for (; i < count; ++i) ++tables[labels[i]];
  }
};

// One thread's counts and rows.
struct Scratch {
  std::vector<Tally> tallies;  // tallies by operator
  AlignedBuffer<std::uint32_t> codes;
  AlignedBuffer<std::uint16_t> labels;
  AlignedBuffer<std::uint16_t> contrasts;

  void begin(const TextureSettings& settings, const TextureLayout& layout) {
    tallies.resize(layout.operators.size());
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      Tally& tally = tallies[i];
      tally.codes.counts.fill(0);
      tally.bins.assign(Tally::kTables * static_cast<std::size_t>(layout.operators[i].bins), 0);
      tally.contrast.assign(settings.contrast ? kContrastValues : 0, 0);
    }
    const auto width = static_cast<std::size_t>(layout.size.width);
    codes.resize(width);
    labels.resize(width);
    contrasts.resize(width);
  }
};

}  // namespace

class TextureWorkspace::Threads {
 public:
  void begin(const TextureSettings& settings, const TextureLayout& layout) {
    settings_ = &settings;
    layout_ = &layout;
    for (Scratch& one : all_) one.begin(settings, layout);
  }
  Scratch& mine() {
    bool is_there = false;
    Scratch& scratch = all_.local(is_there);
    if (!is_there) scratch.begin(*settings_, *layout_);
    return scratch;
  }
  auto& all() { return all_; }

 private:
  const TextureSettings* settings_ = nullptr;
  const TextureLayout* layout_ = nullptr;
  oneapi::tbb::enumerable_thread_specific<Scratch> all_;
};

namespace {

// Counts rows of a frame.
class RowCounter {
 public:
  RowCounter(const TextureProcessor& processor, TextureWorkspace& workspace, Scratch& scratch)
      : processor_(processor),
        settings_(processor.settings()),
        workspace_(workspace),
        layout_(workspace.layout),
        scratch_(scratch),
        picture_(workspace.luma.view()),
        reach_(settings_.reach()) {}

  void count(int y) {
    for (std::size_t i = 0; i < settings_.operators.size(); ++i) {
      const LbpOperator& one = settings_.operators[i];
      if (counts_codes(settings_, one)) {
        count_codes(one, picture_, y + reach_, reach_, reach_ + layout_.size.width,
                    scratch_.tallies[i].codes);
      } else if (layout_.operators[i].label_bytes == 1) {
        count_labels<std::uint8_t>(i, y);
      } else {
        count_labels<std::uint16_t>(i, y);
      }
      if (settings_.contrast) count_contrasts(i, y);
    }
  }

 private:
  template <typename Label>
  void count_labels(std::size_t i, int y) {
    const int width = layout_.size.width;
    const OperatorLayout& layout = layout_.operators[i];
    Label* labels = reinterpret_cast<Label*>(scratch_.labels.data());
    if (settings_.labels)
      labels =
          reinterpret_cast<Label*>(workspace_.labels.data() + layout.labels_at) + std::int64_t{y} * width;
    switch (settings_.operators[i].points()) {
      case 8:
        make_labels<std::uint8_t>(i, y, labels);
        break;
      case 16:
        make_labels<std::uint16_t>(i, y, labels);
        break;
      default:
        make_labels<std::uint32_t>(i, y, labels);
    }
    if (settings_.cell == 0) {
      scratch_.tallies[i].add(labels, width);
      return;
    }
    std::uint32_t* cell = numbers(workspace_.counts, layout.cells_at) +
                          std::int64_t{y / settings_.cell} * layout_.cells.width * layout.bins;
    for (int x = 0; x < width; cell += layout.bins) {
      for (const int end = std::min(x + settings_.cell, width); x < end; ++x) ++cell[labels[x]];
    }
  }

  template <typename Code, typename Label>
  void make_labels(std::size_t i, int y, Label* labels) {
    Code* const codes = reinterpret_cast<Code*>(scratch_.codes.data());
    make_codes(settings_.operators[i], picture_, y + reach_, reach_, reach_ + layout_.size.width, codes);
    map_codes(processor_.bins(i), codes, layout_.size.width, labels);
  }

  void count_contrasts(std::size_t i, int y) {
    std::uint16_t* const contrasts = scratch_.contrasts.data();
    make_contrasts(settings_.operators[i], picture_, y + reach_, reach_, reach_ + layout_.size.width,
                   contrasts);
    std::uint32_t* const counts = scratch_.tallies[i].contrast.data();
    for (int x = 0; x < layout_.size.width; ++x) ++counts[contrasts[x]];
  }

  const TextureProcessor& processor_;
  const TextureSettings& settings_;
  TextureWorkspace& workspace_;
  const TextureLayout& layout_;
  Scratch& scratch_;
  GrayView picture_;
  int reach_;
};

}  // namespace

TextureWorkspace::TextureWorkspace() : threads(std::make_unique<Threads>()) {}
TextureWorkspace::~TextureWorkspace() = default;

TextureProcessor::TextureProcessor(TextureSettings settings) : settings_(std::move(settings)) {
  check(settings_);
  for (const LbpOperator& one : settings_.operators) bins_.emplace_back(one.points(), settings_.mapping);
  info_.family = "texture";
  info_.model = "local binary patterns, " + describe(settings_);
  info_.plan_key = "texture " + describe(settings_);
}

std::span<const std::string_view> TextureProcessor::resources() const {
  return kResources;
}

std::span<const StageInfo> TextureProcessor::stages() const {
  if (settings_.labels) return kLabelStages;
  return kStages;
}

std::unique_ptr<Workspace> TextureProcessor::make_workspace() const {
  return std::make_unique<TextureWorkspace>();
}

bool TextureProcessor::prepare(Workspace& workspace, PictureView frame, Partition partition) const {
  TextureWorkspace& w = own(workspace);
  w.frame = frame;
  w.luma.begin(frame);
  w.output.reset();
  w.planned.update(
      frame.size(), partition, [&] { w.layout = TextureLayout(settings_, bins_, frame.size()); }, [] {});
  w.counts.plan(w.layout.counts * static_cast<std::int64_t>(sizeof(std::uint32_t)));
  w.labels.plan(w.layout.label_bytes);
  return !w.layout.operators.empty();
}

void TextureProcessor::run_stage(std::size_t stage, Workspace& workspace) const {
  stage == kCount ? count(own(workspace)) : collect(own(workspace));
}

void TextureProcessor::count(TextureWorkspace& w) const {
  w.luma.make(w);
  w.threads->begin(settings_, w.layout);
  std::memset(w.counts.data(), 0, w.counts.bytes());
  if (settings_.labels) w.labels.data();  // made before threads write to it
  // A cell belongs to one band.
  const int height = w.layout.size.height;
  const int rows = settings_.cell > 0 ? settings_.cell : 32;
  const auto count_band = [&](int band) {
    RowCounter counter(*this, w, w.threads->mine());
    for (int y = band * rows; y < std::min((band + 1) * rows, height); ++y) counter.count(y);
  };
  parallel_for_isolated((height + rows - 1) / rows, count_band, &w.work);

  for (std::size_t i = 0; i < w.layout.operators.size(); ++i) {
    const OperatorLayout& layout = w.layout.operators[i];
    std::uint32_t* const bins = numbers(w.counts, layout.bins_at);
    if (settings_.cell > 0) {
      const std::uint32_t* cell = numbers(w.counts, layout.cells_at);
      for (int n = w.layout.cells.width * w.layout.cells.height; n > 0; --n, cell += layout.bins) {
        for (int bin = 0; bin < layout.bins; ++bin) bins[bin] += cell[bin];
      }
    }
    for (const Scratch& scratch : w.threads->all()) {
      const Tally& tally = scratch.tallies[i];
      if (counts_codes(settings_, settings_.operators[i])) {
        for (int code = 0; code < CodeTables::kCodes; ++code)
          bins[bins_[i].table()[static_cast<std::size_t>(code)]] += tally.codes.count(code);
      }
      for (std::size_t n = 0; n < tally.bins.size(); ++n)
        bins[n % static_cast<std::size_t>(layout.bins)] += tally.bins[n];
      std::uint32_t* const contrast = numbers(w.counts, layout.contrast_at);
      for (std::size_t n = 0; n < tally.contrast.size(); ++n) contrast[n] += tally.contrast[n];
    }
  }
}

void TextureProcessor::collect(TextureWorkspace& w) const {
  auto output = std::make_shared<TextureOutput>();
  output->size = w.layout.size;
  output->cells = w.layout.cells;
  for (const OperatorLayout& layout : w.layout.operators) {
    OperatorCounts& counts = output->operators.emplace_back();
    const auto take = [&](std::vector<std::uint32_t>& to, std::int64_t at, std::int64_t count) {
      const std::uint32_t* const from = numbers(w.counts, at);
      to.assign(from, from + count);
    };
    take(counts.bins, layout.bins_at, layout.bins);
    if (settings_.contrast) take(counts.contrast, layout.contrast_at, kContrastValues);
    take(counts.cells, layout.cells_at,
         std::int64_t{w.layout.cells.width} * w.layout.cells.height * layout.bins);
    if (!settings_.labels) continue;
    const auto copy = [&](auto& image, const auto* labels) {
      image.resize(w.layout.size.width, w.layout.size.height);
      const auto target = image.view();
      for_each_rows(target.height(), w, [&](int begin, int end) {
        for (int y = begin; y < end; ++y)
          std::copy_n(labels + std::int64_t{y} * target.width(), target.width(), target.row(y));
      });
    };
    const std::byte* const labels = w.labels.data() + layout.labels_at;
    if (layout.label_bytes == 1) {
      copy(counts.labels8, reinterpret_cast<const std::uint8_t*>(labels));
    } else {
      copy(counts.labels16, reinterpret_cast<const std::uint16_t*>(labels));
    }
  }
  w.output = std::move(output);
}

std::unique_ptr<DeviceStages> TextureProcessor::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened) return nullptr;
  return std::make_unique<StagesOnDevice<TextureStages>>(*this, opened,
                                                         best_tuning(opened->device(), settings_));
}

void TextureProcessor::take_result(Workspace& workspace, FrameResult& result) const {
  result.output = std::move(own(workspace).output);
}

}  // namespace sightline::texture
