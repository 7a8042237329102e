#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "detection/result_writer_parts.hpp"

namespace sightline {

namespace {

using Json = nlohmann::ordered_json;

/// Rounds to so many decimals, and prints without ".0" where nothing is behind the point.
Json number(double value, int decimals) {
  if (!std::isfinite(value)) return nullptr;
  // Beyond 2^53 a double has no decimals to round, and casts to integers stop being safe soon after.
  constexpr double exact = 9007199254740992.0;
  const double scale = std::pow(10.0, decimals);
  if (std::abs(value) * scale >= exact) return value;
  const double rounded = std::round(value * scale) / scale;
  if (rounded == std::trunc(rounded)) return static_cast<std::int64_t>(rounded);
  return rounded;
}

std::string plain(double value, int decimals) {
  return std::isfinite(value) ? number(value, decimals).dump() : "nan";
}

Json box_array(const Box& box) {
  return Json::array({number(box.x, 2), number(box.y, 2), number(box.width, 2), number(box.height, 2)});
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

const std::string& ResultWriter::Format::label(const Detection& object) const {
  if (object.label < 0 || static_cast<std::size_t>(object.label) >= labels_.size()) {
    throw Error(ExitCode::failed, "a detection has label " + std::to_string(object.label) +
                                      ", but the detector names " + std::to_string(labels_.size()) +
                                      " labels");
  }
  return labels_[static_cast<std::size_t>(object.label)];
}

std::string ResultWriter::Format::frame_object(const FrameResult& result) const {
  Json json{{"source", result.source}};
  if (!result.picture.empty()) json["picture"] = result.picture;
  json["frame"] = result.frame;
  json["time"] = number(result.time, 6);
  json["status"] = to_string(result.status);
  json["width"] = result.width;
  json["height"] = result.height;
  json["objects"] = Json::array();
  for (const auto& object : result.objects) {
    Json one{{"label", label(object)}, {"score", number(object.score, 4)}, {"box", box_array(object.box)}};
    if (object.track > 0) one["track"] = object.track;
    json["objects"].push_back(std::move(one));
  }
  if (result.status != FrameStatus::ok) json["message"] = result.message;
  return text_of(json);
}

namespace {

class JsonLines final : public ResultWriter::Format {
 public:
  explicit JsonLines(std::vector<std::string> labels) : Format(std::move(labels)) {}
  std::string frame(const FrameResult& result) override { return frame_object(result) + '\n'; }
};

class JsonDocument final : public ResultWriter::Format {
 public:
  explicit JsonDocument(std::vector<std::string> labels) : Format(std::move(labels)) {}
  std::string head() override { return "{\"frames\":["; }
  std::string frame(const FrameResult& result) override {
    std::string text = frame_object(result);  // first, because it may throw
    return (std::exchange(first_, false) ? "\n" : ",\n") + std::move(text);
  }
  void tail(ResultWriter::Output& output) override { output.write("\n]}\n"); }

 private:
  bool first_ = true;
};

class Csv final : public ResultWriter::Format {
 public:
  explicit Csv(std::vector<std::string> labels) : Format(std::move(labels)) {}
  std::string head() override { return "source,frame,time,status,label,score,x,y,width,height,track\n"; }
  std::string frame(const FrameResult& result) override {
    const std::string start =
        csv_field(result.picture.empty() ? result.source : result.source + '/' + result.picture) + ',' +
        std::to_string(result.frame) + ',' + plain(result.time, 6) + ',' + to_string(result.status) + ',';
    if (result.objects.empty()) return start + ",,,,,,\n";
    std::string rows;
    for (const auto& object : result.objects) {
      const Box& box = object.box;
      rows += start + csv_field(label(object)) + ',' + plain(object.score, 4) + ',' + plain(box.x, 2) + ',' +
              plain(box.y, 2) + ',' + plain(box.width, 2) + ',' + plain(box.height, 2) + ',' +
              (object.track > 0 ? std::to_string(object.track) : "") + '\n';
    }
    return rows;
  }
};

class Mot final : public ResultWriter::Format {
 public:
  explicit Mot(std::vector<std::string> labels) : Format(std::move(labels)) {}
  std::string frame(const FrameResult& result) override {
    if (!source_) source_ = result.source;
    if (*source_ != result.source) {
      throw Error(
          ExitCode::usage,
          "the mot format holds one source only, and '" + result.source + "' follows '" + *source_ + "'",
          "write a file for each source or choose another format");
    }
    std::string rows;
    for (const auto& object : result.objects) {
      const Box& box = object.box;
      rows += std::to_string(result.frame) + ',' + std::to_string(object.track > 0 ? object.track : -1) +
              ',' + plain(box.x, 2) + ',' + plain(box.y, 2) + ',' + plain(box.width, 2) + ',' +
              plain(box.height, 2) + ',' + plain(object.score, 4) + ",-1,-1,-1\n";
    }
    return rows;
  }

 private:
  std::optional<std::string> source_;
};

class Coco final : public ResultWriter::Format {
 public:
  explicit Coco(std::vector<std::string> labels) : Format(std::move(labels)), annotations_(std::tmpfile()) {
    if (!annotations_) fail();
  }
  std::string head() override { return "{\"images\":["; }
  std::string frame(const FrameResult& result) override {
    std::string rows;
    std::int64_t id = annotation_;
    for (const auto& object : result.objects) {
      label(object);
      Json annotation{{"image_id", image_ + 1},
                      {"category_id", object.label + 1},
                      {"bbox", box_array(object.box)},
                      {"score", number(object.score, 4)},
                      {"area", number(object.box.area(), 2)},
                      {"id", id + 1},
                      {"iscrowd", 0}};
      if (object.track > 0) annotation["track_id"] = object.track;
      rows += (id == 0 ? "\n" : ",\n") + text_of(annotation);
      ++id;
    }
    if (std::fwrite(rows.data(), 1, rows.size(), annotations_.get()) != rows.size()) fail();
    annotation_ = id;
    Json image{{"id", ++image_},
               {"file_name",
                result.picture.empty() ? result.source + '#' + std::to_string(result.frame) : result.picture},
               {"width", result.width},
               {"height", result.height},
               {"source", result.source},
               {"frame", result.frame},
               {"time", number(result.time, 6)},
               {"status", to_string(result.status)}};
    if (result.status != FrameStatus::ok) image["message"] = result.message;
    return (image_ == 1 ? "\n" : ",\n") + text_of(image);
  }
  void tail(ResultWriter::Output& output) override {
    Json categories = Json::array();
    for (const auto& name : labels()) {
      categories.push_back(Json{{"id", categories.size() + 1}, {"name", name}});
    }
    output.write("\n],\"categories\":" + text_of(categories) + ",\"annotations\":[");
    if (error_ != 0 || std::fflush(annotations_.get()) != 0 ||
        std::fseek(annotations_.get(), 0, SEEK_SET) != 0) {
      fail();
    }
    std::array<char, 65536> block;
    while (const std::size_t read = std::fread(block.data(), 1, block.size(), annotations_.get())) {
      output.write({block.data(), read});
    }
    if (std::ferror(annotations_.get()) != 0) fail();
    output.write("\n]}\n");
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void fail() {
    if (error_ == 0) error_ = errno;
    throw Error(ExitCode::failed,
                std::string("cannot keep annotations in a temporary file: ") + std::strerror(error_),
                "free some space in the temporary folder or choose another format");
  }

  std::unique_ptr<std::FILE, Close> annotations_;
  int error_ = 0;
  std::int64_t image_ = 0;
  std::int64_t annotation_ = 0;
};

}  // namespace

std::unique_ptr<ResultWriter::Format> ResultWriter::Format::create(ResultFormat format,
                                                                   std::vector<std::string> labels) {
  switch (format) {
    case ResultFormat::jsonl:
      break;
    case ResultFormat::json:
      return std::make_unique<JsonDocument>(std::move(labels));
    case ResultFormat::csv:
      return std::make_unique<Csv>(std::move(labels));
    case ResultFormat::mot:
      return std::make_unique<Mot>(std::move(labels));
    case ResultFormat::coco:
      return std::make_unique<Coco>(std::move(labels));
  }
  return std::make_unique<JsonLines>(std::move(labels));
}

}  // namespace sightline
