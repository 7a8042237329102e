#include "characterisation/record.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_problem.hpp"
#include "base/json_store.hpp"
#include "base/json_text.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "opencl/tuning.hpp"

namespace sightline::characterisation {
namespace {

using nlohmann::json;

double number_of(const json& value, const char* what) {
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!std::isfinite(number) || number < 0)
    throw Error(ExitCode::input,
                std::string("'") + what + "' is " + json_text(value) + " and no number of 0 or more");
  return number;
}

double number_at(const json& object, const char* key) {
  return number_of(object.at(key), key);
}

json spread_json(const Spread& spread) {
  return json::array({spread.smallest, spread.median, spread.largest});
}

Spread spread_from(const json& values, std::size_t first, const char* what) {
  const Spread spread{number_of(values.at(first), what), number_of(values.at(first + 1), what),
                      number_of(values.at(first + 2), what)};
  if (!(spread.smallest <= spread.median && spread.median <= spread.largest))
    throw Error(ExitCode::input,
                std::string("'") + what + "' is " + json_text(values) + ", which is not in order");
  return spread;
}

Clock clock_from(const json& object) {
  const auto text = object.at("clock").get<std::string>();
  if (text == to_string(Clock::device)) return Clock::device;
  if (text == to_string(Clock::host)) return Clock::host;
  throw Error(ExitCode::input, "'clock' is '" + text + "' and neither device nor host");
}

json curve_json(const Curve& curve) {
  json points = json::array();
  for (const Point& point : curve.points)
    points.push_back({point.x, point.y.smallest, point.y.median, point.y.largest});
  return {{"id", curve.id},           {"group", curve.group},       {"title", curve.title},
          {"x", curve.x_name},        {"unit", curve.y_unit},       {"clock", to_string(curve.clock)},
          {"is_rate", curve.is_rate}, {"points", std::move(points)}};
}

Curve curve_from(const json& object) {
  Curve curve;
  curve.id = object.at("id").get<std::string>();
  curve.group = object.at("group").get<std::string>();
  curve.title = object.at("title").get<std::string>();
  curve.x_name = object.at("x").get<std::string>();
  curve.y_unit = object.at("unit").get<std::string>();
  curve.clock = clock_from(object);
  curve.is_rate = object.at("is_rate").get<bool>();
  for (const json& values : object.at("points"))
    curve.points.push_back({number_of(values.at(0), "points"), spread_from(values, 1, "points")});
  if (!std::ranges::is_sorted(curve.points, {}, &Point::x))
    throw Error(ExitCode::input, "the points of '" + curve.id + "' are not in order");
  return curve;
}

json figure_json(const Figure& figure) {
  return {{"id", figure.id},
          {"title", figure.title},
          {"unit", figure.unit},
          {"clock", to_string(figure.clock)},
          {"is_rate", figure.is_rate},
          {"value", figure.best()},
          {"spread", spread_json(figure.value)}};
}

Figure figure_from(const json& object) {
  Figure figure;
  figure.id = object.at("id").get<std::string>();
  figure.title = object.at("title").get<std::string>();
  figure.unit = object.at("unit").get<std::string>();
  figure.clock = clock_from(object);
  figure.is_rate = object.at("is_rate").get<bool>();
  figure.value = spread_from(object.at("spread"), 0, "spread");
  return figure;
}

template <typename T>
std::optional<T> known_at(const json& object, const char* key) {
  if (object.at(key).is_null()) return std::nullopt;
  return static_cast<T>(number_at(object, key));
}

opencl::KernelResources kernel_from(const json& object) {
  opencl::KernelResources one;
  one.kernel = object.at("kernel").get<std::string>();
  if (const json& sizes = object.at("work_group"); !sizes.is_null()) {
    for (std::size_t i = 0; i < one.work_group.size(); ++i)
      one.work_group[i] = static_cast<std::size_t>(number_of(sizes.at(i), "work_group"));
  }
  one.registers = known_at<std::uint64_t>(object, "registers");
  one.spill_bytes = known_at<std::uint64_t>(object, "spill_bytes");
  one.private_bytes = known_at<std::uint64_t>(object, "private_bytes");
  one.local_bytes = known_at<std::uint64_t>(object, "local_bytes");
  one.multiple = known_at<std::uint64_t>(object, "multiple");
  one.occupancy = known_at<double>(object, "occupancy");
  return one;
}

template <typename Make>
auto understood(const Make& make) {
  try {
    return make();
  } catch (const json::exception& error) {
    throw Error(ExitCode::input, json_problem(error));
  }
}

Characteristics read_processor(const json& object) {
  Characteristics p;
  p.name = object.at("name").get<std::string>();
  p.platform = object.at("platform").get<std::string>();
  p.driver = object.at("driver").get<std::string>();
  p.type = object.at("type").get<std::string>();
  p.compute_units = object.at("compute_units").get<int>();
  p.thorough = object.at("thorough").get<bool>();
  p.seconds = number_at(object, "seconds");
  // Files of before these were kept are read as well.
  if (object.contains("build_seconds")) p.build_seconds = number_at(object, "build_seconds");
  for (const json& part : object.value("parts", json::array()))
    p.parts.push_back({part.at("what").get<std::string>(), number_at(part, "seconds")});
  for (const json& curve : object.at("curves")) p.curves.push_back(curve_from(curve));
  for (const json& figure : object.at("figures")) p.figures.push_back(figure_from(figure));
  for (const json& level : object.at("caches"))
    p.caches.push_back({number_at(level, "bytes"), number_at(level, "ns")});
  p.memory_ns = number_at(object, "memory_ns");
  p.largest_array = number_at(object, "largest_array");
  for (const json& one : object.at("decisions"))
    p.decisions.push_back({one.at("id").get<std::string>(), one.at("choice").get<std::string>(),
                           one.at("text").get<std::string>()});
  for (const json& one : object.at("losses"))
    p.losses.push_back({one.at("what").get<std::string>(), one.at("why").get<std::string>()});
  for (const json& one : object.value("kernels", json::array())) p.kernels.push_back(kernel_from(one));
  return p;
}

}  // namespace

