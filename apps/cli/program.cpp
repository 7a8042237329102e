#include "apps/cli/program.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/cli/compilation_display.hpp"
#include "apps/cli/complete.hpp"
#include "apps/cli/parser.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/suggest.hpp"
#include "base/columns.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/log.hpp"
#include "base/process_policy.hpp"
#include "base/utf8.hpp"
#include "media/secrets.hpp"
#include "media/tiff_reader.hpp"
#include "texture/tiles/media_tiff.hpp"

namespace sightline::apps {
namespace {

// Escapes control characters in messages, which quote names of files, devices and people; line ends, too,
// since a message is one line. Hides passwords in URLs, also for commands that do not open URLs.
std::string safe_message(std::string_view text) {
  return printable(media::redacted(text), "\t");
}

class SafeFormatter final : public spdlog::formatter {
 public:
  /// @param columns  of the terminal; 0: each message is a line
  /// @param before   columns of the pattern before a message, besides the level's name
  SafeFormatter(std::string pattern, std::size_t columns, std::size_t before)
      : pattern_(std::move(pattern)), formatter_(pattern_), columns_(columns), before_(before) {}
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    std::string text;
    spdlog::details::log_msg safe = message;
    try {
      text = safe_message({message.payload.data(), message.payload.size()});
      const std::size_t before = before_ + spdlog::level::to_string_view(message.level).size();
      if (columns_ > 0) text = wrapped(text, columns_, before, 2);
      safe.payload = text;
    } catch (const std::bad_alloc&) {
      safe.payload = "out of memory";  // what may be printed of the message cannot be found out
    }
    formatter_.format(safe, line);
    message.color_range_start = safe.color_range_start;
    message.color_range_end = safe.color_range_end;
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<SafeFormatter>(pattern_, columns_, before_);
  }

 private:
  std::string pattern_;
  spdlog::pattern_formatter formatter_;
  std::size_t columns_, before_;
};

// The C library calls this with the bytes for a terminal. A character that is cut by the end of its buffer
// waits.
ssize_t write_to_terminal(void*, const char* bytes, std::size_t size) {
  static std::string pending;
  pending.append(bytes, size);
  std::size_t whole = pending.size();
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, whole); ++back) {
    const auto byte = static_cast<unsigned char>(pending[whole - back]);
    if (byte < 0x80 || byte >= 0xC0) {
      const std::size_t length = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
      if (length > back) whole -= back;
      break;
    }
  }
  const std::string text = printable(std::string_view(pending).substr(0, whole), kLineEndsAndTabs);
  pending.erase(0, whole);
  for (std::string_view left = text; !left.empty();) {
    const ssize_t written = write(STDOUT_FILENO, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return 0;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return static_cast<ssize_t>(size);
}

// Escapes control characters in tables, too. Output to a file or a pipe stays as it is.
void protect_terminal() {
  if (isatty(STDOUT_FILENO) == 0) return;
  cookie_io_functions_t functions{};
  functions.write = write_to_terminal;
  FILE* const safe = fopencookie(nullptr, "w", functions);
  if (!safe) return;
  setvbuf(safe, nullptr, _IOLBF, BUFSIZ);
  stdout = safe;
}

void configure_logging(int verbosity) {
  const char* const no_color = std::getenv("NO_COLOR");  // https://no-color.org
  const bool is_plain = (no_color && *no_color) || !is_terminal(STDERR_FILENO);
  auto logger = spdlog::stderr_color_mt("sightline",
                                        is_plain ? spdlog::color_mode::never : spdlog::color_mode::automatic);
  const std::size_t columns = isatty(STDERR_FILENO) ? terminal_columns(STDERR_FILENO, 80) : 0;
  logger->set_formatter(verbosity > 0 ? std::make_unique<SafeFormatter>("%H:%M:%S.%e %^%l%$ %v", columns, 14)
                                      : std::make_unique<SafeFormatter>("%^%l%$: %v", columns, 2));
  logger->set_level(verbosity > 0   ? spdlog::level::debug
                    : verbosity < 0 ? spdlog::level::err
                                    : spdlog::level::info);
  spdlog::set_default_logger(logger);
  set_logger(logger);
}

int code_of(ExitCode code) {
  return static_cast<int>(code);
}

// The exit code, where what went to standard output has arrived there.
int with_output(int code) {
  errno = 0;
  if (code != 0 || (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)) return code;
  if (errno == EPIPE) return code;  // who closes the pipe has seen enough: `| head`
  std::fprintf(stderr, "error: cannot write to standard output: %s\n", std::strerror(errno ? errno : EIO));
  return code_of(ExitCode::failed);
}

int refuse_words(const std::string& problem) {
  std::string text = safe_message(problem);
  if (isatty(STDERR_FILENO)) text = wrapped(text, terminal_columns(STDERR_FILENO, 80), 7, 2);
  std::fprintf(stderr, "error: %s\nRun with --help for more information.\n", text.c_str());
  return code_of(ExitCode::usage);
}

// Says so with a call that needs no memory, and ends.
[[noreturn]] void end_saying(std::string_view words) noexcept {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
  _exit(code_of(ExitCode::failed));
}

// Destructors of libraries (nlohmann's trees) and functions that are noexcept (directory iterators') may ask
// for memory where there is none; no exception gets past them, but words and an exit code do. Of an exception
// that met `noexcept`, libstdc++ tells that it is there, not which one.
[[noreturn]] void end_without_memory() noexcept {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_saying("error: out of memory\n");
  } catch (const std::system_error& error) {  // a thread of a library's
    if (error.code() == std::errc::resource_unavailable_try_again)
      end_saying("error: cannot start a thread: out of memory, or the limit of processes is reached\n");
    std::fprintf(stderr, "error: unexpected: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: unexpected: %s\n", error.what());
  } catch (...) {
  }
  if (std::uncaught_exceptions() > 0) end_saying("error: probably out of memory\n");
  std::abort();
}

}  // namespace

