// The window of `sightline label`.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "apps/cli/stop.hpp"
#include "apps/label/label_proposals.hpp"
#include "apps/label/label_session.hpp"
#include "apps/label/label_view.hpp"
#include "base/error.hpp"
#include "display/label_window.hpp"
#include "labelling/pointer.hpp"
#include "labelling/viewport.hpp"

namespace sightline::apps {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using display::LabelCommand;
using display::PointerInput;
using display::PointerShape;
using display::TextInput;
using labelling::Grip;
using labelling::Mark;

constexpr auto kPatience = 100ms;  // for what may come from elsewhere: signals, a disk that has room again
constexpr auto kRetry = 2s;        // after what could not be saved
constexpr double kZoomStep = 1.25;
constexpr int kFarStep = 10;  // pixels that Shift and an arrow move
constexpr int kMaxName = 64;  // letters of a class's name

std::string count_of(std::size_t number, const char* one, const char* several) {
  return fmt::format("{} {}", number, number == 1 ? one : several);
}

class Labeller {
 public:
  Labeller(const LabelArguments& arguments, LabelWork& work)
      : work_(work),
        session_(work.session()),
        pointer_(session_, viewport_),
        only_unseen_(arguments.only_unseen) {
    std::optional<DetectorEngine> engine;  // before there is a window: it may be refused
    if (arguments.detector.is_named()) {
      DetectorOptions detector = arguments.detector;
      detector.use_no_device();
      engine = detector.make();
      require_boxes(engine->detector().info(), "model");
    }
    begin_with_unseen();
    read_picture();
    display::WindowOptions options;
    options.software = arguments.software;
    options.full_screen = arguments.full_screen;
    window_ = std::make_unique<display::LabelWindow>("Sightline label", opening_size(), options);
    if (engine) {
      proposals_ = std::make_unique<LabelProposals>(std::move(*engine), [this] { window_->wake(); });
      choose_classes(arguments);
    }
    show_picture();
    say("boxes go to " + work_.store().place().string());
  }

  void run() {
    while (!is_over_ && !stop_requested()) {
      auto input = window_->wait(kPatience);
      for (; input && !is_over_; input = window_->wait(0ms))
        std::visit([&](const auto& what) { take(what); }, *input);
      take_proposals();
      save(false);
      present();
    }
    pointer_.cancel();
    session_.end_edit();
  }

  // What is marked has to be somewhere, whatever happens.
  void finish() {
    save(true);
    if (session_.changed().empty()) return;
    const std::filesystem::path rescued = work_.store().rescue(session_.truth());
    throw Error(ExitCode::failed, problem_, "all boxes are in '" + rescued.string() + "'");
  }

 private:
  // --- pictures

  void begin_with_unseen() {
    if (session_.is_seen(0) && session_.seen_count() < session_.size()) session_.go_to(*session_.next(true));
    // Of a video that was left in the middle, where that was.
    while (only_unseen_ && session_.is_seen(session_.current()) && work_.extend())
      session_.go_to(session_.size() - 1);
  }

  // The window opens as large as the screen allows for panels beside the picture.
  Size opening_size() const {
    const Size size = frame_.size();
    return {std::max(1280, size.width), std::max(800, size.height)};
  }

  void read_picture() {
    const std::size_t current = session_.current();
    try {
      frame_ = work_.pictures().load(current);
      session_.opened(frame_.size());
    } catch (const Error& error) {
      frame_ = {};
      session_.failed(error.what());
      spdlog::warn("{}", error.what());
    }
  }

  void show_picture() {
    try {
      window_->set_frame(frame_);
    } catch (const Error& error) {
      frame_ = {};
      session_.failed(error.what());
    }
    shown_ = session_.current();
    if (!session_.problem().empty()) return;
    if (const std::size_t outside = session_.outside(); outside > 0)
      say(count_of(outside, "box lies", "boxes lie") + " outside of the picture: Tab selects, Del deletes");
    if (proposals_ && !session_.is_seen(shown_) && !session_.was_proposed_for(shown_))
      proposals_->ask(shown_, frame_);
  }

  void go_to(std::size_t picture) {
    pointer_.cancel();
    session_.go_to(picture);
    read_picture();
    show_picture();
  }

  void go_on() {
    std::optional<std::size_t> next = session_.next(only_unseen_);
    while (!next && work_.extend()) next = session_.next(only_unseen_);
    if (next) return go_to(*next);
    say(only_unseen_ ? "no unseen picture after this one" : "this is the last picture");
  }

