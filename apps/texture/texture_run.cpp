#include "apps/texture/texture_run.hpp"

#include <spdlog/spdlog.h>

#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <optional>

#include "apps/cli/progress.hpp"
#include "apps/cli/stop.hpp"
#include "apps/common/run_text.hpp"
#include "apps/texture/texture_plot.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "texture/cells_file.hpp"
#include "texture/tiles/label_writer.hpp"
#include "texture/tiles/tile_grid.hpp"
#include "texture/tiles/tile_source.hpp"
#include "texture/totals.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

constexpr int kPlanTiles = 4;              // of the picture, that schedule `auto` measures with
constexpr std::int64_t kEnoughTiles = 64;  // tiles: to work through fewer is quicker than to measure

pipeline::Engine make_engine(const texture::TextureSettings& settings, const ScheduleArguments& schedule) {
  pipeline::Engine engine;
  engine.schedule = schedule.request;
  engine.threads = schedule.threads;
  engine.explain = schedule.explain;
  engine.processor = std::make_unique<texture::TextureProcessor>(settings);
  engine.device_stages =
      pipeline::make_devices(engine.schedule, *engine.processor, pipeline::cpu_devices_for(engine.schedule));
  return engine;
}

// Files of labels, one a histogram; or none at all.
class LabelFiles {
 public:
  LabelFiles(const std::vector<std::string>& names, const TextureChoice& choice, std::int64_t width,
             std::int64_t height)
      : operators_(choice.settings.operators.size()) {
    for (const std::string& name : names) {
      const LbpOperator& op = choice.settings.operators[files_.size() % operators_];
      const int bits = texture::bins_of(op, choice.settings.mapping) <= 256 ? 8 : 16;
      files_.push_back({std::make_unique<tiles::LabelWriter>(name, width, height, bits), bits});
    }
  }

  // @param output  null: the tile failed, and its labels are 0
  void write(const tiles::Region& where, std::size_t channel, const texture::TextureOutput* output) {
    for (std::size_t op = 0; op < operators_ && !files_.empty(); ++op) {
      const File& file = files_[channel * operators_ + op];
      if (file.bits == 8) {
        put(*file.writer, where, output ? &output->operators[op].labels8 : nullptr);
      } else {
        put(*file.writer, where, output ? &output->operators[op].labels16 : nullptr);
      }
    }
  }
  // @param names  of a band's files, which begins at row y
  void copy(const std::vector<std::string>& names, std::int64_t y) {
    for (std::size_t i = 0; i < files_.size(); ++i) files_[i].writer->copy(names[i], y);
  }
  void finish() {
    for (const File& file : files_) file.writer->finish();
  }

 private:
  struct File {
    std::unique_ptr<tiles::LabelWriter> writer;
    int bits;
  };

  template <typename T>
  static void put(tiles::LabelWriter& writer, const tiles::Region& where, const Image<T>* labels) {
    if (labels) return writer.write(where.x, where.y, labels->view());
    Image<T> none(where.width, where.height);
    for (int y = 0; y < where.height; ++y) std::fill_n(none.view().row(y), where.width, T{0});
    writer.write(where.x, where.y, std::as_const(none).view());
  }

  std::size_t operators_;
  std::vector<File> files_;  ///< [channel][operator]
};

// Takes the tiles' results in order.
class TextureSink : public pipeline::Sink {
 public:
  // @param first  row of tiles at which the files begin
  TextureSink(const TextureChoice& choice, const tiles::TileGrid& grid, int tile, std::int64_t first,
              LabelFiles& labels, texture::CellSink* cells)
      : grid_(grid),
        first_(first),
        top_(first * tile),
        channels_(choice.channels.size()),
        cells_in_tile_(choice.settings.cell > 0 ? tile / choice.settings.cell : 0),
        labels_(labels),
        cells_(cells),
        totals_(choice.settings, channels_) {}

  void accept(const Frame& frame, const FrameResult& result) override {
    const std::int64_t index = (frame.number() - 1) / static_cast<std::int64_t>(channels_);
    const auto channel = static_cast<std::size_t>(frame.number() - 1) % channels_;
    const tiles::Region where = grid_.tile(index);
    const auto* output = static_cast<const texture::TextureOutput*>(result.output.get());
    if (result.status != FrameStatus::ok || !output) {
      output = nullptr;
      lost_.push_back({where, result.message.empty() ? "not computed" : result.message});
    } else {
      totals_.add(channel, *output);
    }
    labels_.write({where.x, where.y - top_, where.width, where.height}, channel, output);
    if (!cells_) return;
    tile_.push_back(output ? result.output : nullptr);
    if (channel + 1 == channels_) write_cells(index);
  }

