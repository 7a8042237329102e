#pragma once
/// Stages of a PixelWindowDetector on an OpenCL device: pyramid and scan. The scan first makes the codes of
/// all pixels, then takes windows through the first part of the model, and finishes the remaining windows in
/// a separate kernel. A family adds the kernels, the model, and the arguments of its kernels.
///
/// Images have the CPU's layout. Lists grow on demand: if one was too short, the scan runs again. Spans have
/// the names upload, pyramid, codes, scan, finish, download.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "detection/pixel_windows.hpp"
#include "opencl/pyramids.hpp"
#include "opencl/work_list.hpp"
#include "processing/opencl/opencl_stages.hpp"

namespace sightline {

// Mirrors `PixelLevel` in kernels/image/pixel_level.clh.
struct DevicePixelLevel {
  cl_int width, height;
  cl_int image_offset, image_stride;
  cl_int windows_x;
  cl_int planes_offset, planes_stride;
  cl_int last_row;
};
static_assert(sizeof(DevicePixelLevel) == 8 * sizeof(cl_int));

/// A window that passes the whole model, as the kernels write it.
struct DeviceAccepted {
  cl_int level;  ///< and view, as a candidate's
  cl_int x, y;   ///< pixels of the level
  cl_int score;  ///< in the model's units
};

/// Memory layout of a family's codes. Levels, rows and planes begin at multiples of `line`.
struct PlaneLayout {
  int line = 0;                   ///< elements
  std::size_t element_bytes = 0;  ///< bytes of an element
  int interleaved = 1;            ///< elements of a pixel side by side
  int stacked = 1;                ///< planes of a row, one after the other
  int rows_below = 0;             ///< rows of the image below a code's own that it needs
};

/// Build options of the kernels for a device. No choice changes the results.
struct PixelWindowTuning {
  std::string scan = "queue";  ///< a variant of the kernel `scan`
  int tile_rows = 16;          ///< rows of kTileX windows per work-group of `scan`
  int group = 256;             ///< work-items of a work-group of `scan`
  int finish_group = 64;       ///< work-items that share a window in `finish`, a power of two
  int code_rows = 4;           ///< rows of codes that a work-item makes
  int first_capacity = 65536;  ///< windows that a list has room for until it proves too short; not tuned
  friend bool operator==(const PixelWindowTuning&, const PixelWindowTuning&) = default;
};

class PixelWindowStages;

/// The buffers of one frame in flight on one device. Thread-safety: one thread at a time.
class PixelWindowSlot : public OpenClSlotBase {
 public:
  explicit PixelWindowSlot(const PixelWindowStages& stages);

  std::vector<DevicePixelLevel> levels;
  std::vector<opencl::ImageRows> image_rows;  ///< rows of the frame's partition, by level
  opencl::Buffer level_buffer;
  opencl::WorkList code_tiles, scan_tiles;
  std::int64_t plane_bytes = 0;
  opencl::Buffer planes;    ///< codes of all levels, or their inputs
  opencl::AppendList late;  ///< windows that `scan` leaves for `finish`; records as long as those of `found`
  opencl::CandidateList<DeviceAccepted> found;
  opencl::OctavePyramid pyramid;
  opencl::Kernel make_codes, scan, finish;  ///< null without a program of the family
};

/// The stages on one device. Thread-safety: as DeviceStages.
class PixelWindowStages : public OpenClStagesOf<PixelWindowWorkspace, PixelWindowSlot> {
 public:
  static constexpr int kTileX = 64;         ///< windows
  static constexpr int kMostTileRows = 64;  ///< so that a window of a tile has a number of 16 bits

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<PixelWindowSlot>(*this); }

  /// The requested tuning, adapted to the device.
  virtual const PixelWindowTuning& tuning() const = 0;

 protected:
  /// Builds the pyramid's kernels; the family's constructor builds the others. Everything passed must outlive
  /// the object; `cache` may be null. Throws DeviceError.
  PixelWindowStages(const PixelWindowDetector& detector, const opencl::Context& context,
                    opencl::ProgramCache* cache);

  /// Adapts the tuning to the device. Throws Error (usage) if the scan is none of `scans`.
  void settle(PixelWindowTuning& tuning, std::span<const char* const> scans) const;
  /// Makes tiles lower until they fit into local memory.
  /// @param window_bytes  for each window
  /// @param other_bytes   for the work-group besides
  void fit_tile(PixelWindowTuning& tuning, std::size_t window_bytes, std::size_t other_bytes) const;
  /// Build options of the kernels that make codes, and of `scan`.
  std::string codes_options() const;
  std::string scan_options() const;

  /// Sets the arguments of `scan` and `finish`, and launches `scan`; both lists are empty.
  virtual void enqueue_scan(PixelWindowSlot& slot, const PixelWindowWorkspace& workspace) const = 0;
  virtual void enqueue_codes(PixelWindowSlot& slot) const;
  /// A candidate's score from that in units of the model.
  virtual double score(int view, cl_int units) const = 0;
  /// Windows across and down that a work-group of `scan` has.
  virtual Size scan_tile() const { return {kTileX, tuning().tile_rows}; }

  void plan_geometry(PixelWindowSlot& slot, const PixelWindowWorkspace& workspace) const override;
  void plan_work(PixelWindowSlot& slot, const PixelWindowWorkspace& workspace) const override;
  void make_scratch(PixelWindowSlot& slot, const PixelWindowWorkspace& workspace,
                    std::size_t stage) const override;

  /// Place of an element of a level, in elements; `row` counts stacked planes, `column` interleaved ones.
  std::size_t element_at(const PixelWindowSlot& slot, std::size_t level, int row, int column) const;
  /// Copies the planes of the last frame into host memory, and waits: for tests. Throws DeviceError.
  template <typename Element>
  std::vector<Element> read_planes(PixelWindowSlot& slot) const {
    std::vector<Element> planes(static_cast<std::size_t>(slot.plane_bytes) / sizeof(Element));
    slot.queue.wait(slot.queue.read(slot.planes, planes.data(), planes.size() * sizeof(Element)));
    return planes;
  }

  // Set by the family's constructor.
  PlaneLayout layout_;
  opencl::Program codes_, scan_, finish_;  ///< empty if the family's variant lacks the kernel
  const char* codes_kernel_ = "codes";

 private:
  friend class PixelWindowSlot;

  void enqueue(PixelWindowSlot& slot, const PixelWindowWorkspace& workspace, std::size_t stage) const final;
  void take(PixelWindowSlot& slot, PixelWindowWorkspace& workspace, std::size_t resource) const final;

  std::size_t view_count_;
  opencl::Program pyramid_;
};

}  // namespace sightline