  void go_back() {
    if (const auto previous = session_.previous(only_unseen_)) return go_to(*previous);
    say(only_unseen_ ? "no unseen picture before this one" : "this is the first picture");
  }

  // After undoing, which may have gone to another one.
  void follow_session() {
    if (shown_ != session_.current()) {
      read_picture();
      show_picture();
    }
  }

  // --- proposals

  // The user's class of a name; -1: there is none.
  int known_class(const std::string& label) const {
    const auto& classes = session_.classes();
    const auto found = std::ranges::find(classes, label, [](const auto& one) { return one.name; });
    return found == classes.end() ? -1 : static_cast<int>(found - classes.begin());
  }

  // Classes of what the detector finds: those of the same names. Where --classes names none of them, all
  // is of its first class; else what it does not name is not proposed.
  void choose_classes(const LabelArguments& arguments) {
    const std::vector<std::string>& labels = proposals_->labels();
    const bool has_named = !arguments.classes.empty();
    const bool knows_some = has_named && std::ranges::any_of(labels, [&](const std::string& label) {
                              return known_class(label) >= 0;
                            });
    for (const std::string& label : labels) {
      const int known = known_class(label);
      if (known >= 0 || has_named) {
        proposed_classes_.push_back(known >= 0 || knows_some ? known : 0);
      } else {
        const bool has_classes = session_.has_named_classes() || !session_.truth().images.empty();
        proposed_classes_.push_back(has_classes ? session_.class_named(label)
                                                : session_.rename_nameless(label));
      }
    }
  }

  void take_proposals() {
    if (!proposals_) return;
    while (const auto answer = proposals_->take()) {
      if (!answer->problem.empty()) {
        spdlog::warn("{}: {}", session_.name(answer->picture), answer->problem);
        if (answer->picture == shown_) say("the detector failed: " + answer->problem);
      }
      std::vector<Mark> marks;
      for (const Detection& one : answer->found) {
        const auto label = static_cast<std::size_t>(one.label);
        const int proposed = label < proposed_classes_.size() ? proposed_classes_[label] : 0;
        if (proposed < 0) continue;
        const Box& box = one.box;
        const double left = std::round(box.x), top = std::round(box.y);
        marks.push_back(
            {{left, top, std::round(box.x + box.width) - left, std::round(box.y + box.height) - top},
             proposed});
      }
      session_.propose(answer->picture, marks);
      if (answer->picture == session_.current() && !session_.selected() && !pointer_.is_pressed())
        if (session_.proposals() > 0) session_.select_next(1);
    }
  }

  // --- what the user does

  void take(const PointerInput& input) {
    const Point at{input.x, input.y};
    at_ = at;
    is_inside_ = input.kind != PointerInput::Kind::leave;
    if (input.kind == PointerInput::Kind::press) {
      is_help_ = false;
      pointer_.press(at, input.shift);
    } else if (input.kind == PointerInput::Kind::release) {
      pointer_.release(at);
    } else if (input.kind == PointerInput::Kind::move) {
      pointer_.move(at);
    }
  }

  void take(const display::PanInput& input) { viewport_.pan(input.dx, input.dy); }
  void take(const display::WheelInput& input) {
    viewport_.zoom(std::pow(kZoomStep, input.steps), {input.x, input.y});
  }

  void take(const display::ClassInput& input) {
    if (static_cast<std::size_t>(input.index) < session_.classes().size()) {
      session_.choose_class(input.index);
    } else {
      say(fmt::format("there is no class {}: c makes a new one", input.index + 1));
    }
  }

  void take(const TextInput& input) {
    if (!typing_) return;
    switch (input.kind) {
      case TextInput::Kind::typed:
        if (typing_->size() < kMaxName) *typing_ += input.text;
        return;
      case TextInput::Kind::erase:
        // A letter may be several bytes.
        while (!typing_->empty() && (static_cast<unsigned char>(typing_->back()) & 0xC0) == 0x80)
          typing_->pop_back();
        if (!typing_->empty()) typing_->pop_back();
        return;
      case TextInput::Kind::accept:
        if (!typing_->empty()) session_.choose_class(session_.class_named(*typing_));
        break;
      case TextInput::Kind::cancel:
        break;
    }
    typing_.reset();
    window_->set_typing(false);
  }

