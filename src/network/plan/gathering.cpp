#include "network/plan/gathering.hpp"

#include <cstring>

namespace sightline::nn {
namespace {

constexpr std::int64_t kPieceElements = std::int64_t{1} << 14;  // which take longer than to share them out

}  // namespace

Gathering::Gathering(const Graph& graph, const Stored& stored, int tensor) : data_(graph.type(tensor).data) {
  const Shape& shape = graph.shape(tensor);
  if (elements_of(shape) == 0) return;
  const Strides strides = strides_of(shape);
  if (const std::optional<View>& view = stored.view(tensor)) {
    std::int64_t begin = 0;
    for (const Run& run : view->runs) {
      add_run(stored, run, strides, begin);
      if (view->runs.size() > 1) begin += side_of(run.axes[view->axis]) * strides[view->axis];
    }
  } else {
    stored.for_each_address(tensor, shape, Layout::of_elements(shape),
                            [&](std::int64_t to, std::int64_t /*channel*/, int source, std::int32_t address) {
                              add({source, address, to, 1, 1});
                            });
  }
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    elements += rows_[i].count;
    if (elements < kPieceElements && i + 1 < rows_.size()) continue;
    ends_.push_back(i + 1);
    elements = 0;
  }
}

// The last axis is the inner loop. @param to  element of the tensor that the run's first one is
void Gathering::add_run(const Stored& stored, const Run& run, const Strides& to_strides, std::int64_t to) {
  const ElementAddresses& addresses = stored.element_addresses(run.tensor);
  const std::size_t rank = run.axes.size();
  std::vector<std::vector<std::int64_t>> offsets;
  Shape outer;
  for (const FactoredAxis& axis : run.axes) {
    offsets.push_back(offsets_of(axis));
    outer.push_back(static_cast<std::int64_t>(offsets.back().size()));
  }
  if (rank > 0) outer.back() = 1;
  const std::vector<std::int64_t> single{0};
  const std::vector<std::int64_t>& inner = rank > 0 ? offsets.back() : single;
  for_each_index(outer, [&](const Shape& place) {
    std::int64_t element = run.offset, target = to;
    for (std::size_t i = 0; i < rank; ++i) {
      element += offsets[i][static_cast<std::size_t>(place[i])];
      target += place[i] * to_strides[i];
    }
    for (std::size_t k = 0; k < inner.size();) {
      const std::size_t even = even_steps(inner, k);
      const std::int64_t first = element + inner[k], step = even > 1 ? inner[k + 1] - inner[k] : 0;
      const ElementAddresses::Row row = addresses.row(first, step, static_cast<std::int64_t>(even));
      add({run.tensor, addresses.address(first), target + static_cast<std::int64_t>(k), row.count,
           row.count > 1 ? row.step : 1});
      k += static_cast<std::size_t>(row.count);
    }
  });
}

// A row that goes on where the last one ends becomes a part of it.
void Gathering::add(const Row& row) {
  if (!rows_.empty()) {
    Row& last = rows_.back();
    const std::int64_t step = last.count == 1 ? row.from - last.from : last.step;
    if (last.tensor == row.tensor && row.to == last.to + last.count &&
        row.from == last.from + last.count * step && (row.count == 1 || row.step == step)) {
      last.step = step;
      last.count += row.count;
      return;
    }
  }
  rows_.push_back(row);
}

void Gathering::copy_piece(int piece, std::byte* const* tensors, std::byte* to) const {
  const auto number = static_cast<std::size_t>(piece);
  copy_rows(number == 0 ? 0 : ends_[number - 1], ends_[number], tensors, to);
}

void Gathering::copy(std::byte* const* tensors, std::byte* to) const {
  copy_rows(0, rows_.size(), tensors, to);
}

void Gathering::copy_rows(std::size_t begin, std::size_t end, std::byte* const* tensors,
                          std::byte* to) const {
  with_bytes(data_, [&]<typename T>() {
    for (std::size_t i = begin; i < end; ++i) {
      const Row& row = rows_[i];
      const T* const from = reinterpret_cast<const T*>(tensors[row.tensor]) + row.from;
      T* const target = reinterpret_cast<T*>(to) + row.to;
      if (row.step == 1) {
        std::memcpy(target, from, static_cast<std::size_t>(row.count) * sizeof(T));
      } else {
        for (std::int64_t k = 0; k < row.count; ++k) target[k] = from[k * row.step];
      }
    }
  });
}

}  // namespace sightline::nn
