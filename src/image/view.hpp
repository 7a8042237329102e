#pragma once
/// Non-owning two-dimensional views of pixels, and an aligned image that owns its pixels.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace sightline {

struct Size {
  int width = 0;
  int height = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

/// A view of `height` rows of `width` elements. Does not own the memory. Cheap to copy.
///
/// `stride` is the distance between the starts of two rows in *elements*; it may be negative (bottom-up
/// images) and larger than the width. Thread-safety: as for a pointer.
template <typename T>
class ImageView {
 public:
  ImageView() = default;
  ImageView(T* data, int width, int height, std::ptrdiff_t stride)
      : data_(data), width_(width), height_(height), stride_(stride) {}
  /// A view of mutable pixels is also a view of constant ones.
  template <typename U>
  requires std::is_same_v<const U, T> ImageView(
      const ImageView<U>& other)  // NOLINT(google-explicit-constructor)
      : ImageView(other.data(), other.width(), other.height(), other.stride()) {}

  T* data() const { return data_; }
  T* row(int y) const { return data_ + y * stride_; }
  T& at(int x, int y) const { return row(y)[x]; }
  int width() const { return width_; }
  int height() const { return height_; }
  Size size() const { return {width_, height_}; }
  std::ptrdiff_t stride() const { return stride_; }
  bool empty() const { return width_ <= 0 || height_ <= 0; }

 private:
  T* data_ = nullptr;
  int width_ = 0;
  int height_ = 0;
  std::ptrdiff_t stride_ = 0;
};

/// 8-bit luma, 0 (black) upwards.
using GrayView = ImageView<const std::uint8_t>;

/// Memory aligned to a cache line (and to the widest SIMD vector), never shrunk: `resize` reuses it, so
/// allocations stop after the largest frame. Contents are unspecified after `resize`. `bind` makes the buffer
/// use the caller's memory.
template <typename T>
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size) { resize(size); }

  void resize(std::size_t size) {
    if (size > capacity_) {
      const std::size_t bytes = (size * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
      memory_.reset(static_cast<T*>(std::aligned_alloc(kAlignment, bytes)));
      if (!memory_) {
        *this = AlignedBuffer();
        throw std::bad_alloc();
      }
      capacity_ = size;
    }
    data_ = memory_.get();
    size_ = size;
  }
  /// From here to the next `resize`, the buffer is this memory, which must outlive its use.
  void bind(T* memory, std::size_t size) {
    data_ = memory;
    size_ = size;
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_default_constructible_v<T>);
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// An image that owns its pixels. Every row starts on a cache line and is followed by at least `kSlack`
/// readable bytes, so that SIMD code may read (never write) past the end of a row.
template <typename T>
class Image {
 public:
  static constexpr int kSlack = 64;

  Image() = default;
  Image(int width, int height) { resize(width, height); }

  /// From row to row, of an image of this width.
  static constexpr std::ptrdiff_t stride_of(int width) {
    constexpr std::ptrdiff_t line = AlignedBuffer<T>::kAlignment / sizeof(T);
    return (width + line - 1) / line * line;
  }
  /// Elements of an image's memory.
  static constexpr std::size_t elements_of(Size size) {
    return static_cast<std::size_t>(stride_of(size.width)) * static_cast<std::size_t>(size.height) +
           2 * kSlack / sizeof(T);
  }
  void resize(int width, int height) {
    width_ = width;
    height_ = height;
    stride_ = stride_of(width);
    buffer_.resize(elements_of({width, height}));
  }
  /// The image is this memory until the next `resize`; see AlignedBuffer::bind. Rows begin `stride` elements
  /// apart.
  void bind(T* memory, Size size, std::ptrdiff_t stride) {
    width_ = size.width;
    height_ = size.height;
    stride_ = stride;
    buffer_.bind(memory, static_cast<std::size_t>(stride) * static_cast<std::size_t>(size.height));
  }
  int width() const { return width_; }
  int height() const { return height_; }
  std::ptrdiff_t stride() const { return stride_; }
  ImageView<T> view() { return {buffer_.data(), width_, height_, stride_}; }
  ImageView<const T> view() const { return {buffer_.data(), width_, height_, stride_}; }

 private:
  AlignedBuffer<T> buffer_;
  int width_ = 0;
  int height_ = 0;
  std::ptrdiff_t stride_ = 0;
};

}  // namespace sightline
