#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "detection/result_writer_parts.hpp"

namespace sightline {

namespace {

using Json = nlohmann::ordered_json;

/// Rounds to `decimals` decimals; integers are printed without ".0".
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

// Text of JSON, put together here: a tree of nlohmann's needs memory to be given back, and where its
// destructor is refused it, the program ends.
std::string json_number(double value, int decimals) {
  return number(value, decimals).dump();
}

std::string box_array(const Box& box) {
  return '[' + json_number(box.x, 2) + ',' + json_number(box.y, 2) + ',' + json_number(box.width, 2) + ',' +
         json_number(box.height, 2) + ']';
}

// A frame's number; `none` where it has none, as pictures have.
std::string frame_number(const FrameResult& result, const char* none) {
  return result.frame > 0 ? std::to_string(result.frame) : none;
}

// `name` is ours: letters.
void append(std::string& object, const char* name, const std::string& value) {
  object += object.empty() ? '{' : ',';
  object.append("\"").append(name).append("\":").append(value);
}

std::string names_array(const std::vector<std::string>& names) {
  std::string array;
  for (const std::string& name : names) array += (array.empty() ? "[" : ",") + json_string(name);
  return array + ']';
}

std::string landmarks_object(const std::vector<Landmark>& landmarks) {
  std::string object;
  for (const Landmark& one : landmarks) {
    object += object.empty() ? "{" : ",";
    object += json_string(one.name) + ":[" + json_number(one.x, 2) + ',' + json_number(one.y, 2) + ']';
  }
  return object + '}';
}

// Name and distance, where they are known.
void append_identity(std::string& object, const DetectionAttributes& attributes) {
  if (!attributes.name.empty()) append(object, "name", json_string(attributes.name));
  if (attributes.distance) append(object, "distance", json_number(*attributes.distance, 4));
  if (!attributes.view.empty()) append(object, "view", json_string(attributes.view));
}

}  // namespace

const std::string& ResultWriter::Format::label(int index) const {
  if (index < 0 || static_cast<std::size_t>(index) >= labels_.size()) {
    throw Error(ExitCode::failed, "a detection has label " + std::to_string(index) +
                                      ", but the detector names " + std::to_string(labels_.size()) +
                                      " labels");
  }
  return labels_[static_cast<std::size_t>(index)];
}

std::string ResultWriter::Format::events_array(const ResultNotes& notes) const {
  std::string array;
  for (const CountEvent& event : notes.events) {
    std::string one;
    append(one, is_of_line(event) ? "line" : "zone", json_string(name_of(event, notes.counter->rules())));
    append(one, "event", json_string(to_string(event.kind)));
    append(one, "label", json_string(label(event.label)));
    append(one, "track", std::to_string(event.track));
    array += (array.empty() ? "[" : ",") + one + '}';
  }
  return array + ']';
}

std::string ResultWriter::Format::frame_object(const FrameResult& result, const ResultNotes& notes) const {
  std::string objects;
  for (const auto& object : result.objects) {
    std::string one;
    append(one, "label", json_string(label(object.label)));
    append(one, "score", json_number(object.score, 4));
    if (object.confidence) append(one, "confidence", json_number(*object.confidence, 4));
    append(one, "box", box_array(object.box));
    if (object.attributes) {
      append_identity(one, *object.attributes);
      if (!object.attributes->landmarks.empty())
        append(one, "landmarks", landmarks_object(object.attributes->landmarks));
    }
    if (object.track > 0) append(one, "track", std::to_string(object.track));
    objects += (objects.empty() ? "" : ",") + one + '}';
  }
  std::string text;
  append(text, "source", json_string(result.source));
  if (!result.picture.empty()) append(text, "picture", json_string(result.picture));
  append(text, "frame", frame_number(result, "null"));
  append(text, "time", json_number(result.time, 6));
  append(text, "status", json_string(to_string(result.status)));
  append(text, "width", std::to_string(result.width));
  append(text, "height", std::to_string(result.height));
  if (!result.setting.empty()) append(text, "setting", json_string(result.setting));
  append(text, "objects", '[' + objects + ']');
  if (!notes.events.empty()) append(text, "events", events_array(notes));
  if (!notes.digest.empty()) append(text, "digest", json_string(notes.digest));
  if (result.status != FrameStatus::ok) append(text, "message", json_string(result.message));
  return text + '}';
}

namespace {

class JsonLines final : public ResultWriter::Format {
 public:
  explicit JsonLines(std::vector<std::string> labels) : Format(std::move(labels)) {}
  std::string frame(const FrameResult& result, const ResultNotes& notes) override {
    return frame_object(result, notes) + '\n';
  }
};

class JsonDocument final : public ResultWriter::Format {
 public:
  explicit JsonDocument(std::vector<std::string> labels) : Format(std::move(labels)) {}
  std::string head() override { return "{\"frames\":["; }
  std::string frame(const FrameResult& result, const ResultNotes& notes) override {
    std::string text = frame_object(result, notes);  // first, because it may throw
    return (std::exchange(first_, false) ? "\n" : ",\n") + std::move(text);
  }
  void tail(ResultWriter::Output& output) override { output.write("\n]}\n"); }

