#pragma once
/// Errors that reach the user: what happened, where, and what to do about it.

#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sightline {

/// Exit codes of the `sightline` program; every Error maps to one of them.
enum class ExitCode : int {
  done = 0,    ///< no failure: standard output was closed
  failed = 1,  ///< something broke while running
  usage = 2,   ///< wrong command line or configuration
  input = 3,   ///< the input cannot be used
  model = 4,   ///< the model file cannot be used
  device = 5,  ///< a device that was asked for is not there
};

/// Where parameters are set, which decides how a message names them.
enum class Words {
  command_line,   ///< --in-flight 8, --device none, --no-verify
  configuration,  ///< in_flight = 8, devices = "none", verify = false
  api,            ///< in_flight=8, device="none", verify=false
};

/// A parameter in a message.
struct Given {
  std::string parameter;  ///< the option's name with underscores and without hyphens in front: "in_flight"
  std::string value;      ///< "8"; "true" and "false" of a flag; empty: the message names the parameter alone
};

/// Text for a person, in which parameters stay apart from other text, so that all readers get the words of
/// the place where they set them. Written as on the command line, but for `=` before a value:
/// `"leave --batch out, or use --schedule=gpu, not '"_message + name + "'"`; the value of a flag is true
/// (`--recursive=true`). Where the program knows the value: `"use " + option("in_flight", frames)`.
///
/// Only literals are parsed. Other text is taken as it is, since names of files may contain anything.
class Message {
 public:
  Message() = default;
  Message(std::string_view text) { append(std::string(text)); }
  Message(const std::string& text) { append(text); }
  Message(const char* text) { append(std::string(text)); }
  Message(Given parameter) { append(std::move(parameter)); }

  friend Message operator+(Message left, const Message& right) {
    for (const Piece& piece : right.pieces_) left.append(piece);
    return left;
  }

  using Piece = std::variant<std::string, Given>;
  const std::vector<Piece>& pieces() const { return pieces_; }
  bool empty() const { return pieces_.empty(); }
  std::string text(Words words) const;

 private:
  void append(Piece piece);

  std::vector<Piece> pieces_;  ///< no empty text, and no two texts in a row
};

Message operator""_message(const char* text, std::size_t length);

/// A parameter in a message: option("in_flight", 8) is "--in-flight 8" on the command line.
Message option(std::string_view parameter, std::string_view value = {});
inline Message option(std::string_view parameter, std::integral auto value) {
  return option(parameter, std::to_string(value));
}

/// An error that a person can act on: wrong usage, an unusable input, model or device, or a failure while
/// running. A violated contract is a std::logic_error instead, exhausted memory a std::bad_alloc.
///
/// `what()` is a complete message in the words of the command line: the object, the problem and, if there is
/// one, the remedy. The pipeline turns an error of a stage into a failed FrameResult; an error of a source or
/// a sink ends the stream or the run. Copies share the fields, so that copying needs no memory.
class Error : public std::runtime_error {
 public:
  struct Fields {
    ExitCode code = ExitCode::failed;  ///< class of the error, and exit code of a program that ends on it
    std::string object = {};     ///< file, model, device or stream that the error is about; may be empty
    std::string parameter = {};  ///< parameter that the error is about; may be empty
    Message problem = {};        ///< what is wrong and where, without a full stop
    Message remedy = {};         ///< what the user can do; may be empty
  };

  /// The error is about the first parameter that the problem names, if any.
  Error(ExitCode code, Message problem, Message remedy = {});
  explicit Error(Fields fields);
  Error(const Error&) noexcept = default;  // moving copies, too: an error without fields is of no use
  Error& operator=(const Error&) noexcept = default;

  ExitCode code() const noexcept { return fields_->code; }
  const Fields& fields() const noexcept { return *fields_; }
  /// Problem and remedy, for an error that contains this one.
  Message message() const;
  std::string text(Words words) const { return message().text(words); }

  /// The same error about `object`, with an unchanged message.
  Error about(std::string object) const;
  /// The same error about `place`, a file or a line of one, with `place` and a colon before the message.
  Error at(const std::string& place) const;

 private:
  std::shared_ptr<const Fields> fields_;
};

}  // namespace sightline
