#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace sightline {
namespace {

/// Keys of a configuration that are not called like the option.
std::string key_of(const std::string& parameter) {
  return parameter == "device" ? "devices" : parameter == "schedule" ? "schedule.name" : parameter;
}

bool is_flag(std::string_view value) {
  return value == "true" || value == "false";
}

/// The value as TOML, Python and most languages write it.
std::string literal(const std::string& value) {
  const bool is_number = value.find_first_not_of("+-.0123456789") == std::string::npos;
  return is_number || is_flag(value) ? value : '"' + value + '"';
}

std::string text_of(const Given& given, Words words) {
  const auto& [parameter, value] = given;
  if (words == Words::command_line) {
    std::string name = std::string("--") + (value == "false" ? "no-" : "") + parameter;
    std::ranges::replace(name, '_', '-');
    return value.empty() || is_flag(value) ? name : name + ' ' + value;
  }
  const bool is_api = words == Words::api;
  return (is_api ? parameter : key_of(parameter)) +
         (value.empty() ? "" : (is_api ? "=" : " = ") + literal(value));
}

Error::Fields fields_of(ExitCode code, Message problem, Message remedy) {
  Error::Fields fields{.code = code, .problem = std::move(problem), .remedy = std::move(remedy)};
  for (const Message::Piece& piece : fields.problem.pieces()) {
    const auto* const given = std::get_if<Given>(&piece);
    if (given && fields.parameter.empty()) fields.parameter = given->parameter;
  }
  return fields;
}

Message joined(const Message& problem, const Message& remedy) {
  return remedy.empty() ? problem : problem + "; " + remedy;
}

}  // namespace

void Message::append(Piece piece) {
  auto* const text = std::get_if<std::string>(&piece);
  if (text && text->empty()) return;
  auto* const last = pieces_.empty() ? nullptr : std::get_if<std::string>(&pieces_.back());
  if (text && last)
    *last += *text;
  else
    pieces_.push_back(std::move(piece));
}

std::string Message::text(Words words) const {
  std::string result;
  for (const Piece& piece : pieces_) {
    const auto* const given = std::get_if<Given>(&piece);
    result += given ? text_of(*given, words) : std::get<std::string>(piece);
  }
  return result;
}

Message operator""_message(const char* text, std::size_t length) {
  Message message;
  std::string_view rest(text, length);
  const auto take = [&](std::size_t size) {
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(taken.size());
    return taken;
  };
  while (rest.find("--") != std::string_view::npos) {
    message = message + take(rest.find("--"));
    take(2);
    std::string name(take(rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz-")));
    std::string_view value;
    if (rest.starts_with('=')) {
      take(1);
      value = take(rest.substr(0, rest.find_first_of(" ;)`'")).find_last_not_of(',') + 1);
    } else if (name.starts_with("no-")) {
      name.erase(0, 3);
      value = "false";
    }
    std::ranges::replace(name, '-', '_');
    message = message + option(name, value);
  }
  return message + rest;
}

Message option(std::string_view parameter, std::string_view value) {
  return Given{std::string(parameter), std::string(value)};
}

Error::Error(ExitCode code, Message problem, Message remedy)
    : Error(fields_of(code, std::move(problem), std::move(remedy))) {}

Error::Error(Fields fields)
    : std::runtime_error(joined(fields.problem, fields.remedy).text(Words::command_line)),
      fields_(std::make_shared<const Fields>(std::move(fields))) {}

Message Error::message() const {
  return joined(fields_->problem, fields_->remedy);
}

Error Error::about(std::string object) const {
  Fields fields = *fields_;
  fields.object = std::move(object);
  return Error(std::move(fields));
}

Error Error::at(const std::string& place) const {
  Fields fields = *fields_;
  fields.problem = place + ": " + fields.problem;
  fields.object = place;
  return Error(std::move(fields));
}

}  // namespace sightline