  const texture::TextureTotals& totals() const { return totals_; }
  const std::vector<tiles::Damage>& lost() const { return lost_; }

 private:
  // Of a tile that failed in a channel, the cells stay 0.
  void write_cells(std::int64_t index) {
    std::vector<const texture::TextureOutput*> outputs;
    for (const auto& one : tile_) {
      if (one) outputs.push_back(static_cast<const texture::TextureOutput*>(one.get()));
    }
    if (outputs.size() == channels_) {
      cells_->write(index % grid_.columns() * cells_in_tile_,
                    (index / grid_.columns() - first_) * cells_in_tile_, outputs);
    }
    tile_.clear();
  }

  const tiles::TileGrid& grid_;
  const std::int64_t first_, top_;  ///< row of tiles, of pixels
  std::size_t channels_;
  std::int64_t cells_in_tile_;
  LabelFiles& labels_;
  texture::CellSink* cells_;
  texture::TextureTotals totals_;
  std::vector<tiles::Damage> lost_;
  std::vector<std::shared_ptr<const FrameOutput>> tile_;  ///< by channel
};

std::string describe(const std::string& name, const tiles::PictureInfo& info, const tiles::TileGrid& grid) {
  return fmt::format("{}: {}x{}, {}, {}", name, info.width, info.height, info.format,
                     counted(static_cast<std::int64_t>(grid.count()), "tile"));
}

}  // namespace

class TextureRunner::Impl {
 public:
  Impl(const TextureOptions& options, const TextureChoice& choice, int verbosity)
      : choice_(choice),
        opening_(options.opening()),
        tile_(options.tile(choice)),
        strict_(options.is_strict()),
        verbosity_(verbosity),
        stop_(stop_requested()),
        engine_(make_engine(choice.settings, options.schedule())),
        pipeline_(make_pipeline(engine_)) {}

  TextureBand run(const std::string& name, const TextureFiles& files, const TileRows& rows) {
    if (!is_described_ && verbosity_ >= 0) describe_engine(engine_, pipeline_.pipeline());
    is_described_ = true;
    const std::unique_ptr<tiles::Picture> picture = tiles::open_picture(name, opening_);
    const tiles::PictureInfo& info = picture->info();
    const tiles::TileGrid grid = grid_of(info.width, info.height);
    if (grid.count() == 0) {
      throw Error(ExitCode::input,
                  fmt::format("'{}' has {}x{} pixels, all at its edge", name, info.width, info.height),
                  "use another --border, or operators of a smaller radius");
    }
    if (verbosity_ >= 0) spdlog::info("{}", describe(name, info, grid));
    warn_of_small_cache(info, grid);
    if (opening_.range && !info.uses_range)
      spdlog::warn("--range has no effect on '{}': its samples have no more than 8 bits", name);
    const std::int64_t end = std::min(rows.end, grid.rows());
    const std::int64_t height = std::min(end * tile_, grid.height()) - rows.first * tile_;
    LabelFiles labels(label_files(files.labels), choice_, grid.width(), height);
    const std::unique_ptr<texture::CellsFile> cells = cells_file(files.cells, grid.width(), height);
    texture::CellSink* const cell_sink = files.cell_sink ? files.cell_sink : cells.get();
    if (cell_sink) cell_sink->begin(grid.width(), height);
    TextureSink sink(choice_, grid, tile_, rows.first, labels, cell_sink);
    pipeline::TileSourceOptions reading = source_options();
    reading.first = rows.first * grid.columns();
    reading.count = (end - rows.first) * grid.columns();
    pipeline::TileSource source(*picture, grid, reading);
    run_pipeline(name, source, sink, grid);
    throw_if_stopped();
    labels.finish();
    if (cells) cells->finish();
    return {info.width, info.height, sink.totals(), source.damage(), sink.lost()};
  }

  texture::TextureRecord record_of(const std::string& name, const TextureBand& all,
                                   const std::string& cells) const {
    const tiles::TileGrid grid = grid_of(all.width, all.height);
    texture::TextureRecord record = texture::make_record(choice_.settings, channel_names(), all.totals);
    record.picture = name;
    record.page = opening_.page;
    record.width = all.width;
    record.height = all.height;
    record.border = choice_.border;
    record.left_out = choice_.border == BorderRule::skip ? grid.halo() : 0;
    if (!cells.empty()) {
      record.cells = texture::CellsRecord{fs::path(cells).filename().string(), choice_.settings.cell,
                                          count_cells(grid.width()), count_cells(grid.height()), features()};
    }
    const auto add = [&](std::vector<tiles::Damage>& list, const std::vector<tiles::Damage>& more) {
      for (const tiles::Damage& one : more)
        if (!tiles::add_damage(list, one)) ++record.damage_left_out;
    };
    std::vector<tiles::Damage> lost;
    add(record.damage, all.damage);
    add(lost, all.lost);
    add(record.damage, lost);
    return record;
  }

