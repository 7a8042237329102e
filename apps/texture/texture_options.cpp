#include "apps/texture/texture_options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"

namespace sightline::apps {
namespace {

// Frames of four megapixels: large enough that what a frame costs besides its pixels does not count, small
// enough that several in flight fit any machine.
constexpr int kDefaultTile = 2048;
// Cells of a tile that is in flight: many small ones would be larger than its pixels.
constexpr std::int64_t kMostCellBytes = 64 << 20;
constexpr int kSmallestTile = 16;
constexpr int kLargestTile = 16384;

// Every pixel has a code, no neighbour comes from the other end of the picture (wrap), and no edge is
// followed by flat pixels, whose bits are all set (clamp).
constexpr BorderRule kBorder = BorderRule::reflect;

constexpr tiles::Channel kChannels[] = {tiles::Channel::luma, tiles::Channel::red, tiles::Channel::green,
                                        tiles::Channel::blue};

std::vector<tiles::Channel> parse_channels(const std::string& text) {
  if (text == "rgb") return {tiles::Channel::red, tiles::Channel::green, tiles::Channel::blue};
  std::vector<tiles::Channel> channels;
  for (const std::string& name : split(text, ',')) {
    const auto found = std::ranges::find_if(
        kChannels, [&](tiles::Channel channel) { return name == tiles::to_string(channel); });
    if (found == std::end(kChannels))
      throw Error(ExitCode::usage, "there is no channel '" + name + "'",
                  "write luma, rgb, or some of luma,red,green,blue");
    if (std::ranges::find(channels, *found) != channels.end())
      throw Error(ExitCode::usage, "the channel '" + name + "' is named twice");
    channels.push_back(*found);
  }
  if (channels.empty()) throw Error(ExitCode::usage, "--channels names no channel", "write --channels luma");
  return channels;
}

std::pair<double, double> parse_range(const std::string& text) {
  std::pair<double, double> range;
  const char* const end = text.data() + text.size();
  const auto [comma, low_error] = std::from_chars(text.data(), end, range.first);
  if (low_error == std::errc() && comma != end && *comma == ',') {
    const auto [rest, high_error] = std::from_chars(comma + 1, end, range.second);
    if (high_error == std::errc() && rest == end && range.first != range.second &&
        std::isfinite(range.first) && std::isfinite(range.second))
      return range;
  }
  throw Error(ExitCode::usage, "--range '" + text + "' is not a range",
              "write the values of black and white, for example 0,4095");
}

}  // namespace

TextureDefaults plain_defaults() {
  return {{"8,1"}, LbpMapping::uniform};
}

TextureDefaults comparing_defaults() {
  return {{"grid", "8,2", "16,4"}, LbpMapping::rotation_uniform};
}

void TextureOptions::add_operators_to(OptionSet& options) {
  std::string usual;
  for (const std::string& one : defaults_.operators) usual += (usual.empty() ? "" : " and ") + one;
  options
      .add("--operator OPERATOR", &operators_,
           "Neighbours of a pixel: grid (the 3x3 pixels, clockwise from the upper left), or points and "
           "radius of a circle, such as 8,1 or 16,2.5; each one given has its own histogram")
      .one_at_a_time()
      .free_text()
      .show_default(usual);
  options
      .add("--mapping MAPPING", &mapping_,
           "Mapping of codes to bins: plain (one bin per code), u2 (uniform codes, and one bin for all "
           "others), ri (rotation invariant), riu2 (both)")
      .one_of({"plain", "u2", "ri", "riu2"})
      .show_default(to_string(defaults_.mapping));
}

void TextureOptions::add_to(OptionSet& options) {
  add_operators_to(options);
  options
      .add("--channels CHANNELS", &channels_,
           "Channels: luma, rgb, or some of luma,red,green,blue, each by itself")
      .free_text()
      .show_default("luma");
  options
      .add("--border MODE", &border_,
           "Pixels outside the picture: reflect (mirrored), clamp (the edge repeated), wrap (the opposite "
           "edge), or skip: pixels at the edge have no code")
      .one_of({"reflect", "clamp", "wrap", "skip"})
      .show_default(to_string(kBorder));
  options.group("Input");
  options.add("--page N", &page_, "Picture or resolution of a file with several, from 0")
      .between(0, 100'000)
      .show_default();
  options
      .add("--range LOW,HIGH", &range_,
           "Values of black and white, for example 0,4095, for samples of more than 8 bits, which are scaled "
           "to 256 gray levels")
      .free_text();
  options
      .add(
          "--tile PX", &tile_,
          "Side of the tiles, in pixels (default: 2048, or a multiple of --cells near it); changes no result")
      .between(kSmallestTile, kLargestTile);
  options.add("--strict", &strict_, "Stop at a picture or a part of it that cannot be read");
  options.group("Schedule");
  add_device_options(options, schedule_);
  add_schedule_options(options, schedule_);
}

TextureChoice TextureOptions::choice() const {
  TextureChoice choice;
  choice.settings.operators.clear();
  for (const std::string& one : operators_.empty() ? defaults_.operators : operators_)
    choice.settings.operators.push_back(LbpOperator::parse(one));
  choice.settings.mapping = mapping_.empty() ? defaults_.mapping : parse_lbp_mapping(mapping_).value();
  choice.channels = parse_channels(channels_.empty() ? "luma" : channels_);
  choice.border = border_.empty() ? kBorder : parse_border_rule(border_).value();
  texture::check(choice.settings);
  return choice;
}

void TextureOptions::follow(const texture::TextureRecord& record) {
  std::vector<std::string> operators;
  std::string channels;
  for (const texture::HistogramRecord& one : record.histograms) {
    if (one.channel == record.histograms.front().channel) operators.push_back(one.op);
    if (one.op == record.histograms.front().op) channels += (channels.empty() ? "" : ",") + one.channel;
  }
  if (operators_.empty()) operators_ = operators;
  if (mapping_.empty()) mapping_ = to_string(record.mapping);
  if (channels_.empty()) channels_ = channels;
  if (border_.empty()) border_ = to_string(record.border);
}

tiles::OpenOptions TextureOptions::opening() const {
  tiles::OpenOptions options;
  options.page = page_;
  if (!range_.empty()) options.range = parse_range(range_);
  return options;
}

int TextureOptions::tile(const TextureChoice& choice) const {
  const int cell = choice.settings.cell;
  if (cell == 0) return tile_.value_or(kDefaultTile);
  if (tile_ && *tile_ % cell != 0) {
    const int near = std::max(*tile_ / cell, 1) * cell;
    throw Error(ExitCode::usage,
                "a tile of " + std::to_string(*tile_) + " pixels is not a multiple of the cell size " +
                    std::to_string(cell),
                "use --tile " + std::to_string(near) + ", or leave it out");
  }
  if (tile_) return *tile_;
  std::int64_t bins = 0;
  for (const LbpOperator& op : choice.settings.operators)
    bins += texture::bins_of(op, choice.settings.mapping);
  const auto bytes = [&](std::int64_t side) {
    return side / cell * (side / cell) * bins * std::int64_t{sizeof(std::uint32_t)};
  };
  int tile = std::max(kDefaultTile, cell);
  while (tile > 256 && tile / 2 >= cell && bytes(tile) > kMostCellBytes) tile /= 2;
  return tile / cell * cell;
}

}  // namespace sightline::apps
