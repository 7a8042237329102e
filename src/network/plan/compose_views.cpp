#include "network/plan/compose_views.hpp"

#include <algorithm>

#include "network/plan/storage.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

constexpr std::size_t kMostPlaces = 1024;  // of a shuffled axis

/// Places of a view's axis that lie in one of its runs, `step` apart.
struct RunPart {
  const Run* run;
  std::int64_t first, step, count;
};

/// The runs of a view along its axis, by place.
class RunFinder {
 public:
  explicit RunFinder(const View& view) {
    for (const Run& run : view.runs) {
      for (std::int64_t k = 0; k < side_of(run.axes[view.axis]); ++k) places_.push_back({&run, k});
    }
  }
  std::int64_t count() const { return static_cast<std::int64_t>(places_.size()); }

  std::vector<RunPart> parts_of(const std::vector<std::int64_t>& numbers) const {
    std::vector<RunPart> parts;
    for (const std::int64_t number : numbers) {
      const auto& [run, place] = places_[static_cast<std::size_t>(number)];
      RunPart* const last = parts.empty() ? nullptr : &parts.back();
      if (last && last->run == run && last->count == 1 && place > last->first)
        last->step = place - last->first;
      if (last && last->run == run && place == last->first + last->count * last->step) {
        ++last->count;
      } else {
        parts.push_back({run, place, 1, 1});
      }
    }
    return parts;
  }

 private:
  std::vector<std::pair<const Run*, std::int64_t>> places_;
};

}  // namespace

void ViewComposer::add_stored() {
  const int tensor = static_cast<int>(views_.size());
  views_.emplace_back(View::of(tensor, graph_.shape(tensor)));
  relatives_.emplace_back();
}

void ViewComposer::add_unknown() {
  views_.emplace_back();
  relatives_.emplace_back();
}

void ViewComposer::add_view() {
  const int tensor = static_cast<int>(views_.size());
  const GraphNode& node = graph_.node(graph_.tensor(tensor).maker);
  const Shape& shape = graph_.shape(tensor);
  std::vector<const View*> operands;
  for (const int input : node.inputs) {
    const std::optional<View>& view = views_[static_cast<std::size_t>(input)];
    if (view) operands.push_back(&*view);
  }
  std::optional<View> view;
  if (operands.size() == node.inputs.size()) view = view_of(node.primitive, operands, shape);
  std::optional<Relative> relative = relative_to_join(node, shape);
  if (!view && relative && (view = resolved(*relative))) relative.reset();
  views_.push_back(std::move(view));
  relatives_.push_back(std::move(relative));
}

std::optional<ViewComposer::Relative> ViewComposer::relative_to_join(const GraphNode& view,
                                                                     const Shape& shape) const {
  if (std::holds_alternative<Concat>(view.primitive)) return {};
  const int input = view.inputs[0];
  const std::optional<View>& shown = views_[static_cast<std::size_t>(input)];
  std::optional<Relative> from = relatives_[static_cast<std::size_t>(input)];
  if (!from && shown && shown->runs.size() > 1) from = Relative{input, View::of(input, graph_.shape(input))};
  if (!from) return {};
  const View* const operand = &from->view;
  const auto relative = view_of(view.primitive, {&operand, 1}, shape);
  return relative ? std::optional(Relative{from->base, *relative}) : std::nullopt;
}

// The runs of a join in another order, where all other axes are as they were.
std::optional<View> ViewComposer::resolved(const Relative& relative) const {
  const std::optional<View>& base = views_[static_cast<std::size_t>(relative.base)];
  const Shape& shape = graph_.shape(relative.base);
  const Run& whole = relative.view.runs[0];
  if (!base || relative.view.runs.size() > 1 || whole.axes.size() != shape.size()) return {};
  const Strides strides = strides_of(shape);
  const FactoredAxes usual = factored(shape, strides);
  const std::size_t axis = base->axis;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != axis && normalised(whole.axes[i]) != normalised(usual[i])) return {};
  }
  const RunFinder finder(*base);
  std::vector<std::int64_t> places;
  for (const std::int64_t offset : offsets_of(whole.axes[axis])) {
    const std::int64_t at = whole.offset + offset;
    if (at % strides[axis] != 0 || at < 0 || at / strides[axis] >= finder.count()) return {};
    places.push_back(at / strides[axis]);
  }
  if (places.size() > kMostPlaces) return {};
  View view{axis, {}};
  for (const RunPart& part : finder.parts_of(places)) {
    const auto axes = sliced(part.run->axes[axis], part.first, part.step, part.count);
    if (!axes) return {};
    Run run = *part.run;
    run.axes[axis] = axes->axis;
    run.offset += axes->offset;
    view.runs.push_back(std::move(run));
  }
  if (view.runs.size() < 2) view.axis = 0;
  return view;
}

}  // namespace sightline::nn