  TileCounts count_tiles(const std::string& name) const {
    const tiles::PictureInfo info = tiles::open_picture(name, opening_)->info();
    const tiles::TileGrid grid = grid_of(info.width, info.height);
    const std::int64_t step =
        choice_.settings.labels ? tiles::kLabelTileSide / std::gcd(tiles::kLabelTileSide, std::int64_t{tile_})
                                : 1;
    return {grid.columns(), grid.rows(), step};
  }

  void join(const TextureBand& all, const TextureFiles& files, const std::vector<TileRows>& rows,
            const std::vector<TextureFiles>& parts) const {
    const tiles::TileGrid grid = grid_of(all.width, all.height);
    LabelFiles labels(label_files(files.labels), choice_, grid.width(), grid.height());
    const std::unique_ptr<texture::CellsFile> cells = cells_file(files.cells, grid.width(), grid.height());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!files.labels.empty()) labels.copy(label_files(parts[i].labels), rows[i].first * tile_);
      if (cells) cells->append(parts[i].cells);
    }
    labels.finish();
    if (cells) cells->finish();
  }

  std::vector<std::string> label_files(const std::string& name) const {
    std::vector<std::string> names;
    if (name.empty()) return names;
    const bool several = choice_.channels.size() * choice_.settings.operators.size() > 1;
    for (const std::string& channel : channel_names()) {
      for (const LbpOperator& op : choice_.settings.operators) {
        fs::path path = name;
        const std::string ending = path.extension().string();
        std::string more = choice_.settings.operators.size() > 1 ? "-" + op.name() : "";
        if (choice_.channels.size() > 1) more += "-" + channel;
        if (several) path.replace_filename(path.stem().string() + more + ending);
        names.push_back(path.string());
      }
    }
    return names;
  }

 private:
  tiles::TileGrid grid_of(std::int64_t width, std::int64_t height) const {
    return {width, height, tile_, choice_.settings.reach(), choice_.border};
  }

  std::int64_t count_cells(std::int64_t length) const {
    return (length + choice_.settings.cell - 1) / choice_.settings.cell;
  }

  std::int64_t features() const {
    std::int64_t bins = 0;
    for (const LbpOperator& op : choice_.settings.operators)
      bins += texture::bins_of(op, choice_.settings.mapping);
    return bins * static_cast<std::int64_t>(choice_.channels.size());
  }

  // Null where no file is named.
  std::unique_ptr<texture::CellsFile> cells_file(const std::string& name, std::int64_t width,
                                                 std::int64_t height) const {
    if (name.empty()) return nullptr;
    return std::make_unique<texture::CellsFile>(name, choice_.settings, choice_.channels.size(),
                                                count_cells(width), count_cells(height));
  }

  void warn_of_small_cache(const tiles::PictureInfo& info, const tiles::TileGrid& grid) const {
    const std::int64_t bytes = tiles::bytes_of_tile_row(info, tile_ + 2 * grid.halo(), choice_.channels);
    if (bytes <= static_cast<std::int64_t>(opening_.cache_bytes)) return;
    spdlog::warn(
        "'{}': a row of tiles needs {} MiB of decoded {}, and {} MiB are kept, so decoding is repeated; use "
        "a smaller --tile",
        info.name, bytes >> 20, info.block.width >= info.width ? "strips" : "tiles",
        opening_.cache_bytes >> 20);
  }

  // The first device's that copies frames; others copy them from it as from any memory.
  FrameMemory* frame_memory() const {
    for (const DeviceStages* const device : engine_.devices()) {
      if (FrameMemory* const memory = device->device().frame_memory()) return memory;
    }
    return nullptr;
  }

  pipeline::TileSourceOptions source_options() const {
    pipeline::TileSourceOptions options;
    options.channels = choice_.channels;
    options.threads = engine_.threads;
    options.memory = frame_memory();
    options.strict = strict_;
    options.stop = &stop_;
    return options;
  }

  std::vector<std::string> channel_names() const {
    std::vector<std::string> names;
    for (const tiles::Channel channel : choice_.channels) names.emplace_back(tiles::to_string(channel));
    return names;
  }

  void run_pipeline(const std::string& name, FrameSource& tiles, pipeline::Sink& sink,
                    const tiles::TileGrid& grid) {
    pipeline::PeekedSource source(tiles, engine_.is_auto() ? kPlanTiles : 0);
    pipeline::RunOptions options;
    options.stop = &stop_;
    pipeline_.plan_if_worthwhile(source, kEnoughTiles, stop_);
    ProgressDisplay display(verbosity_ >= 0);
    const double pixels = static_cast<double>(grid.width()) * static_cast<double>(grid.height());
    display.count_pixels(pixels / static_cast<double>(grid.count()) /
                         static_cast<double>(choice_.channels.size()));
    pipeline::Stream stream{
        &source, name, {&sink}, [&](const pipeline::Progress& one) { display.show(one); }};
    const pipeline::RunReport report = pipeline_.run(std::move(stream), options);
    display.end();
    if (verbosity_ < 0) return;
    spdlog::debug("{} in {:.2f} s: {:.1f} Mpixel/s", counted(static_cast<std::int64_t>(grid.count()), "tile"),
                  report.seconds, pixels / 1e6 / std::max(report.seconds, 1e-9));
    const std::string times = verbosity_ > 0 ? stage_times_text(report, "tile") : "";
    std::fputs(printable(times + problems_text(report), kLineEndsAndTabs).c_str(), stderr);
  }

  TextureChoice choice_;
  tiles::OpenOptions opening_;
  int tile_;
  bool strict_;
  int verbosity_;
  const std::atomic<bool>& stop_;
  pipeline::Engine engine_;
  pipeline::EnginePipeline pipeline_;
  bool is_described_ = false;
};