int run_program(int argc, char** argv) try {
  std::set_terminate(end_without_memory);
  protect_terminal();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error with a message, not a silent end
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow any further

  set_process_policy(kOwnProcess);
  media::set_tiff_reader(&tiles::tiff_reader());
  // Never destroyed: its thousand options take an eighth of the time of a short command.
  static Parser& parser = *new Parser;
  // The shell asks what may come next: `sightline complete -- WORD...`. What is half typed is not to be
  // parsed.
  if (argc > 2 && std::string_view(argv[1]) == "complete" && std::string_view(argv[2]) == "--") {
    spdlog::set_level(spdlog::level::off);  // a warning is no word to offer
    const std::vector<std::string> words(argv + 3, argv + argc);
    std::fputs(complete(parser.app(), parser.common().suggestions, words).c_str(), stdout);
    return with_output(0);
  }

  // `sightline help detect` is `sightline detect --help`, and no words at all ask for help.
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    try {
      find_command(parser.app(), std::vector<std::string>(words.begin() + 1, words.end()));
    } catch (const Error& e) {
      return refuse_words(e.what());
    }
    words.push_back("--help");
  } else if (argc == 1) {
    words.push_back("--help");
  }
  try {
    parser.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& e) {
    std::string problem = explain(e, parser.app());
    if (problem.empty() && e.get_exit_code() == 0) {  // --help, --version
      parser.app().exit(e);
      return with_output(0);
    }
    return refuse_words(problem.empty() ? e.what() : problem);
  }
  configure_logging(parser.common().verbosity);
  show_compilations();
  try {
    limit_instruction_set(parser.instruction_set());
    return with_output(parser.common().run());
  } catch (const Error& e) {
    if (e.code() == ExitCode::done) return code_of(ExitCode::done);
    spdlog::error("{}", e.what());
    // A request to stop made this fail: its exit code says so.
    const int stopped = stop_exit_code();
    return stopped != 0 && e.code() == ExitCode::failed ? stopped : code_of(e.code());
  } catch (const std::bad_alloc&) {
    spdlog::error("out of memory; use smaller frames, a larger --min-size or a larger --scale-step");
    return code_of(ExitCode::failed);
  } catch (const std::exception& e) {
    spdlog::error("unexpected: {}", e.what());
    return code_of(ExitCode::failed);
  }
} catch (const std::exception& e) {  // before there is a log
  std::fprintf(stderr, "error: sightline cannot start: %s\n", e.what());
  return code_of(ExitCode::failed);
}

}  // namespace sightline::apps