json to_json(const Characteristics& p) {
  json curves = json::array(), figures = json::array(), caches = json::array();
  json decisions = json::array(), losses = json::array(), parts = json::array(), kernels = json::array();
  for (const Curve& curve : p.curves) curves.push_back(curve_json(curve));
  for (const Figure& figure : p.figures) figures.push_back(figure_json(figure));
  for (const CacheLevel& level : p.caches) caches.push_back({{"bytes", level.bytes}, {"ns", level.ns}});
  for (const Decision& one : p.decisions)
    decisions.push_back({{"id", one.id}, {"choice", one.choice}, {"text", one.text}});
  for (const Part& part : p.parts) parts.push_back({{"what", part.what}, {"seconds", part.seconds}});
  for (const opencl::KernelResources& one : p.kernels) kernels.emplace_back(opencl::as_json(one));
  for (const Loss& loss : p.losses) losses.push_back({{"what", loss.what}, {"why", loss.why}});
  return {{"name", p.name},
          {"platform", p.platform},
          {"driver", p.driver},
          {"type", p.type},
          {"compute_units", p.compute_units},
          {"thorough", p.thorough},
          {"seconds", p.seconds},
          {"build_seconds", p.build_seconds},
          {"parts", std::move(parts)},
          {"caches", std::move(caches)},
          {"memory_ns", p.memory_ns},
          {"largest_array", p.largest_array},
          {"figures", std::move(figures)},
          {"curves", std::move(curves)},
          {"decisions", std::move(decisions)},
          {"losses", std::move(losses)},
          {"kernels", std::move(kernels)}};
}

Characteristics from_json(const json& object) {
  return understood([&] { return read_processor(object); });
}

std::string record_text(const std::vector<Characteristics>& processors) {
  // Names from drivers may be any bytes.
  const auto line = [](const json& value) { return json_text(value); };
  std::string text = "{\"version\": " + std::to_string(kRecordVersion) + ", \"processors\": [";
  for (const Characteristics& p : processors) {
    text += &p == &processors.front() ? "\n {" : ",\n {";
    bool is_first = true;
    const json object = to_json(p);
    for (const auto& [key, value] : object.items()) {
      text += (is_first ? "" : ",\n  ") + line(key) + ": ";
      is_first = false;
      if (!value.is_array()) {
        text += line(value);
        continue;
      }
      text += "[";
      for (std::size_t i = 0; i < value.size(); ++i) text += (i == 0 ? "\n   " : ",\n   ") + line(value[i]);
      text += "]";
    }
    text += "}";
  }
  return text + "]}\n";
}

std::vector<Characteristics> parse_record(const std::string& text, const std::string& name) {
  try {
    return understood([&] {
      check_json_limits(text);
      const json document = json::parse(text);
      const json& version = document.at("version");
      if (version != kRecordVersion)
        throw Error(ExitCode::input,
                    "its version is " + json_text(version) + " and not " + std::to_string(kRecordVersion));
      std::vector<Characteristics> processors;
      for (const json& one : document.at("processors")) processors.push_back(read_processor(one));
      return processors;
    });
  } catch (const Error& error) {
    throw Error(ExitCode::input, "'" + name + "' holds no characteristics of processors: " + error.message(),
                "name a file that `sightline devices --characterise --json FILE` has written");
  }
}

std::vector<Characteristics> load_record(const std::filesystem::path& file) {
  return parse_record(read_text_file(file), file.string());
}

std::filesystem::path default_characteristics_file() {
  return cache_file("characteristics.json");
}

void remember(const opencl::DeviceInfo& device, const Characteristics& processor,
              const std::filesystem::path& file) {
  JsonStore(file).store(opencl::device_key(device),
                        {{"version", kRecordVersion}, {"processor", to_json(processor)}});
}

std::optional<Characteristics> remembered(const opencl::DeviceInfo& device,
                                          const std::filesystem::path& file) {
  const json found = JsonStore(file).find(opencl::device_key(device));
  if (found.is_null()) return std::nullopt;
  try {
    return understood([&]() -> std::optional<Characteristics> {
      if (found.at("version") != kRecordVersion) throw Error(ExitCode::input, "it is of another version");
      return from_json(found.at("processor"));
    });
  } catch (const Error& error) {
    logger().warn("{}: entry for '{}' is not understood ({}); run `sightline devices --characterise`",
                  file.string(), device.name, error.what());
    return std::nullopt;
  }
}

}  // namespace sightline::characterisation