bool report_damage(const texture::TextureRecord& record) {
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(record.damage.size(), kShown); ++i) {
    const tiles::Damage& one = record.damage[i];
    spdlog::error("'{}': cannot read {}x{} pixels at ({}, {}), which count as black: {}", record.picture,
                  one.where.width, one.where.height, one.where.x, one.where.y, one.reason);
  }
  if (record.damage.size() > kShown) {
    spdlog::error("'{}': cannot read {} more areas; JSON output lists 100", record.picture,
                  static_cast<std::int64_t>(record.damage.size() - kShown) + record.damage_left_out);
  }
  return !record.damage.empty();
}

namespace {

bool ends_in(const std::string& name, const char* extension) {
  return strcasecmp(fs::path(name).extension().c_str(), extension) == 0;
}

}  // namespace

void check_texture_outputs(const std::vector<std::string>& outputs) {
  for (const std::string& output : outputs) {
    if (output == "-" || ends_in(output, ".json") || ends_in(output, ".csv") || ends_in(output, ".svg"))
      continue;
    throw Error(ExitCode::usage, "'" + output + "' has no known extension",
                "use .json, .csv or .svg, or - for JSON on standard output");
  }
}

void write_textures(const std::vector<std::string>& outputs,
                    const std::vector<texture::TextureRecord>& records, bool shares) {
  for (const std::string& output : outputs) {
    const std::string text = ends_in(output, ".csv")   ? to_csv(records)
                             : ends_in(output, ".svg") ? to_svg(records)
                                                       : to_json(records, shares);
    if (output == "-") {
      std::fputs(text.c_str(), stdout);
    } else {
      write_whole(output, text, "textures");
      spdlog::info("wrote {}", output);
    }
  }
}

TextureRunner::TextureRunner(const TextureOptions& options, const TextureChoice& choice, int verbosity)
    : impl_(std::make_unique<Impl>(options, choice, verbosity)) {}
TextureRunner::~TextureRunner() = default;

texture::TextureRecord TextureRunner::run(const std::string& picture, const TextureFiles& files) {
  return impl_->record_of(picture, impl_->run(picture, files, {}), files.cells);
}

TextureBand TextureRunner::run_rows(const std::string& picture, const TextureFiles& files,
                                    const TileRows& rows) {
  return impl_->run(picture, files, rows);
}

texture::TextureRecord TextureRunner::record_of(const std::string& picture, const TextureBand& all,
                                                const std::string& cells) const {
  return impl_->record_of(picture, all, cells);
}

TileCounts TextureRunner::count_tiles(const std::string& picture) const {
  return impl_->count_tiles(picture);
}

void TextureRunner::join(const TextureBand& all, const TextureFiles& files, const std::vector<TileRows>& rows,
                         const std::vector<TextureFiles>& parts) const {
  impl_->join(all, files, rows, parts);
}

std::vector<std::string> TextureRunner::label_files(const std::string& name) const {
  return impl_->label_files(name);
}

}  // namespace sightline::apps