 private:
  bool first_ = true;
};

class Csv final : public ResultWriter::Format {
 public:
  Csv(std::vector<std::string> labels, bool has_settings)
      : Format(std::move(labels)), has_settings_(has_settings) {}
  std::string head() override {
    return std::string(
               "source,frame,time,status,label,score,x,y,width,height,track,name,distance,confidence") +
           (has_settings_ ? ",setting\n" : "\n");
  }
  std::string frame(const FrameResult& result, const ResultNotes&) override {
    const std::string start =
        csv_field(result.picture.empty() ? result.source : result.source + '/' + result.picture) + ',' +
        frame_number(result, "") + ',' + (std::isfinite(result.time) ? plain(result.time, 6) : "") + ',' +
        to_string(result.status) + ',';
    const std::string end = has_settings_ ? ',' + csv_field(std::string(result.setting)) + '\n' : "\n";
    if (result.objects.empty()) return start + ",,,,,,,,," + end;
    std::string rows;
    for (const auto& object : result.objects) {
      const Box& box = object.box;
      rows += start + csv_field(label(object.label)) + ',' + plain(object.score, 4) + ',' + plain(box.x, 2) +
              ',' + plain(box.y, 2) + ',' + plain(box.width, 2) + ',' + plain(box.height, 2) + ',' +
              (object.track > 0 ? std::to_string(object.track) : "") + ',' +
              csv_field(object.attributes.name()) + ',';
      if (object.attributes && object.attributes->distance) rows += plain(*object.attributes->distance, 4);
      rows += ',';
      if (object.confidence) rows += plain(*object.confidence, 4);
      rows += end;
    }
    return rows;
  }

