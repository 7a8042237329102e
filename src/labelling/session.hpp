#pragma once
/// Marking objects in pictures: boxes with classes, selection, undo, seen and unseen pictures. Independent of
/// windows and files.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "evaluation/ground_truth.hpp"
#include "image/box.hpp"

namespace sightline::labelling {

/// One box of a picture.
struct Mark {
  Box box;                ///< pixels of the picture; may reach past its edges where a file says so
  int label = 0;          ///< index into Session::classes
  bool ignore = false;    ///< see TruthBox
  bool proposed = false;  ///< a detector's, not confirmed: not a part of the truth
  friend bool operator==(const Mark&, const Mark&) = default;
};

/// A class of objects.
struct Class {
  int number = 0;  ///< TruthBox::label
  std::string name;
};

/// Marks in a series of pictures, with a current picture.
///
/// A picture is *seen* once it has a confirmed box or has been marked as done: only then is it a part of the
/// truth. All edits go to the current picture, can be undone, latest first (undoing goes to the edit's
/// picture), and appear in `truth()` at once.
///
/// Thread-safety: one thread at a time. Indices out of range are a caller's error.
class Session {
 public:
  /// Edits that can be undone.
  static constexpr std::size_t kMaxHistory = 1000;

  /// @param truth     existing marks, also in pictures outside of this session; they stay in `truth()`
  /// @param classes   names of classes in the desired order; further classes of the truth follow. If the
  ///                  truth has no names, its boxes get the first class
  /// @param relative  boxes are relative to their picture's size, as in YOLO, until it is opened
  Session(GroundTruth truth, const std::vector<std::string>& classes, bool relative = false);

  /// Adds a picture behind the others. Names are unique: they are the truth's keys.
  /// @param known  boxes that the truth did not have yet, where files of their own hold those of each picture
  void add_picture(const std::string& name, const std::vector<TruthBox>* known = nullptr);
  std::size_t size() const { return pictures_.size(); }
  const std::string& name(std::size_t picture) const { return pictures_[picture].name; }
  bool is_seen(std::size_t picture) const { return pictures_[picture].seen; }
  std::size_t seen_count() const;

  /// The picture that is worked on; 0 at first.
  std::size_t current() const { return current_; }
  void go_to(std::size_t picture);
  /// The nearest picture after (or before) the current one, not yet seen where `only_unseen`; none: there is
  /// no such.
  std::optional<std::size_t> next(bool only_unseen) const;
  std::optional<std::size_t> previous(bool only_unseen) const;

  /// The current picture has been read: from now on its boxes can be edited. To be called each time.
  void opened(Size size);
  /// Or it could not be read.
  void failed(const std::string& reason);
  /// Empty while it can be worked on.
  const std::string& problem() const { return picture().problem; }
  Size picture_size() const { return picture().size; }

  const std::vector<Mark>& marks() const { return picture().marks; }
  const std::vector<Class>& classes() const { return classes_; }
  /// True if classes have names; otherwise there is one class, shown as "object".
  bool has_named_classes() const { return !truth_.labels.empty(); }
  /// Index of a class by name, which is added where it is not there.
  int class_named(const std::string& name);
  /// Gives the one class that has no name its name; its index.
  int rename_nameless(const std::string& name);
  /// The class of boxes that are drawn.
  int current_class() const { return current_class_; }
  /// Also gives it to the selected box.
  void choose_class(int index);

  std::optional<std::size_t> selected() const { return selected_; }
  void select(std::optional<std::size_t> mark);
  /// The next box round about, proposals first where there are any; -1: the one before.
  void select_next(int step);
  /// The box with the smallest area that contains a point of the picture.
  std::optional<std::size_t> mark_at(double x, double y) const;

  /// A series of changes that is undone as one, such as a drag of the mouse. Cannot be nested.
  void begin_edit();
  void end_edit();
  /// Takes back all since `begin_edit`.
  void cancel_edit();
  bool is_editing() const { return before_.has_value(); }

  /// Adds a box of the current class and selects it. Changed boxes become confirmed.
  void add(const Box& box);
  void set_box(std::size_t mark, const Box& box);
  /// Moves the selected box, and keeps it inside the picture.
  void move_selected(double dx, double dy);
  /// Moves the right and bottom edges of the selected box.
  void grow_selected(double dx, double dy);
  /// Deletes the selected box, or rejects it where it was proposed; then the next proposal is selected.
  void remove_selected();
  void toggle_ignore();
  /// Adds the boxes of the picture before. Their number.
  std::size_t copy_previous();

  /// Adds a detector's boxes to a picture that is not seen; once for each picture.
  void propose(std::size_t picture, std::span<const Mark> marks);
  bool was_proposed_for(std::size_t picture) const { return pictures_[picture].proposed; }
  std::size_t proposals() const;
  /// Confirms the selected proposal and selects the next one. False: it was none.
  bool confirm_selected();
  /// Confirms all proposals and marks the picture as done, even if it is empty.
  void finish_picture();

  /// The picture where it happened becomes the current one. False: there is nothing.
  bool undo();
  bool redo();

  /// Boxes of the current picture that lie wholly outside of it.
  std::size_t outside() const;

  const GroundTruth& truth() const { return truth_; }
  /// Names of pictures whose part of the truth has changed since `saved`.
  const std::set<std::string>& changed() const { return changed_; }
  bool classes_changed() const { return classes_changed_; }
  void saved();

 private:
  struct Picture {
    std::string name;
    Size size;
    std::string problem;
    std::vector<Mark> marks;
    bool seen = false;
    bool proposed = false;
    bool relative = false;
  };
  struct State {
    std::vector<Mark> marks;
    bool seen = false;
    friend bool operator==(const State&, const State&) = default;
  };
  struct Step {
    std::size_t picture;
    State before, after;
  };

  int class_of(int number);
  void name_nameless();
  Picture& picture() { return pictures_[current_]; }
  const Picture& picture() const { return pictures_[current_]; }
  State state() const { return {picture().marks, picture().seen}; }
  bool can_edit() const { return !pictures_.empty() && problem().empty() && picture_size().width > 0; }
  void edit(const std::function<void()>& change);
  void tell_truth(std::size_t picture);
  bool travel(std::deque<Step>& from, std::deque<Step>& to, State Step::*target);
  Box inside(const Box& box) const;
  void select_proposal(std::size_t from);

  GroundTruth truth_;
  std::vector<Class> classes_;
  std::vector<Picture> pictures_;
  std::size_t current_ = 0;
  std::optional<std::size_t> selected_;
  int current_class_ = 0;
  bool relative_;
  std::optional<State> before_;
  std::deque<Step> done_, undone_;
  std::set<std::string> changed_;
  bool classes_changed_ = false;
};

}  // namespace sightline::labelling
