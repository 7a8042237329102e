#include "model/xml.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/input_file.hpp"
#include "base/text.hpp"
#include "model/foreign_file.hpp"

namespace sightline {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::size_t kShownCharacters = 40;

// For a message: short, and nothing in it that a terminal would take as a command.
std::string excerpt(std::string_view text) {
  std::string shown(text.substr(0, kShownCharacters));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; },
      '?');
  return "'" + shown + (text.size() > kShownCharacters ? "...'" : "'");
}

// A sign before the digits is legal in a file and unknown to from_chars.
std::string_view without_plus(std::string_view token) {
  const bool plus = token.size() > 1 && token[0] == '+' && token[1] != '-';
  return plus ? token.substr(1) : token;
}

template <typename Number>
bool read_number(std::string_view token, Number& value) {
  token = without_plus(token);
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  return error == std::errc() && end == token.data() + token.size();
}

}  // namespace

XmlDocument::XmlDocument(std::string_view text, std::string name, std::string remedy)
    : name_(std::move(name)), remedy_(std::move(remedy)) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    line_ends_.push_back(static_cast<std::ptrdiff_t>(at));
  const pugi::xml_parse_result result =
      document_.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result) refuse_at(result.offset, std::string("it is not well-formed XML: ") + result.description());
}

void XmlDocument::refuse_at(std::ptrdiff_t offset, const std::string& reason) const {
  const auto line = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset) - line_ends_.begin() + 1;
  throw Error(ExitCode::model, reason, remedy_).at(name_ + ":" + std::to_string(line));
}

void XmlDocument::refuse(const pugi::xml_node& at, const std::string& reason) const {
  refuse_at(at.offset_debug(), reason);
}

pugi::xml_node XmlDocument::child(const pugi::xml_node& parent, const char* name) const {
  const pugi::xml_node found = parent.child(name);
  if (!found) refuse(parent, "<" + std::string(parent.name()) + "> has no <" + name + ">");
  if (found.next_sibling(name)) refuse(found.next_sibling(name), "a second <" + std::string(name) + ">");
  return found;
}

std::string_view XmlDocument::attribute(const pugi::xml_node& element, const char* name) const {
  const auto is_it = [&](const pugi::xml_attribute& attribute) {
    return name == std::string_view(attribute.name());
  };
  const auto attributes = element.attributes();
  const auto found = std::find_if(attributes.begin(), attributes.end(), is_it);
  if (found == attributes.end()) refuse(element, "<" + std::string(element.name()) + "> has no " + name);
  if (std::find_if(std::next(found), attributes.end(), is_it) != attributes.end())
    refuse(element, "<" + std::string(element.name()) + "> has a second " + name);
  return found->value();
}

std::string_view XmlDocument::text(const pugi::xml_node& element) const {
  std::string_view text;
  for (const pugi::xml_node& part : element.children()) {
    if (part.type() != pugi::node_pcdata || !text.empty())
      refuse(element, "<" + std::string(element.name()) + "> must hold plain text");
    text = part.value();
  }
  return trimmed(text);
}

int XmlDocument::whole_number(const pugi::xml_node& element, int smallest, int largest) const {
  NumberReader reader(*this, element);
  const int value = reader.whole_number(smallest, largest);
  reader.expect_end();
  return value;
}

float XmlDocument::number(const pugi::xml_node& element, float largest) const {
  NumberReader reader(*this, element);
  const float value = reader.number(largest);
  reader.expect_end();
  return value;
}

int XmlDocument::whole_number(const pugi::xml_node& element, const char* attribute, int smallest,
                              int largest) const {
  NumberReader reader(*this, element, attribute);
  const int value = reader.whole_number(smallest, largest);
  reader.expect_end();
  return value;
}

double XmlDocument::real(const pugi::xml_node& element, const char* attribute) const {
  NumberReader reader(*this, element, attribute);
  const double value = reader.real();
  reader.expect_end();
  return value;
}

bool NumberReader::at_end() {
  const std::size_t first = rest_.find_first_not_of(kSpace);
  rest_.remove_prefix(std::min(first, rest_.size()));
  return rest_.empty();
}

std::string NumberReader::place() const {
  const std::string element = "<" + std::string(element_.name()) + ">";
  return attribute_ ? attribute_ + (" of " + element) : element;
}

std::string_view NumberReader::next() {
  if (at_end()) document_.refuse(element_, place() + " ends too early");
  const std::string_view token = rest_.substr(0, rest_.find_first_of(kSpace));
  rest_.remove_prefix(token.size());
  return token;
}

std::int32_t NumberReader::whole_number(std::int32_t smallest, std::int32_t largest) {
  const std::string_view token = next();
  std::int64_t value = 0;
  if (!read_number(token, value))
    document_.refuse(element_, excerpt(token) + " in " + place() + " is not a whole number");
  if (value < smallest || value > largest) {
    document_.refuse(element_, excerpt(token) + " in " + place() + " is not between " +
                                   std::to_string(smallest) + " and " + std::to_string(largest));
  }
  return static_cast<std::int32_t>(value);
}

double NumberReader::value_of(std::string_view token) const {
  double value = 0;
  if (!read_number(token, value))
    document_.refuse(element_, excerpt(token) + " in " + place() + " is not a number");
  return value;
}

float NumberReader::number(float largest) {
  const std::string_view token = next();
  const double value = value_of(token);
  if (!(std::abs(value) <= static_cast<double>(largest)))
    document_.refuse(element_, excerpt(token) + " in " + place() + " is too large or not finite");
  return static_cast<float>(value);
}

double NumberReader::real() {
  return value_of(next());
}

void NumberReader::expect_end() {
  if (!at_end()) document_.refuse(element_, place() + " holds too much");
}

std::string read_xml(const std::filesystem::path& file, const char* kind, std::uint64_t max_bytes) {
  const std::string what = std::string(kind) + " '" + file.string() + "'";
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw Error(ExitCode::model, "'" + file.string() + "' is a folder",
                "name a " + std::string(kind) + " XML file");
  }
  refuse_special_file(file, ExitCode::model);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(ExitCode::model, "cannot read the " + what);
  std::string text;
  char block[1 << 16];
  while (stream.read(block, sizeof block) || stream.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > max_bytes) {
      throw Error(ExitCode::model,
                  "the " + what + " has more than " + std::to_string(max_bytes >> 20) + " MiB",
                  "give a larger --max-model-size if it is meant to be so large"_message);
    }
  }
  if (stream.bad() || fault::strikes(fault::Kind::read, kind))
    throw Error(ExitCode::model, "the " + what + " cannot be read to its end");
  const std::string_view head = std::string_view(text).substr(0, kForeignHead);
  const Message foreign = foreign_kind(head, file);
  if (!foreign.empty() && head.find('\0') != std::string_view::npos)
    throw Error(ExitCode::model, "'" + file.string() + "' is " + foreign + ", not a " + kind + " XML file",
                "name the " + std::string(kind) + "'s XML file");
  return text;
}

}  // namespace sightline
