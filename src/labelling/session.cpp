#include "labelling/session.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "evaluation/truth_output.hpp"

namespace sightline::labelling {

Session::Session(GroundTruth truth, const std::vector<std::string>& classes, bool relative)
    : truth_(std::move(truth)), relative_(relative) {
  // A name for a class without one.
  if (!classes.empty() && truth_.labels.empty()) truth_.labels.emplace(0, classes.front());
  name_labels(truth_);
  for (const std::string& name : classes) class_named(name);
  for (const auto& [number, name] : truth_.labels) class_named(name);
  if (classes_.empty()) classes_.push_back({0, "object"});
  classes_changed_ = false;
}

// Gives a class without a name its displayed name.
void Session::name_nameless() {
  if (!truth_.labels.empty()) return;
  for (const Class& one : classes_) truth_.labels.emplace(one.number, one.name);
}

int Session::class_named(const std::string& name) {
  for (std::size_t i = 0; i < classes_.size(); ++i)
    if (classes_[i].name == name) return static_cast<int>(i);
  name_nameless();
  const auto known = std::find_if(truth_.labels.begin(), truth_.labels.end(),
                                  [&](const auto& label) { return label.second == name; });
  const int number = known != truth_.labels.end() ? known->first
                     : truth_.labels.empty()      ? 0
                                                  : truth_.labels.rbegin()->first + 1;
  truth_.labels.emplace(number, name);
  classes_.push_back({number, name});
  classes_changed_ = true;
  return static_cast<int>(classes_.size()) - 1;
}

int Session::rename_nameless(const std::string& name) {
  classes_.front().name = name;
  name_nameless();
  classes_changed_ = true;
  return 0;
}

int Session::class_of(int number) {
  for (std::size_t i = 0; i < classes_.size(); ++i)
    if (classes_[i].number == number) return static_cast<int>(i);
  // Met for the first time in a file of its own.
  name_nameless();
  const std::string& name =
      truth_.labels.try_emplace(number, "class " + std::to_string(number)).first->second;
  classes_.push_back({number, name});
  classes_changed_ = true;
  return static_cast<int>(classes_.size()) - 1;
}

void Session::add_picture(const std::string& name, const std::vector<TruthBox>* known) {
  if (known) truth_.images[name] = *known;
  const std::vector<TruthBox>* const boxes = truth_.find(name);
  Picture added;
  added.name = name;
  added.seen = boxes != nullptr;
  added.relative = relative_ && boxes;
  if (boxes) {
    for (const TruthBox& one : *boxes) added.marks.push_back({one.box, class_of(one.label), one.ignore});
  }
  pictures_.push_back(std::move(added));
}

std::size_t Session::seen_count() const {
  return static_cast<std::size_t>(
      std::count_if(pictures_.begin(), pictures_.end(), [](const Picture& one) { return one.seen; }));
}

void Session::go_to(std::size_t picture) {
  end_edit();
  current_ = picture;
  selected_.reset();
}

std::optional<std::size_t> Session::next(bool only_unseen) const {
  for (std::size_t i = current_ + 1; i < pictures_.size(); ++i)
    if (!only_unseen || !pictures_[i].seen) return i;
  return std::nullopt;
}

std::optional<std::size_t> Session::previous(bool only_unseen) const {
  for (std::size_t i = current_; i-- > 0;)
    if (!only_unseen || !pictures_[i].seen) return i;
  return std::nullopt;
}

void Session::opened(Size size) {
  Picture& own = picture();
  own.problem.clear();
  own.size = size;
  truth_.facts.try_emplace(own.name, ImageFacts{size, own.name}).first->second.size = size;
  if (!std::exchange(own.relative, false)) return;
  for (Mark& mark : own.marks) {
    mark.box.x *= size.width;
    mark.box.y *= size.height;
    mark.box.width *= size.width;
    mark.box.height *= size.height;
  }
  tell_truth(current_);
}

void Session::failed(const std::string& reason) {
  picture().problem = reason;
  selected_.reset();
}

void Session::choose_class(int index) {
  current_class_ = index;
  if (!selected_) return;
  edit([&] {
    Mark& mark = picture().marks[*selected_];
    mark.label = index;
    mark.proposed = false;
  });
}

void Session::select(std::optional<std::size_t> mark) {
  selected_ = mark;
}

void Session::select_next(int step) {
  const std::size_t count = marks().size();
  if (count == 0) return;
  if (!selected_ && step > 0 && proposals() > 0) return select_proposal(0);
  const std::size_t start = selected_ ? *selected_ : step > 0 ? count - 1 : 0;
  selected_ = (start + (step > 0 ? 1 : count - 1)) % count;
}

// The first proposal from there on, round about; none if there is none.
void Session::select_proposal(std::size_t from) {
  selected_.reset();
  for (std::size_t i = 0; i < marks().size() && !selected_; ++i) {
    const std::size_t at = (from + i) % marks().size();
    if (marks()[at].proposed) selected_ = at;
  }
}

std::optional<std::size_t> Session::mark_at(double x, double y) const {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < marks().size(); ++i) {
    const Box& box = marks()[i].box;
    const bool holds = x >= box.x && y >= box.y && x <= box.x + box.width && y <= box.y + box.height;
    if (holds && (!found || box.area() < marks()[*found].box.area())) found = i;
  }
  return found;
}

void Session::begin_edit() {
  if (can_edit()) before_ = state();
}

void Session::end_edit() {
  if (!before_) return;
  State before = std::move(*before_);
  before_.reset();
  Picture& own = picture();
  own.seen |=
      std::any_of(own.marks.begin(), own.marks.end(), [](const Mark& mark) { return !mark.proposed; });
  State after = state();
  if (after == before) return;
  done_.push_back({current_, std::move(before), std::move(after)});
  if (done_.size() > kMaxHistory) done_.pop_front();
  undone_.clear();
  tell_truth(current_);
  changed_.insert(own.name);
}

