#include "opencl/integrals.hpp"

#include <algorithm>
#include <string>

#include "opencl/program_cache.hpp"

namespace sightline::opencl {
namespace {

// Mirrors `IntegralLevel` in kernels/image/integral.cl.
struct IntegralLevel {
  cl_int width;
  cl_int image_offset, image_stride;
  cl_int origin, step;
};

constexpr int kColumnGroup = 64;  // work-items side by side, a column or a diagonal each

}  // namespace

IntegralProgram::IntegralProgram(const Context& context, SheetContents contents, ProgramCache* cache)
    : tilted_(contents.planes > IntegralSheet::kTilted), upright_planes_(std::min(contents.planes, 2)) {
  // One thread of a CPU's driver runs a work-group's items one after the other: it has no use for items that
  // wait for others.
  const bool one = context.device().type == DeviceType::cpu;
  row_items_ = one ? 1 : 64;
  const int row_pixels = one ? 256 : 8;  // pixels per work-item and step
  program_ = Program(context, "image/integral.cl",
                     std::string(contents.element_bytes == 2 ? " -DELEMENT=ushort" : " -DELEMENT=uint") +
                         define("PLANES", upright_planes_) + define("ROW_ITEMS", row_items_) +
                         define("ROW_PIXELS", row_pixels) + (tilted_ ? " -DTILTED" : ""),
                     cache);
}

Integrals::Integrals(const IntegralProgram& program)
    : program_(&program),
      row_sums_(program.program_, "row_sums"),
      column_sums_(program.program_, "column_sums") {
  if (!program.tilted_) return;
  anti_diagonals_ = Kernel(program.program_, "anti_diagonals");
  diagonals_ = Kernel(program.program_, "diagonals");
}

void Integrals::plan(Queue& queue, const IntegralSheet& sheet, std::span<const SheetLevel> levels) {
  checked(sheet.image_bytes);
  checked(sheet.plane * sheet.planes);
  stride_ = sheet.stride;
  plane_ = static_cast<cl_int>(sheet.plane);
  std::vector<IntegralLevel> records;
  sizes_.clear();
  for (const SheetLevel& level : levels) {
    records.push_back(
        {level.size.width, checked(level.image), level.image_stride, checked(level.origin), level.step});
    sizes_.push_back(level.size);
  }
  upload(queue, levels_, records);
}

void Integrals::plan_rows(Queue& queue, std::span<const ImageRows> rows) {
  std::vector<Tile> row_tiles, columns, anti, diagonals;
  for (std::size_t l = 0; l < sizes_.size(); ++l) {
    const auto [begin, end] = rows[l];
    const int height = end - begin;
    if (height <= 0) continue;
    const int width = sizes_[l].width;
    const Steps whole{begin, end, height};
    add_tiles(row_tiles, l, {begin, end, 1});
    add_tiles(columns, l, whole, {0, width + 1, kColumnGroup});
    add_tiles(anti, l, whole, {0, width + height - 1, kColumnGroup});
    add_tiles(diagonals, l, whole, {0, width + height + 1, kColumnGroup});
  }
  row_tiles_.assign(queue, row_tiles);
  column_tiles_.assign(queue, columns);
  anti_tiles_.assign(queue, anti);
  diagonal_tiles_.assign(queue, diagonals);
}

void Integrals::make_scratch(const Context& context) {
  const std::size_t bytes = static_cast<std::size_t>(plane_) * sizeof(cl_uint);
  if (program_->tilted_ && anti_.bytes() < bytes) anti_ = Buffer(context, bytes);
}

void Integrals::enqueue(Queue& queue, const Buffer& images, const Buffer& integrals,
                        const Launched& launched) {
  row_sums_.arguments(images, levels_, row_tiles_.buffer(), stride_, plane_, integrals);
  launched(
      row_sums_.enqueue(queue, groups(row_tiles_.size(), static_cast<std::size_t>(program_->row_items_))));
  column_sums_.arguments(levels_, column_tiles_.buffer(), stride_, plane_, integrals);
  NDRange columns = groups(column_tiles_.size(), kColumnGroup);
  columns.global[1] = static_cast<std::size_t>(program_->upright_planes_);
  launched(column_sums_.enqueue(queue, columns));
  if (!program_->tilted_) return;
  anti_diagonals_.arguments(images, levels_, anti_tiles_.buffer(), stride_, anti_);
  launched(anti_diagonals_.enqueue(queue, groups(anti_tiles_.size(), kColumnGroup)));
  diagonals_.arguments(anti_, levels_, diagonal_tiles_.buffer(), stride_,
                       cl_int{IntegralSheet::kTilted * plane_}, integrals);
  launched(diagonals_.enqueue(queue, groups(diagonal_tiles_.size(), kColumnGroup)));
}

}  // namespace sightline::opencl