  void take(const display::KeyInput& input) {
    const double step = input.shift ? kFarStep : 1;
    switch (input.command) {
      case LabelCommand::next:
        return go_on();
      case LabelCommand::previous:
        return go_back();
      case LabelCommand::confirm:
        return confirm();
      case LabelCommand::finish:
        return finish_picture();
      case LabelCommand::remove:
        return with_selected([&] { session_.remove_selected(); });
      case LabelCommand::select_next:
        return session_.select_next(1);
      case LabelCommand::select_previous:
        return session_.select_next(-1);
      case LabelCommand::undo:
        return travel(session_.undo(), "nothing to undo");
      case LabelCommand::redo:
        return travel(session_.redo(), "nothing to redo");
      case LabelCommand::left:
        return nudge(-step, 0, input.control);
      case LabelCommand::right:
        return nudge(step, 0, input.control);
      case LabelCommand::up:
        return nudge(0, -step, input.control);
      case LabelCommand::down:
        return nudge(0, step, input.control);
      case LabelCommand::zoom_in:
        return viewport_.zoom(kZoomStep, zoom_centre());
      case LabelCommand::zoom_out:
        return viewport_.zoom(1 / kZoomStep, zoom_centre());
      case LabelCommand::fit:
        return viewport_.fit();
      case LabelCommand::new_class:
        typing_.emplace();
        return window_->set_typing(true);
      case LabelCommand::ignore:
        return with_selected([&] { ignore(); });
      case LabelCommand::copy:
        return copy();
      case LabelCommand::only_unseen:
        only_unseen_ = !only_unseen_;
        return say(only_unseen_ ? "unseen pictures only" : "all pictures");
      case LabelCommand::panels:
        has_panels_ = !has_panels_;
        return;
      case LabelCommand::help:
        is_help_ = !is_help_;
        return;
      case LabelCommand::cancel:
        return cancel();
      case LabelCommand::quit:
        return quit();
      case LabelCommand::full_screen:
        return;
    }
  }

  template <typename Change>
  void with_selected(Change change) {
    if (pointer_.is_dragging()) return;
    if (!session_.selected()) return say("no box is selected: click on one, or press Tab");
    change();
  }

  void nudge(double dx, double dy, bool grows) {
    with_selected([&] { grows ? session_.grow_selected(dx, dy) : session_.move_selected(dx, dy); });
  }

  void ignore() {
    if (work_.store().format() != TruthFormat::coco) return say("only COCO files can hold ignored boxes");
    session_.toggle_ignore();
  }

  void copy() {
    const std::size_t copied = session_.copy_previous();
    say(copied > 0 ? count_of(copied, "box", "boxes") + " of the previous picture"
                   : "the previous picture has no boxes");
  }

  void travel(bool moved, const char* otherwise) {
    pointer_.cancel();
    if (!moved) return say(otherwise);
    follow_session();
  }

  void confirm() {
    if (pointer_.is_dragging() || session_.confirm_selected()) return;
    if (session_.proposals() > 0) return session_.select_next(1);
    say("no proposal is left: Enter accepts the picture");
  }

  void finish_picture() {
    if (pointer_.is_dragging()) return;
    if (!session_.problem().empty()) return go_on();
    if (proposals_ && proposals_->is_busy() && !session_.is_seen(shown_) &&
        !session_.was_proposed_for(shown_))
      return say("the detector is still searching this picture");
    session_.finish_picture();
    session_.select(std::nullopt);
    go_on();
  }

  void cancel() {
    if (is_help_) {
      is_help_ = false;
    } else if (pointer_.is_pressed()) {
      pointer_.cancel();
    } else {
      session_.select(std::nullopt);
    }
  }

  void quit() {
    pointer_.cancel();
    save(true);
    if (!session_.changed().empty() && !is_warned_) {
      is_warned_ = true;
      return say(
          "not saved: free some space, or close again to save the boxes in the folder for temporary files");
    }
    is_over_ = true;
  }

  Point zoom_centre() const {
    const Size output = viewport_.output();
    return is_inside_ ? at_ : Point{output.width / 2.0, output.height / 2.0};
  }

  void say(const std::string& message) {
    message_ = message;
    message_until_ = Clock::now() + display::kMessageTime;
  }

  // --- saving

