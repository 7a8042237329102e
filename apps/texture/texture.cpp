// `sightline texture`: local binary patterns of pictures of any size.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/cli/commands.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/listed_inputs.hpp"
#include "apps/common/media_options.hpp"
#include "apps/texture/texture_plot.hpp"
#include "apps/texture/texture_run.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;
using texture::HistogramRecord;
using texture::TextureRecord;

struct TextureArguments {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  bool shares = false;
  bool contrast = false;
  int cell = 0;
  TextureFiles files;
  TextureOptions options{plain_defaults()};
};

void check_texture(const TextureArguments& a, const std::vector<std::string>& label_files, bool overwrite) {
  if (a.inputs.empty())
    throw Error(ExitCode::usage, "no picture is named", "write `sightline texture slide.tif`");
  for (const std::string& input : a.inputs) require_present(input);
  check_texture_outputs(a.outputs);
  if (a.inputs.size() > 1 && !(a.files.labels.empty() && a.files.cells.empty()))
    throw Error(ExitCode::usage, "--labels and --cells-output take one picture, and several are named",
                "run them one by one");
  if (a.files.cells == "-")
    throw Error(ExitCode::usage, "--cells-output cannot be standard output",
                "name a file: --cells-output cells.npy");
  std::vector<std::string> files = a.outputs;
  files.push_back(a.files.cells);
  if (!a.files.labels.empty()) {
    files.insert(files.end(), label_files.begin(), label_files.end());
  }
  require_usable_outputs(files, a.inputs, overwrite);
}

// Bits that a pixel's bin tells at most: 0 where all pixels have one, log2 of the bins where none is rarer
// than another.
double entropy(const HistogramRecord& histogram) {
  const auto pixels = static_cast<double>(std::max<std::uint64_t>(histogram.pixels(), 1));
  double bits = 0;
  for (const std::uint64_t count : histogram.bins) {
    const double share = static_cast<double>(count) / pixels;
    if (count > 0) bits -= share * std::log2(share);
  }
  return bits;
}

void print_record(const TextureRecord& record) {
  constexpr std::size_t kBars = 59;  // as many as the most common mapping has bins
  std::printf("%s: %s pixels, %s, border %s\n", record.picture.c_str(),
              grouped(record.histograms.front().pixels()).c_str(), to_string(record.mapping),
              to_string(record.border));
  for (const HistogramRecord& one : record.histograms) {
    const auto most = std::ranges::max_element(one.bins);
    std::printf("  %-6s %-8s |%s|\n", one.channel.c_str(), one.op.c_str(),
                texture::bar_text(one.bins, kBars).c_str());
    std::printf(
        "  %15s %zu bins, %.2f bits; most in bin %td: %.1f%%", "", one.bins.size(), entropy(one),
        most - one.bins.begin(),
        100.0 * static_cast<double>(*most) / static_cast<double>(std::max<std::uint64_t>(one.pixels(), 1)));
    if (one.contrast)
      std::printf("; contrast %.2f +- %.2f, median %.2f", one.contrast->mean,
                  std::sqrt(one.contrast->variance), one.contrast->percentiles[3]);
    std::printf("\n");
  }
}

std::vector<std::string> with_slides(const std::vector<std::string>& inputs) {
  std::vector<std::string> all;
  for (const std::string& input : inputs) {
    std::error_code error;
    const bool is_folder = fs::is_directory(input, error);
    const std::vector<std::string> names = is_folder ? slides_in(input) : std::vector<std::string>{input};
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

int run_texture(TextureArguments a, const Common& common) {
  a.inputs = with_slides(a.inputs);
  const int verbosity = common.verbosity;
  TextureChoice choice = a.options.choice();
  choice.settings.contrast = a.contrast;
  choice.settings.cell = a.cell;
  choice.settings.labels = !a.files.labels.empty();
  const bool to_stdout = std::ranges::find(a.outputs, "-") != a.outputs.end();
  TextureRunner runner(a.options, choice, verbosity);
  check_texture(a, runner.label_files(a.files.labels), common.overwrite);
  std::vector<TextureRecord> records;
  bool damaged = false;
  for (const std::string& input : a.inputs) {
    try {
      records.push_back(runner.run(input, a.files));
    } catch (const Error& error) {
      // One that cannot be read does not take the others' results away.
      if (error.code() != ExitCode::input || a.inputs.size() == 1 || a.options.is_strict()) throw;
      spdlog::error("skipped: {}", error.what());
      damaged = true;
      continue;
    }
    if (!to_stdout && (verbosity >= 0 || a.outputs.empty())) print_record(records.back());
    damaged = report_damage(records.back()) || damaged;
  }
  if (records.empty())
    throw Error(ExitCode::input, "no picture could be read", "the messages above give the reasons");
  write_textures(a.outputs, records, a.shares);
  if (choice.settings.labels)
    for (const std::string& file : runner.label_files(a.files.labels)) spdlog::info("wrote {}", file);
  if (!a.files.cells.empty()) spdlog::info("wrote {}", a.files.cells);
  return static_cast<int>(damaged ? ExitCode::failed : ExitCode::done);
}

}  // namespace

void add_texture(CLI::App& app, Common& common) {
  auto a = std::make_shared<TextureArguments>();
  OptionSet options;
  options.add("picture", &a->inputs,
              "Pictures or folders of them: TIFF and slides of any size, and all formats of FFmpeg");
  options.group("Output");
  options
      .add("-o,--output FILE", &a->outputs,
           "Histograms: .json, .csv or .svg (a plot), or - for JSON on standard output; may be given several "
           "times")
      .checked_by(OutputFile())
      .one_at_a_time();
  options.add("--shares", &a->shares, "Also write each bin's share of the pixels to JSON");
  options.add("--labels FILE", &a->files.labels,
              "Picture of each pixel's bin, as tiled TIFF; one for each operator or channel, named after it");
  options.add("--contrast", &a->contrast,
              "Also measure the contrast between the brighter neighbours of a pixel and the darker ones");
  options.add("--cells PX", &a->cell, "Side of square cells, each with histograms of its own, in pixels")
      .between(1, 4096)
      .needs("--cells-output");
  options
      .add("--cells-output FILE", &a->files.cells,
           "Histograms of the cells, as NumPy array (.npy) of shape (rows, columns, bins)")
      .checked_by(OutputFile{{".npy"}})
      .needs("--cells");
  options.group("Texture");
  a->options.add_to(options);
  CLI::App& command =
      add_command(app, common, "texture", "Measure texture: local binary patterns of pictures of any size",
                  options, [a, &common] { return run_texture(*a, common); });
  add_texture_compare(command, common);
  add_texture_classify(command, common);
}

}  // namespace sightline::apps
