#include "model/safetensors_header.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.hpp"

namespace sightline {

namespace {

/// Takes the header event by event. A document tree would hide repeated keys, which it merges, and would let
/// a header of nothing but brackets fill the memory.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(std::vector<SafetensorsEntry>& entries, std::map<std::string, std::string>& metadata)
      : entries_(entries), metadata_(metadata) {}

  const std::string& problem() const { return problem_; }

  bool start_object(std::size_t) override {
    if (place_ == Place::start) return go(Place::top);
    if (place_ == Place::entry_value) return go(Place::entry);
    if (place_ == Place::metadata_value) return go(Place::metadata);
    return refuse("an object where none belongs");
  }

  bool key(std::string& name) override {
    if (place_ == Place::top) {
      if (!names_.insert(name).second) return refuse("it is listed twice", name);
      if (name == "__metadata__") return go(Place::metadata_value);
      if (entries_.size() == kMaxSafetensorsEntries)
        return refuse("more than " + std::to_string(kMaxSafetensorsEntries) + " arrays");
      entries_.emplace_back().name = std::move(name);
      seen_ = {};
      return go(Place::entry_value);
    }
    if (place_ == Place::metadata) {
      if (metadata_.size() == kMaxSafetensorsEntries)
        return refuse("more than " + std::to_string(kMaxSafetensorsEntries) + " texts of metadata");
      key_ = std::move(name);
      return metadata_.contains(key_) ? refuse("metadata '" + key_ + "' appears twice") : go(Place::text);
    }
    if (name == "dtype") return once(seen_.dtype, Place::dtype);
    if (name == "shape") return once(seen_.shape, Place::shape_value);
    if (name == "data_offsets") return once(seen_.offsets, Place::offsets_value);
    return refuse_entry("'" + name + "' is not part of the format");
  }

  bool end_object() override {
    if (place_ == Place::entry && !(seen_.dtype && seen_.shape && seen_.offsets)) {
      return refuse_entry("it needs dtype, shape and data_offsets");
    }
    return go(place_ == Place::top ? Place::done : Place::top);
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::shape_value) return go(Place::shape);
    if (place_ == Place::offsets_value) {
      offsets_.clear();
      return go(Place::offsets);
    }
    return refuse("a list where none belongs");
  }

  bool end_array() override {
    if (place_ == Place::offsets) {
      if (offsets_.size() != 2) return refuse_entry("data_offsets needs two numbers");
      entries_.back().begin = offsets_[0];
      entries_.back().end = offsets_[1];
    }
    return go(Place::entry);
  }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ == Place::shape) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return refuse_entry("a length in its shape is too large");
      }
      if (entries_.back().shape.size() == kMaxTensorRank) return refuse_entry("it has too many dimensions");
      entries_.back().shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (place_ == Place::offsets && offsets_.size() < 2) {
      offsets_.push_back(value);
      return true;
    }
    return refuse("a number where none belongs");
  }

  bool string(std::string& value) override {
    if (place_ == Place::text) {
      metadata_[key_] = std::move(value);
      return go(Place::metadata);
    }
    if (place_ == Place::dtype) {
      const auto type = dtype_named(value);
      if (!type) return refuse_entry("number type '" + value + "' is not supported");
      entries_.back().dtype = *type;
      return go(Place::entry);
    }
    return refuse("a text where none belongs");
  }

  bool number_integer(std::int64_t) override { return refuse("a negative number"); }
  bool number_float(double, const std::string& text) override {
    return refuse("'" + text.substr(0, 40) + "' is not a whole number of 64 bits");
  }
  bool null() override { return refuse("a null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool binary(nlohmann::json::binary_t&) override { return refuse("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return refuse("not valid JSON near byte " + std::to_string(position));
  }

 private:
  enum class Place {
    start,
    top,             // between the entries of the header
    entry_value,     // an array's object is due
    entry,           // inside it
    dtype,           // the name of its type is due
    shape_value,     // its shape is due
    shape,           // inside its shape
    offsets_value,   // its place in the data is due
    offsets,         // inside it
    metadata_value,  // the object of __metadata__ is due
    metadata,        // inside it
    text,            // a text of the metadata is due
    done,
  };
  struct Seen {
    bool dtype = false;
    bool shape = false;
    bool offsets = false;
  };

  bool go(Place place) {
    place_ = place;
    return true;
  }
  bool once(bool& seen, Place place) {
    if (std::exchange(seen, true)) return refuse_entry("a part of it appears twice");
    return go(place);
  }
  bool refuse(const std::string& problem) {
    problem_ = problem;
    return false;
  }
  bool refuse(const std::string& problem, const std::string& name) {
    return refuse("array '" + name.substr(0, 200) + "': " + problem);
  }
  bool refuse_entry(const std::string& problem) { return refuse(problem, entries_.back().name); }

  std::vector<SafetensorsEntry>& entries_;
  std::map<std::string, std::string>& metadata_;
  Place place_ = Place::start;
  Seen seen_;
  std::set<std::string> names_;
  std::string key_;
  std::vector<std::uint64_t> offsets_;
  std::string problem_;
};

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(const std::string& header, const std::string& file,
                                                       std::map<std::string, std::string>& metadata) {
  std::vector<SafetensorsEntry> entries;
  HeaderReader reader(entries, metadata);
  // The format wants the brace first: no byte order mark, no spaces. The parser takes a zero byte for the
  // end.
  const bool begins = header.starts_with('{') && header.find('\0') == std::string::npos;
  if (!begins || !nlohmann::json::sax_parse(header, &reader)) {
    throw Error(ExitCode::model,
                "'" + file + "': " + (begins ? "header: " + reader.problem() : "no safetensors header"));
  }
  return entries;
}

}  // namespace sightline
