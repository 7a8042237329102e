#include "frame/frame.hpp"

#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "image/colour.hpp"
#include "image/gray.hpp"

namespace sightline {
namespace {

class GrayStorage : public FrameStorage {
 public:
  explicit GrayStorage(std::shared_ptr<const Image<std::uint8_t>> image) : image_(std::move(image)) {}
  PictureView view() const override { return image_->view(); }

 private:
  std::shared_ptr<const Image<std::uint8_t>> image_;
};

class RgbStorage : public FrameStorage {
 public:
  RgbStorage(const std::uint8_t* rgb, Size size)
      : size_(size), pixels_(rgb, rgb + std::size_t{3} * size.width * size.height) {}
  PictureView view() const override {
    return PackedView{pixels_.data(), size_.width, size_.height, 3 * size_.width, PackedFormat::rgb24};
  }

 private:
  Size size_;
  std::vector<std::uint8_t> pixels_;
};

class PartStorage : public FrameStorage {
 public:
  PartStorage(const Frame& whole, const Crop& part)
      : whole_(whole), view_(part_of(whole.view(), part.x, part.y, part.size)) {}
  PictureView view() const override { return view_; }
  LumaRange luma_range() const override { return whole_.luma_range(); }

 private:
  const Frame whole_;
  const PictureView view_;
};

void copy_rows(GrayView from, ImageView<std::uint8_t> to) {
  for (int y = 0; y < from.height(); ++y)
    std::memcpy(to.row(y), from.row(y), static_cast<std::size_t>(from.width()));
}

}  // namespace

const FrameStorage* FrameStorage::in(MemoryDomain domain) const {
  if (domain == this->domain()) return this;
  const std::lock_guard lock(mutex_);
  auto& copy = copies_[static_cast<std::size_t>(domain)];
  if (!copy) copy = copied_to(domain);
  return copy.get();
}

Frame::Frame(std::shared_ptr<const FrameStorage> storage, std::int64_t number, double time, std::string name)
    : storage_(std::move(storage)), number_(number), time_(time), name_(std::move(name)) {
  if (storage_) view_ = storage_->view();
}

PictureView Frame::view() const {
  if (domain() == MemoryDomain::host) return view_;
  const FrameStorage* const host = storage_->in(MemoryDomain::host);
  if (!host) throw Error(ExitCode::device, "a frame's pixels cannot be copied from the device");
  return host->view();
}

Frame Frame::damaged(std::string reason, std::int64_t number, double time, std::string name) {
  Frame frame(nullptr, number, time, std::move(name));
  frame.damage_ = std::move(reason);
  return frame;
}

Frame frame_of_gray(std::shared_ptr<const Image<std::uint8_t>> gray, std::int64_t number, double time) {
  return Frame(std::make_shared<GrayStorage>(std::move(gray)), number, time);
}

Frame frame_from_gray(GrayView gray, std::int64_t number, double time) {
  auto copy = std::make_shared<Image<std::uint8_t>>(gray.width(), gray.height());
  copy_rows(gray, copy->view());
  return frame_of_gray(std::move(copy), number, time);
}

Frame frame_from_rgb(const std::uint8_t* rgb, Size size, std::int64_t number, double time) {
  return Frame(std::make_shared<RgbStorage>(rgb, size), number, time);
}

Frame part_of(const Frame& frame, const Crop& part) {
  return Frame(std::make_shared<PartStorage>(frame, part), frame.number(), frame.time(), frame.name())
      .stamped(frame.times());
}

Image<std::uint8_t> to_gray(const Frame& frame) {
  const Size size = frame.size();
  const PictureView view = frame.view();
  Image<std::uint8_t> luma(size.width, size.height);
  if (view.is_gray()) {
    copy_rows(view.gray(), luma.view());
  } else {
    to_gray(view.colour(), luma.view(), 0, size.height);
  }
  return luma;
}

}  // namespace sightline