void Session::cancel_edit() {
  if (!before_) return;
  picture().marks = before_->marks;
  picture().seen = before_->seen;
  before_.reset();
  if (selected_ && *selected_ >= marks().size()) selected_.reset();
}

// Alone, or as a part of an edit that has begun.
void Session::edit(const std::function<void()>& change) {
  if (!can_edit()) return;
  const bool is_part = is_editing();
  if (!is_part) begin_edit();
  change();
  if (!is_part) end_edit();
}

void Session::tell_truth(std::size_t picture) {
  const Picture& own = pictures_[picture];
  if (!own.seen) {
    truth_.images.erase(own.name);
    return;
  }
  std::vector<TruthBox>& boxes = truth_.images[own.name];
  boxes.clear();
  for (const Mark& mark : own.marks) {
    if (mark.proposed) continue;
    boxes.push_back({mark.box, mark.ignore, classes_[static_cast<std::size_t>(mark.label)].number});
  }
}

// The part of a box that lies in the picture.
Box Session::inside(const Box& box) const {
  return clipped(box, picture_size());
}

void Session::add(const Box& box) {
  edit([&] {
    picture().marks.push_back({box, current_class_});
    selected_ = marks().size() - 1;
  });
}

void Session::set_box(std::size_t mark, const Box& box) {
  edit([&] {
    picture().marks[mark].box = box;
    picture().marks[mark].proposed = false;
  });
}

void Session::move_selected(double dx, double dy) {
  if (!selected_) return;
  Box box = marks()[*selected_].box;
  // A box that reaches past an edge may move back but not further out.
  const auto moved = [](double at, double by, double length, double limit) {
    return at + std::clamp(by, std::min(0.0, -at), std::max(0.0, limit - length - at));
  };
  box.x = moved(box.x, dx, box.width, picture_size().width);
  box.y = moved(box.y, dy, box.height, picture_size().height);
  set_box(*selected_, box);
}

void Session::grow_selected(double dx, double dy) {
  if (!selected_) return;
  Box box = marks()[*selected_].box;
  box.width = std::max(1.0, box.width + dx);
  box.height = std::max(1.0, box.height + dy);
  const Box kept = inside(box);
  if (kept.width > 0 && kept.height > 0) set_box(*selected_, kept);
}

void Session::remove_selected() {
  if (!selected_) return;
  const std::size_t at = *selected_;
  edit([&] {
    Picture& own = picture();
    own.marks.erase(own.marks.begin() + static_cast<std::ptrdiff_t>(at));
    select_proposal(at);
  });
}

void Session::toggle_ignore() {
  if (!selected_) return;
  edit([&] {
    Mark& mark = picture().marks[*selected_];
    mark.ignore = !mark.ignore;
    mark.proposed = false;
  });
}

std::size_t Session::copy_previous() {
  if (current_ == 0 || !can_edit()) return 0;
  const Picture& before = pictures_[current_ - 1];
  if (before.relative) return 0;
  std::size_t count = 0;
  edit([&] {
    for (const Mark& mark : before.marks) {
      const Box box = inside(mark.box);
      if (mark.proposed || !(box.width > 0 && box.height > 0)) continue;
      picture().marks.push_back({box, mark.label, mark.ignore});
      ++count;
    }
    if (count > 0) selected_ = marks().size() - 1;
  });
  return count;
}

void Session::propose(std::size_t picture, std::span<const Mark> marks) {
  Picture& own = pictures_[picture];
  if (std::exchange(own.proposed, true) || own.seen) return;
  for (Mark mark : marks) {
    mark.proposed = true;
    own.marks.push_back(mark);
    // Cancelling and undoing affect only the user's actions, not proposals.
    if (picture == current_ && before_) before_->marks.push_back(mark);
  }
}

std::size_t Session::proposals() const {
  return static_cast<std::size_t>(
      std::count_if(marks().begin(), marks().end(), [](const Mark& mark) { return mark.proposed; }));
}

bool Session::confirm_selected() {
  if (!selected_ || !marks()[*selected_].proposed) return false;
  const std::size_t at = *selected_;
  edit([&] { picture().marks[at].proposed = false; });
  select_proposal(at);
  return true;
}

void Session::finish_picture() {
  edit([&] {
    for (Mark& mark : picture().marks) mark.proposed = false;
    picture().seen = true;
  });
}

bool Session::travel(std::deque<Step>& from, std::deque<Step>& to, State Step::*target) {
  end_edit();
  if (from.empty()) return false;
  Step step = std::move(from.back());
  from.pop_back();
  if (current_ != step.picture) go_to(step.picture);
  Picture& own = picture();
  own.marks = (step.*target).marks;
  own.seen = (step.*target).seen;
  if (selected_ && *selected_ >= own.marks.size()) selected_.reset();
  tell_truth(step.picture);
  changed_.insert(own.name);
  to.push_back(std::move(step));
  return true;
}

bool Session::undo() {
  return travel(done_, undone_, &Step::before);
}

bool Session::redo() {
  return travel(undone_, done_, &Step::after);
}

std::size_t Session::outside() const {
  return static_cast<std::size_t>(std::count_if(marks().begin(), marks().end(), [&](const Mark& mark) {
    const Box kept = inside(mark.box);
    return !(kept.width > 0 && kept.height > 0);
  }));
}

void Session::saved() {
  changed_.clear();
  classes_changed_ = false;
}

}  // namespace sightline::labelling