  // At once after each change; where a file has grown so large that this takes long, for a tenth of the time
  // at most.
  void save(bool now) {
    if (session_.is_editing() || session_.changed().empty()) return;
    const auto begin = Clock::now();
    if (!now && begin < next_save_) return;
    try {
      // Not only the shown one: Enter marks a picture and goes on.
      for (std::size_t i = 0; i < session_.size(); ++i)
        if (session_.is_seen(i) && session_.changed().contains(session_.name(i))) work_.pictures().keep(i);
      work_.store().save(session_);
      problem_.clear();
      is_warned_ = false;
      next_save_ = Clock::now() + 9 * (Clock::now() - begin);
    } catch (const Error& error) {
      if (problem_ != error.what()) spdlog::error("{}", error.what());
      problem_ = error.what();
      next_save_ = Clock::now() + kRetry;
    }
  }

  // --- what is shown

  void present() {
    const Size output = window_->output_size();
    viewport_.set(frame_.size(), window_->pixel_aspect(), output,
                  has_panels_ ? display::label_panels_width(output, window_->density()) : 0);
    const display::PicturePart view = frame_.empty() ? display::PicturePart{} : visible_part(viewport_);
    const Grip grip = pointer_.grip_at(at_);
    const bool is_idle = !session_.problem().empty() || !is_inside_;
    window_->set_shape(is_idle ? PointerShape::arrow : shape_of(grip));
    window_->present(view, overlay(grip, output));
  }

  display::LabelOverlay overlay(const Grip& grip, Size output) {
    display::LabelOverlay o = overlay_of(session_, viewport_);
    o.panels = has_panels_;
    o.help = is_help_;
    o.typing = typing_;
    o.name = session_.name(shown_);
    o.seen = session_.is_seen(shown_);
    const auto expected = work_.pictures().expected();
    o.position = fmt::format("{} of {}{}", shown_ + 1, work_.pictures().is_complete() ? "" : "about ",
                             expected.value_or(session_.size()));
    o.progress = fmt::format("{} seen{}", session_.seen_count(), only_unseen_ ? ", unseen only" : "");
    if (!frame_.empty())
      o.details =
          fmt::format("{}x{}, {:.0f} %", frame_.size().width, frame_.size().height, 100 * viewport_.scale());
    if (Clock::now() < message_until_) o.message = message_;
    add_state(o);
    const Point on = viewport_.to_picture(at_);
    const bool is_on_picture =
        on.x >= 0 && on.y >= 0 && on.x <= frame_.size().width && on.y <= frame_.size().height;
    const bool draws = (grip.kind == Grip::Kind::none && is_on_picture) || pointer_.is_dragging();
    if (is_inside_ && draws && session_.problem().empty() && !is_help_)
      o.crosshair =
          display::Rect{static_cast<int>(at_.x), static_cast<int>(at_.y), output.width, output.height};
    return o;
  }

  void add_state(display::LabelOverlay& o) const {
    if (!problem_.empty()) {
      o.state = "not saved: " + problem_;
      o.state_kind = display::StateKind::bad;
    } else if (proposals_ && proposals_->is_busy()) {
      o.state = "the detector is searching";
      o.state_kind = display::StateKind::waiting;
    } else if (const std::size_t left = session_.proposals(); left > 0) {
      o.state = count_of(left, "proposal", "proposals") + ": space confirms one, Enter all, Del rejects";
      o.state_kind = display::StateKind::waiting;
    } else {
      o.state = session_.changed().empty() ? "saved" : "saving";
    }
  }

  LabelWork& work_;
  labelling::Session& session_;
  labelling::Viewport viewport_;
  labelling::PointerTool pointer_;
  std::unique_ptr<display::LabelWindow> window_;
  std::unique_ptr<LabelProposals> proposals_;  // after the window, which it wakes
  std::vector<int> proposed_classes_;          // by the detector's labels
  Frame frame_;
  std::size_t shown_ = 0;
  bool only_unseen_ = false;
  bool has_panels_ = true;
  bool is_help_ = false;
  bool is_over_ = false;
  bool is_warned_ = false;  // that quitting leaves boxes unsaved
  Point at_;                // the pointer
  bool is_inside_ = false;
  std::optional<std::string> typing_;
  std::string message_;
  Clock::time_point message_until_;
  std::string problem_;  // why the last saving failed
  Clock::time_point next_save_;
};

}  // namespace

void label_in_window(const LabelArguments& arguments, LabelWork& work) {
  std::optional<Labeller> labeller;
  labeller.emplace(arguments, work);
  try {
    labeller->run();
  } catch (...) {
    // The screen is lost, say, or memory is out.
    if (!work.session().changed().empty()) labeller->finish();
    throw;
  }
  labeller->finish();
}

}  // namespace sightline::apps
