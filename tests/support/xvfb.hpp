#pragma once
// An X server without a screen, on its own display.

#include <poll.h>

#include "support/child_process.hpp"

namespace sightline::test {

/// Runs while this object lives. The screen is white.
class Xvfb {
 public:
  static bool is_installed() { return !find_program("Xvfb").empty(); }

  /// @param screen  width x height x bits of a pixel
  /// @throws std::runtime_error where it does not come up
  explicit Xvfb(const std::string& screen = "640x480x24")
      : server_({"Xvfb", "-displayfd", std::to_string(pipe_.ends[1]), "-screen", "0", screen, "-wr",
                 "-nolisten", "tcp", "-noreset"},
                {{}, {pipe_.ends[1]}}) {
    std::string number;
    while (!number.ends_with('\n')) {  // it tells its display once it takes connections
      pollfd ready{pipe_.ends[0], POLLIN, 0};
      char c = 0;
      if (poll(&ready, 1, 20'000) <= 0 || read(pipe_.ends[0], &c, 1) != 1)
        throw std::runtime_error("Xvfb does not start: " + server_.output());
      number += c;
      if (number.size() == 1) pipe_.close_end(1);
    }
    display_ = ":" + number.substr(0, number.size() - 1);
  }

  ~Xvfb() {  // lets it remove its socket
    server_.send(SIGTERM);
    server_.wait(5);
  }
  Xvfb(const Xvfb&) = delete;
  Xvfb& operator=(const Xvfb&) = delete;

  /// Such as ":99", for DISPLAY.
  const std::string& display() const { return display_; }
  ChildProcess& server() { return server_; }

 private:
  struct Pipe {
    Pipe() {
      if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    }
    ~Pipe() {
      close_end(0);
      close_end(1);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    void close_end(int end) {
      if (ends[end] >= 0) close(ends[end]);
      ends[end] = -1;
    }
    int ends[2];
  };

  Pipe pipe_;
  ChildProcess server_;
  std::string display_;
};

}  // namespace sightline::test
