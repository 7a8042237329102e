#include "texture/record.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/json_problem.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"

namespace sightline::texture {
namespace {

using Json = nlohmann::ordered_json;

double share_of(std::uint64_t count, std::uint64_t pixels) {
  return pixels == 0 ? 0 : static_cast<double>(count) / static_cast<double>(pixels);
}

Json contrast_json(const ContrastSummary& contrast) {
  Json percentiles = Json::object();
  for (std::size_t i = 0; i < kContrastPercentiles.size(); ++i)
    percentiles[std::to_string(kContrastPercentiles[i])] = contrast.percentiles[i];
  return {{"mean", contrast.mean}, {"variance", contrast.variance}, {"percentiles", std::move(percentiles)}};
}

Json histogram_json(const HistogramRecord& histogram, bool shares) {
  const std::uint64_t pixels = histogram.pixels();
  Json json{{"channel", histogram.channel},
            {"operator", histogram.op},
            {"pixels", pixels},
            {"bins", histogram.bins}};
  if (shares) {
    Json& list = json["shares"] = Json::array();
    for (const std::uint64_t count : histogram.bins) list.push_back(share_of(count, pixels));
  }
  if (histogram.contrast) json["contrast"] = contrast_json(*histogram.contrast);
  return json;
}

Json cells_json(const CellsRecord& cells) {
  return {{"file", cells.file},
          {"cell", cells.cell},
          {"columns", cells.columns},
          {"rows", cells.rows},
          {"features", cells.features}};
}

Json damage_json(const std::vector<tiles::Damage>& damage) {
  Json list = Json::array();
  for (const tiles::Damage& one : damage) {
    list.push_back({{"x", one.where.x},
                    {"y", one.where.y},
                    {"width", one.where.width},
                    {"height", one.where.height},
                    {"reason", one.reason}});
  }
  return list;
}

// A record's head, then its lists with one entry per line, since one line per bin would be unreadable.
std::string record_text(const TextureRecord& record, bool shares) {
  const auto line = [](const Json& json) { return json_text(json); };
  Json head{{"picture", record.picture},
            {"page", record.page},
            {"width", record.width},
            {"height", record.height},
            {"border", to_string(record.border)},
            {"left_out", record.left_out},
            {"mapping", to_string(record.mapping)}};
  std::string text = "  " + line(head);
  text.pop_back();
  const auto add_list = [&](const char* key, const Json& list) {
    text += std::string(",\n   \"") + key + "\": [";
    for (std::size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "\n    " : ",\n    ") + line(list[i]);
    text += "]";
  };
  Json histograms = Json::array();
  for (const HistogramRecord& one : record.histograms) histograms.push_back(histogram_json(one, shares));
  add_list("histograms", histograms);
  if (record.cells) text += ",\n   \"cells\": " + line(cells_json(*record.cells));
  if (!record.damage.empty()) add_list("damage", damage_json(record.damage));
  if (record.damage_left_out > 0)
    text += ",\n   \"damage_left_out\": " + std::to_string(record.damage_left_out);
  return text + "}";
}

ContrastSummary contrast_of(const Json& json) {
  ContrastSummary contrast{json.at("mean").get<double>(), json.at("variance").get<double>(), {}};
  for (std::size_t i = 0; i < kContrastPercentiles.size(); ++i)
    contrast.percentiles[i] =
        json.at("percentiles").at(std::to_string(kContrastPercentiles[i])).get<double>();
  return contrast;
}

template <typename T>
T need(const std::optional<T>& value, const char* key, const std::string& text) {
  if (value) return *value;
  throw Error(ExitCode::input, std::string("'") + key + "' is '" + text + "', which is none");
}

// The library silently converts negative, fractional and large numbers.
template <typename T = std::int64_t>
T count_of(const Json& json) {
  if (!json.is_number_unsigned() || !std::in_range<T>(json.get<std::uint64_t>()))
    throw Error(ExitCode::input, "'" + json_text(json) + "' is not a count");
  return static_cast<T>(json.get<std::uint64_t>());
}

HistogramRecord histogram_of(const Json& json, LbpMapping mapping) {
  HistogramRecord histogram{
      json.at("channel").get<std::string>(), json.at("operator").get<std::string>(), {}, {}};
  for (const Json& count : json.at("bins")) histogram.bins.push_back(count_of<std::uint64_t>(count));
  const int bins = bins_of(LbpOperator::parse(histogram.op), mapping);
  if (histogram.bins.size() != static_cast<std::size_t>(bins)) {
    throw Error(ExitCode::input, "'bins' of operator " + histogram.op + " are " +
                                     std::to_string(histogram.bins.size()) + " and not " +
                                     std::to_string(bins));
  }
  if (json.contains("contrast")) histogram.contrast = contrast_of(json.at("contrast"));
  return histogram;
}

TextureRecord record_of(const Json& json) {
  TextureRecord record;
  record.picture = json.at("picture").get<std::string>();
  record.page = count_of<int>(json.at("page"));
  record.width = count_of(json.at("width"));
  record.height = count_of(json.at("height"));
  const auto border = json.at("border").get<std::string>();
  record.border = need(parse_border_rule(border), "border", border);
  record.left_out = count_of<int>(json.at("left_out"));
  const auto mapping = json.at("mapping").get<std::string>();
  record.mapping = need(parse_lbp_mapping(mapping), "mapping", mapping);
  for (const Json& one : json.at("histograms"))
    record.histograms.push_back(histogram_of(one, record.mapping));
  if (json.contains("cells")) {
    const Json& cells = json.at("cells");
    record.cells = CellsRecord{cells.at("file").get<std::string>(), count_of<int>(cells.at("cell")),
                               count_of(cells.at("columns")), count_of(cells.at("rows")),
                               count_of(cells.at("features"))};
  }
  if (!json.contains("damage")) return record;
  for (const Json& one : json.at("damage")) {
    record.damage.push_back({{count_of(one.at("x")), count_of(one.at("y")), count_of<int>(one.at("width")),
                              count_of<int>(one.at("height"))},
                             one.at("reason").get<std::string>()});
  }
  if (json.contains("damage_left_out")) record.damage_left_out = count_of(json.at("damage_left_out"));
  return record;
}

}  // namespace

std::uint64_t HistogramRecord::pixels() const {
  return std::accumulate(bins.begin(), bins.end(), std::uint64_t{0});
}

std::string TextureRecord::kind() const {
  std::string text;
  for (const HistogramRecord& one : histograms)
    text += (text.empty() ? "" : ", ") + one.op + " of " + one.channel;
  return text + " by " + to_string(mapping);
}

TextureRecord make_record(const TextureSettings& settings, const std::vector<std::string>& channels,
                          const TextureTotals& totals) {
  TextureRecord record;
  record.mapping = settings.mapping;
  for (std::size_t channel = 0; channel < channels.size(); ++channel) {
    for (std::size_t op = 0; op < settings.operators.size(); ++op) {
      const OperatorTotals& one = totals.of(channel, op);
      HistogramRecord& histogram = record.histograms.emplace_back(
          HistogramRecord{channels[channel], settings.operators[op].name(), one.bins, {}});
      if (settings.contrast) histogram.contrast = summarise_contrast(one.contrast);
    }
  }
  return record;
}

std::string to_json(const std::vector<TextureRecord>& records, bool shares) {
  std::string text = "{\"textures\": [\n";
  for (const TextureRecord& record : records) {
    text += record_text(record, shares);
    text += &record == &records.back() ? "\n" : ",\n";
  }
  return text + "]}\n";
}

std::vector<TextureRecord> parse_records(const std::string& text, const std::string& name) {
  const auto refuse = [&](const Message& reason) {
    return Error(ExitCode::input, "'" + name + "' contains no textures: " + reason,
                 "use a file written by `sightline texture --output FILE.json`");
  };
  try {
    check_json_limits(text);
    const Json json = Json::parse(text);
    std::vector<TextureRecord> records;
    for (const Json& one : json.at("textures")) records.push_back(record_of(one));
    return records;
  } catch (const Error& error) {
    throw refuse(error.message());
  } catch (const Json::exception& error) {
    throw refuse(json_problem(error));
  }
}

std::vector<TextureRecord> load_records(const std::filesystem::path& file) {
  return parse_records(read_text_file(file), file.string());
}

std::string to_csv(const std::vector<TextureRecord>& records) {
  std::string text = "picture,channel,operator,bin,count,share\n";
  for (const TextureRecord& record : records) {
    for (const HistogramRecord& histogram : record.histograms) {
      const std::uint64_t pixels = histogram.pixels();
      const std::string start =
          csv_field(record.picture) + ',' + histogram.channel + ',' + csv_field(histogram.op) + ',';
      for (std::size_t bin = 0; bin < histogram.bins.size(); ++bin) {
        const std::uint64_t count = histogram.bins[bin];
        text += start + std::to_string(bin) + ',' + std::to_string(count) + ',' +
                shortest(share_of(count, pixels)) + '\n';
      }
    }
  }
  return text;
}

}  // namespace sightline::texture
