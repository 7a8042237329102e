// HTTP and HTTPS, by libcurl: its redirects and connections can be checked one by one, FFmpeg's cannot.

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "media/byte_source.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::media {
namespace {

constexpr int kMostRedirects = 5;
constexpr std::size_t kEnough = 1 << 20;  // bytes that may wait to be read; the server then pauses

using UrlPtr = std::unique_ptr<CURLU, FreeByPointer<curl_url_cleanup>>;
using EasyPtr = std::unique_ptr<CURL, FreeByPointer<curl_easy_cleanup>>;

std::string part_of(const std::string& url, CURLUPart part, unsigned flags = 0) {
  const UrlPtr parsed(curl_url());
  char* text = nullptr;
  if (!parsed ||
      curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
      curl_url_get(parsed.get(), part, &text, flags) != CURLUE_OK)
    return {};
  std::string result = lower_case(text);
  curl_free(text);
  return result;
}

/// Loopback, link-local, and the unspecified address, which Linux takes for loopback.
bool is_of_this_machine_or_link(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const std::uint32_t ip = ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
    return ip >> 24 == 127 || ip >> 24 == 0 || ip >> 16 == 0xa9fe;
  }
  if (address->sa_family != AF_INET6) return true;
  const in6_addr& ip = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&ip)) {
    sockaddr_in mapped{};
    mapped.sin_family = AF_INET;
    std::memcpy(&mapped.sin_addr, ip.s6_addr + 12, 4);
    return is_of_this_machine_or_link(reinterpret_cast<const sockaddr*>(&mapped));
  }
  return IN6_IS_ADDR_LOOPBACK(&ip) || IN6_IS_ADDR_UNSPECIFIED(&ip) || IN6_IS_ADDR_LINKLOCAL(&ip);
}