 private:
  const bool has_settings_;
};

class Mot final : public ResultWriter::Format {
 public:
  explicit Mot(std::vector<std::string> given) : Format(std::move(given)) {
    if (labels().size() > 1)
      logger().warn("the mot format has no place for classes: '{}' and the others cannot be told apart in it",
                    labels().front());
  }
  std::string frame(const FrameResult& result, const ResultNotes&) override {
    if (!source_) source_ = result.source;
    if (*source_ != result.source) {
      throw Error(ExitCode::usage,
                  "the mot format holds one source, and '" + result.source + "' follows '" + *source_ + "'",
                  "write one file per source, or choose another format");
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
  std::string frame(const FrameResult& result, const ResultNotes&) override {
    std::string rows;
    std::int64_t id = annotation_;
    std::map<int, std::vector<std::string>> keypoints = keypoints_;
    for (const auto& object : result.objects) {
      label(object.label);
      std::string annotation;
      append(annotation, "image_id", std::to_string(image_ + 1));
      append(annotation, "category_id", std::to_string(object.label + 1));
      append(annotation, "bbox", box_array(object.box));
      append(annotation, "score", json_number(object.score, 4));
      if (object.confidence) append(annotation, "confidence", json_number(*object.confidence, 4));
      append(annotation, "area", json_number(object.box.area(), 2));
      append(annotation, "id", std::to_string(id + 1));
      append(annotation, "iscrowd", "0");
      if (object.track > 0) append(annotation, "track_id", std::to_string(object.track));
      if (object.attributes) {
        const DetectionAttributes& attributes = *object.attributes;
        append_attributes(annotation, attributes);
        if (!attributes.landmarks.empty()) append_keypoints(annotation, attributes, keypoints[object.label]);
      }
      rows += (id == 0 ? "\n" : ",\n") + annotation + '}';
      ++id;
    }
    if (std::fwrite(rows.data(), 1, rows.size(), annotations_.get()) != rows.size()) fail();
    annotation_ = id;
    keypoints_ = std::move(keypoints);
    const bool is_of_video = result.picture.empty() && result.frame > 0;
    const std::string name = (result.picture.empty() ? result.source : result.picture) +
                             (is_of_video ? '#' + std::to_string(result.frame) : "");
    std::string image;
    append(image, "id", std::to_string(++image_));
    append(image, "file_name", json_string(name));
    append(image, "width", std::to_string(result.width));
    append(image, "height", std::to_string(result.height));
    append(image, "source", json_string(result.source));
    append(image, "frame", frame_number(result, "null"));
    append(image, "time", json_number(result.time, 6));
    append(image, "status", json_string(to_string(result.status)));
    if (!result.setting.empty()) append(image, "setting", json_string(result.setting));
    if (result.status != FrameStatus::ok) append(image, "message", json_string(result.message));
    return (image_ == 1 ? "\n" : ",\n") + image + '}';
  }
  void tail(ResultWriter::Output& output) override {
    std::string categories;
    for (std::size_t i = 0; i < labels().size(); ++i) {
      std::string category;
      append(category, "id", std::to_string(i + 1));
      append(category, "name", json_string(labels()[i]));
      if (const auto named = keypoints_.find(static_cast<int>(i)); named != keypoints_.end())
        append(category, "keypoints", names_array(named->second));
      categories += (i == 0 ? "" : ",") + category + '}';
    }
    output.write("\n],\"categories\":[" + categories + "],\"annotations\":[");
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
  static void append_attributes(std::string& annotation, const DetectionAttributes& attributes) {
    std::string identity;
    append_identity(identity, attributes);
    if (!identity.empty()) append(annotation, "attributes", identity + '}');
  }

  // `names` are the category's keypoints: those of its first object that has any.
  static void append_keypoints(std::string& annotation, const DetectionAttributes& attributes,
                               std::vector<std::string>& names) {
    const std::vector<Landmark>& landmarks = attributes.landmarks;
    if (names.empty()) {
      for (const Landmark& one : landmarks) names.push_back(one.name);
    }
    std::string points;
    int known = 0;
    for (const std::string& name : names) {
      const auto one = std::find_if(landmarks.begin(), landmarks.end(),
                                    [&](const Landmark& landmark) { return landmark.name == name; });
      points += points.empty() ? "[" : ",";
      const bool is_known = one != landmarks.end();
      known += is_known;
      points += is_known ? json_number(one->x, 2) + ',' + json_number(one->y, 2) + ",2" : "0,0,0";
    }
    append(annotation, "keypoints", points + ']');
    append(annotation, "num_keypoints", std::to_string(known));
  }

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
  std::map<int, std::vector<std::string>> keypoints_;  ///< names, by label
};

}  // namespace

std::string json_line(const FrameResult& result, const std::vector<std::string>& labels,
                      const ResultNotes& notes) {
  std::string line = JsonLines(labels).frame(result, notes);
  line.pop_back();
  return line;
}

std::unique_ptr<ResultWriter::Format> ResultWriter::Format::create(ResultFormat format,
                                                                   std::vector<std::string> labels,
                                                                   bool has_settings) {
  switch (format) {
    case ResultFormat::jsonl:
      break;
    case ResultFormat::json:
      return std::make_unique<JsonDocument>(std::move(labels));
    case ResultFormat::csv:
      return std::make_unique<Csv>(std::move(labels), has_settings);
    case ResultFormat::mot:
      return std::make_unique<Mot>(std::move(labels));
    case ResultFormat::coco:
      return std::make_unique<Coco>(std::move(labels));
  }
  return std::make_unique<JsonLines>(std::move(labels));
}

}  // namespace sightline
