#pragma once
// A loopback HTTP server with scripted answers that records requests.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sightline::test {

/// Reads one request of each connection (up to an empty line), sends what `answer` makes of it, and closes.
/// An empty answer keeps the connection open and silent while the server lives.
class HttpServer {
 public:
  explicit HttpServer(std::function<std::string(const std::string& request)> answer)
      : answer_(std::move(answer)), socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(socket_, 16) != 0 ||
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("no socket");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    stop_ = true;
    thread_.join();
    for (const int connection : silent_) close(connection);
    close(socket_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// `host` of the loopback: 127.0.0.1 or localhost; may hold `user:password@`.
  std::string url(const std::string& path, const std::string& host = "127.0.0.1",
                  const std::string& scheme = "http") const {
    return scheme + "://" + host + ":" + std::to_string(port_) + path;
  }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  static std::string ok(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\nConnection: close\r\n\r\n" + body;
  }
  static std::string redirect(const std::string& to) {
    return "HTTP/1.1 302 Found\r\nLocation: " + to + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  }

 private:
  void serve() {
    while (!stop_) {
      pollfd waiting{socket_, POLLIN, 0};
      if (poll(&waiting, 1, 20) <= 0) continue;
      const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) continue;
      std::string request;
      char part[4096];
      const timeval patience{5, 0};
      setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t count = recv(connection, part, sizeof part, 0);
        if (count <= 0) break;
        request.append(part, static_cast<std::size_t>(count));
      }
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      const std::string answer = answer_(request);
      if (answer.empty()) {
        silent_.push_back(connection);
        continue;
      }
      for (std::size_t done = 0; done < answer.size();) {
        const ssize_t count = send(connection, answer.data() + done, answer.size() - done, MSG_NOSIGNAL);
        if (count <= 0) break;
        done += static_cast<std::size_t>(count);
      }
      close(connection);
    }
  }

  const std::function<std::string(const std::string&)> answer_;
  const int socket_;
  int port_ = 0;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::vector<int> silent_;
  std::thread thread_;
};

}  // namespace sightline::test