class HttpBytes final : public ByteSource {
 public:
  HttpBytes(const std::string& url, std::shared_ptr<HttpOrigin> origin, Interrupted interrupted)
      : url_(url), origin_(std::move(origin)), interrupted_(std::move(interrupted)) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    multi_.reset(curl_multi_init());
    easy_.reset(curl_easy_init());
    if (!multi_ || !easy_) throw std::bad_alloc();
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, 1L);  // a name server that does not answer must not hold us
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_USERAGENT, "sightline");
    set(CURLOPT_WRITEFUNCTION, take);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_OPENSOCKETFUNCTION, open_socket);
    set(CURLOPT_OPENSOCKETDATA, this);
    set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC | CURLAUTH_DIGEST));
    if (const char* const authorities = std::getenv("SSL_CERT_FILE")) set(CURLOPT_CAINFO, authorities);
  }
  ~HttpBytes() override { curl_multi_remove_handle(multi_.get(), easy_.get()); }
  HttpBytes(const HttpBytes&) = delete;
  HttpBytes& operator=(const HttpBytes&) = delete;

  /// Sends the request and follows redirects, up to the first content. @return FFmpeg's code
  int start(std::int64_t offset) {
    for (int redirects = 0;; ++redirects) {
      request(offset);
      while (!has_content() && !done_) {
        if (const int code = work(); code < 0) return code;
      }
      if (has_content() || result_ != CURLE_OK) break;
      if (status_ < 300 || status_ >= 400) break;
      char* location = nullptr;
      curl_easy_getinfo(easy_.get(), CURLINFO_REDIRECT_URL, &location);
      if (!location) break;
      if (const int code = follow(location, redirects); code < 0) return code;
    }
    if (result_ != CURLE_OK) return fail(AVERROR(EIO), *detail_ ? detail_ : curl_easy_strerror(result_));
    if (status_ == 404) return fail(AVERROR_HTTP_NOT_FOUND, "HTTP 404: there is no such page");
    if (status_ == 401 || status_ == 403)
      return fail(AVERROR_HTTP_UNAUTHORIZED,
                  "HTTP " + std::to_string(status_) + ": the server refuses the user or password");
    if (status_ < 200 || status_ >= 300)
      return fail(AVERROR_HTTP_OTHER_4XX, "the server answered HTTP " + std::to_string(status_));
    if (offset > 0 && status_ != 206) return fail(AVERROR(ESPIPE), "the server does not seek");
    position_ = offset;
    if (offset == 0) measure();
    return 0;
  }

  int read(std::uint8_t* buffer, int size) override {
    while (at_ == data_.size()) {
      // A stream without a length ends when the connection does.
      if (done_) return result_ != CURLE_OK && size_ >= 0 ? AVERROR(EIO) : AVERROR_EOF;
      data_.clear();
      at_ = 0;
      if (std::exchange(paused_, false)) curl_easy_pause(easy_.get(), CURLPAUSE_CONT);  // calls `take`
      if (!data_.empty()) break;
      if (const int code = work(); code < 0) return code;
    }
    const std::size_t count = std::min(static_cast<std::size_t>(size), data_.size() - at_);
    std::memcpy(buffer, data_.data() + at_, count);
    at_ += count;
    position_ += static_cast<std::int64_t>(count);
    return static_cast<int>(count);
  }

  std::int64_t seek(std::int64_t offset, int whence) override {
    if (whence & AVSEEK_SIZE) return size_ >= 0 ? size_ : AVERROR(ENOSYS);
    whence &= ~AVSEEK_FORCE;
    if (whence == SEEK_CUR) offset += position_;
    if (whence == SEEK_END) offset += size_;
    if (offset < 0 || (whence == SEEK_END && size_ < 0)) return AVERROR(EINVAL);
    if (offset == position_) return offset;
    if (size_ >= 0 && offset >= size_) {  // a request beyond the end would be an error
      drop();
      done_ = true;
      result_ = CURLE_OK;
      return position_ = offset;
    }
    const int code = start(offset);
    return code < 0 ? code : offset;
  }

  bool is_seekable() const override { return is_seekable_; }
  const std::string& problem() const { return problem_; }

 private:
  template <typename Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(easy_.get(), option, value);
  }

  bool has_content() const { return at_ < data_.size(); }

  int fail(int code, const std::string& problem) {
    problem_ = redacted(problem);
    return code;
  }

  void drop() {
    curl_multi_remove_handle(multi_.get(), easy_.get());
    data_.clear();
    at_ = 0;
    paused_ = false;
  }

  void request(std::int64_t offset) {
    drop();
    done_ = false;
    result_ = CURLE_OK;
    *detail_ = '\0';
    status_ = 0;
    const std::string range = std::to_string(offset) + "-";
    set(CURLOPT_ERRORBUFFER, detail_);
    set(CURLOPT_URL, url_.c_str());
    set(CURLOPT_RANGE, range.c_str());
    log_in();
    curl_multi_add_handle(multi_.get(), easy_.get());
  }

  // Another port of the host may belong to another server.
  void log_in() {
    const bool is_known = origin_->credentials && server_of(url_) == origin_->server;
    set(CURLOPT_USERNAME, is_known ? origin_->credentials->user.c_str() : nullptr);
    set(CURLOPT_PASSWORD, is_known ? origin_->credentials->password.c_str() : nullptr);
  }

  int follow(const std::string& location, int redirects) {
    if (redirects == kMostRedirects) return fail(AVERROR(ELOOP), "the server redirects too often");
    if (host_of(location) != origin_->host || origin_->host.empty())
      return fail(AVERROR(EPERM),
                  "the server redirects to another host (" + location + "); use that URL instead");
    if (part_of(url_, CURLUPART_SCHEME) == "https" && part_of(location, CURLUPART_SCHEME) != "https")
      return fail(AVERROR(EPERM), "the server redirects from HTTPS to HTTP");
    url_ = location;
    origin_->connected = true;
    return 0;
  }

  // Moves data, or waits for them.
  int work() {
    if (interrupted_()) return AVERROR_EXIT;
    int running = 0;
    curl_multi_perform(multi_.get(), &running);
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      done_ = true;
      result_ = message->data.result;
    }
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status_);
    if (!done_ && !has_content()) curl_multi_poll(multi_.get(), nullptr, 0, 50, nullptr);
    return 0;
  }

  void measure() {
    curl_off_t length = -1;
    curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    size_ = length;
    is_seekable_ = status_ == 206 && length >= 0;
  }

  static std::size_t take(char* data, std::size_t one, std::size_t count, void* self_pointer) {
    auto& self = *static_cast<HttpBytes*>(self_pointer);
    long status = 0;
    curl_easy_getinfo(self.easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status >= 300) return one * count;  // the page of an error or a redirect
    if (self.data_.size() - self.at_ >= kEnough) {
      self.paused_ = true;
      return CURL_WRITEFUNC_PAUSE;
    }
    try {
      self.data_.insert(self.data_.end(), data, data + one * count);
    } catch (const std::bad_alloc&) {
      return 0;  // an error, for curl
    }
    return one * count;
  }

  static curl_socket_t open_socket(void* self_pointer, curlsocktype, curl_sockaddr* address) {
    HttpOrigin& origin = *static_cast<HttpBytes*>(self_pointer)->origin_;
    const bool is_local = is_of_this_machine_or_link(&address->addr);
    if (!origin.connected) origin.is_loopback = origin.is_loopback || is_local;
    if (origin.connected && is_local && !origin.is_loopback) return CURL_SOCKET_BAD;
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }

  struct FreeMulti {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };

  std::string url_;
  const std::shared_ptr<HttpOrigin> origin_;
  const Interrupted interrupted_;
  std::unique_ptr<CURLM, FreeMulti> multi_;
  EasyPtr easy_;  // goes before the multi handle
  std::vector<std::uint8_t> data_;
  std::size_t at_ = 0;  // position of the first unread byte
  bool paused_ = false;
  bool done_ = false;
  CURLcode result_ = CURLE_OK;
  long status_ = 0;
  std::int64_t position_ = 0;
  std::int64_t size_ = -1;
  bool is_seekable_ = false;
  char detail_[CURL_ERROR_SIZE] = {};
  std::string problem_;
};

}  // namespace

std::unique_ptr<ByteSource> open_http(const std::string& url, std::shared_ptr<HttpOrigin> origin,
                                      Interrupted interrupted, int& code, std::string& problem) {
  auto bytes = std::make_unique<HttpBytes>(url, origin, std::move(interrupted));
  code = bytes->start(0);
  problem = bytes->problem();
  if (code < 0) return nullptr;
  origin->connected = true;
  return bytes;
}

std::string host_of(const std::string& url) {
  return part_of(url, CURLUPART_HOST);
}

std::string server_of(const std::string& url) {
  const std::string host = host_of(url);
  if (host.empty()) return {};
  return part_of(url, CURLUPART_SCHEME) + "://" + host + ':' +
         part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

}  // namespace sightline::media
