#include "labelling/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sightline::labelling {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr Size kSize{200, 100};

// Pictures a, b, ..., the first of them opened.
Session session_of(int pictures, GroundTruth truth = {}, const std::vector<std::string>& classes = {}) {
  Session session(std::move(truth), classes);
  for (int i = 0; i < pictures; ++i) session.add_picture(std::string(1, static_cast<char>('a' + i)));
  session.opened(kSize);
  return session;
}

void go_to(Session& session, std::size_t picture) {
  session.go_to(picture);
  session.opened(kSize);
}

std::vector<Box> boxes_of(const Session& session) {
  std::vector<Box> boxes;
  for (const Mark& mark : session.marks()) boxes.push_back(mark.box);
  return boxes;
}

TEST(LabelSession, WhatIsDrawnIsTheTruth) {
  Session session = session_of(2, {}, {"person", "car"});
  session.add({10, 20, 30, 40});
  session.choose_class(1);
  session.add({1, 2, 3, 4});
  EXPECT_EQ(session.selected(), 1u);
  EXPECT_THAT(session.truth().images, ElementsAre(Pair("a", ElementsAre(TruthBox{{10, 20, 30, 40}, false, 1},
                                                                        TruthBox{{1, 2, 3, 4}, false, 1}))));
  EXPECT_THAT(session.truth().labels, ElementsAre(Pair(0, "person"), Pair(1, "car")));
  EXPECT_THAT(session.changed(), UnorderedElementsAre("a"));
  session.saved();
  EXPECT_TRUE(session.changed().empty());
}

TEST(LabelSession, APictureWithoutBoxesIsSeenWhereSomebodySaysSo) {
  Session session = session_of(2);
  EXPECT_FALSE(session.is_seen(0));
  go_to(session, 1);
  EXPECT_FALSE(session.is_seen(0)) << "passing by is not looking";
  session.finish_picture();
  EXPECT_TRUE(session.is_seen(1));
  EXPECT_THAT(session.truth().images, ElementsAre(Pair("b", ElementsAre())));
  // Deleting the last box leaves it seen; undoing all does not.
  go_to(session, 0);
  session.add({0, 0, 10, 10});
  session.remove_selected();
  EXPECT_TRUE(session.is_seen(0));
  session.undo();
  session.undo();
  EXPECT_FALSE(session.is_seen(0));
  EXPECT_EQ(session.truth().find("a"), nullptr);
}

TEST(LabelSession, UndoGoesWhereItHappened) {
  Session session = session_of(2);
  session.add({0, 0, 10, 10});
  session.move_selected(5, 0);
  go_to(session, 1);
  session.add({1, 1, 10, 10});
  EXPECT_TRUE(session.undo());
  EXPECT_EQ(session.current(), 1u);
  EXPECT_TRUE(session.marks().empty());
  EXPECT_TRUE(session.undo());
  EXPECT_EQ(session.current(), 0u);
  EXPECT_THAT(boxes_of(session), ElementsAre(Box{0, 0, 10, 10}));
  EXPECT_TRUE(session.redo());
  EXPECT_THAT(boxes_of(session), ElementsAre(Box{5, 0, 10, 10}));
  EXPECT_THAT(session.truth().find("a")->at(0).box, (Box{5, 0, 10, 10}));
  session.toggle_ignore();  // nothing is selected: no step of its own
  EXPECT_TRUE(session.redo());
  EXPECT_FALSE(session.redo());
  session.undo();
  session.add({2, 2, 5, 5});
  EXPECT_FALSE(session.redo()) << "what was undone is gone once something else was done";
}

TEST(LabelSession, AStretchOfChangesIsOneStep) {
  Session session = session_of(1);
  session.add({0, 0, 10, 10});
  session.begin_edit();
  session.set_box(0, {1, 0, 10, 10});
  session.set_box(0, {2, 0, 10, 10});
  EXPECT_THAT(session.truth().find("a")->at(0).box, (Box{0, 0, 10, 10})) << "not before its end";
  session.end_edit();
  session.undo();
  EXPECT_THAT(boxes_of(session), ElementsAre(Box{0, 0, 10, 10}));
  session.begin_edit();
  session.add({5, 5, 5, 5});
  session.cancel_edit();
  EXPECT_THAT(boxes_of(session), ElementsAre(Box{0, 0, 10, 10}));
  EXPECT_EQ(session.selected(), std::nullopt);
  session.begin_edit();
  session.end_edit();
  EXPECT_TRUE(session.redo()) << "nothing changed is no step";
}

TEST(LabelSession, BoxesStayInThePicture) {
  Session session = session_of(1);
  session.add({150, 50, 40, 40});
  session.move_selected(100, 100);
  EXPECT_THAT(boxes_of(session), ElementsAre(Box{160, 60, 40, 40}));
  session.move_selected(-1000, -1000);
  session.grow_selected(1000, 5);
  EXPECT_THAT(boxes_of(session), ElementsAre(Box{0, 0, 200, 45}));
  session.grow_selected(-1000, 0);
  EXPECT_THAT(boxes_of(session), ElementsAre(Box{0, 0, 1, 45}));
}

TEST(LabelSession, BoxesOutsideAreKeptAndCanComeBack) {
  GroundTruth truth;
  truth.images["a"] = {{{-50, 10, 20, 20}}, {{190, 10, 20, 20}}, {{500, 500, 10, 10}}};
  Session session = session_of(1, truth);
  EXPECT_EQ(session.outside(), 2u);
  EXPECT_EQ(session.truth().images, truth.images);
  session.select(2);
  session.move_selected(1, 0);
  EXPECT_EQ(session.marks()[2].box, (Box{500, 500, 10, 10})) << "no further";
  session.move_selected(-400, -450);
  EXPECT_EQ(session.outside(), 1u);
}

TEST(LabelSession, ClassesOfTheFileAndOfTheUser) {
  GroundTruth truth;
  truth.labels = {{1, "car"}, {7, "person"}};
  truth.images["a"] = {{{0, 0, 9, 9}, false, 7}, {{1, 1, 9, 9}, false, 9}};
  Session session = session_of(1, truth, {"person", "dog"});
  std::vector<std::string> names;
  for (const Class& one : session.classes()) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("person", "dog", "car", "class 9"));
  EXPECT_EQ(session.marks()[0].label, 0);
  EXPECT_EQ(session.marks()[1].label, 3);
  session.choose_class(1);
  session.add({5, 5, 5, 5});
  EXPECT_EQ(session.truth().images.at("a")[0].label, 7) << "numbers of the file stay";
  EXPECT_EQ(session.truth().labels.at(session.truth().images.at("a")[2].label), "dog");
}

TEST(LabelSession, WhatHasNoClassGetsOneWhereThereIsAnother) {
  GroundTruth truth;
  truth.images["a"] = {{{0, 0, 9, 9}}};
  Session plain = session_of(1, truth);
  EXPECT_FALSE(plain.has_named_classes());
  EXPECT_EQ(plain.classes()[0].name, "object");
  plain.choose_class(plain.class_named("dog"));
  plain.add({5, 5, 5, 5});
  EXPECT_THAT(plain.truth().labels, ElementsAre(Pair(0, "object"), Pair(1, "dog")));
  EXPECT_THAT(session_of(1, truth, {"cat"}).truth().labels, ElementsAre(Pair(0, "cat")));
}

TEST(LabelSession, ProposalsAreNothingBeforeTheyAreConfirmed) {
  Session session = session_of(2);
  const std::vector<Mark> found{{{0, 0, 10, 10}}, {{20, 0, 10, 10}}, {{40, 0, 10, 10}}};
  session.propose(0, found);
  EXPECT_EQ(session.proposals(), 3u);
  EXPECT_TRUE(session.truth().images.empty());
  EXPECT_TRUE(session.changed().empty());
  session.select_next(1);
  EXPECT_EQ(session.selected(), 0u);
  EXPECT_TRUE(session.confirm_selected());
  EXPECT_EQ(session.selected(), 1u) << "the next one is selected";
  session.remove_selected();
  EXPECT_EQ(session.selected(), 1u);
  EXPECT_THAT(boxes_of(session), ElementsAre(Box{0, 0, 10, 10}, Box{40, 0, 10, 10}));
  EXPECT_EQ(session.truth().find("a")->size(), 1u);
  session.finish_picture();
  EXPECT_EQ(session.truth().find("a")->size(), 2u);
  session.propose(0, found);
  EXPECT_EQ(session.proposals(), 0u) << "once is enough";
  session.undo();
  EXPECT_EQ(session.proposals(), 1u);

  // Moving one is confirming it; what comes while something is drawn is not taken back with that.
  go_to(session, 1);
  session.begin_edit();
  session.add({50, 50, 10, 10});
  session.propose(1, found);
  session.cancel_edit();
  ASSERT_EQ(session.proposals(), 3u);
  session.select(0);
  session.move_selected(1, 1);
  EXPECT_THAT(*session.truth().find("b"), ElementsAre(TruthBox{{1, 1, 10, 10}}));
}

TEST(LabelSession, SeenPicturesGetNoProposals) {
  Session session = session_of(1);
  session.finish_picture();
  session.propose(0, std::vector<Mark>{{{0, 0, 10, 10}}});
  EXPECT_TRUE(session.marks().empty());
}

TEST(LabelSession, NextAndPreviousOfThoseNotSeen) {
  GroundTruth truth;
  truth.annotate("b");
  truth.annotate("c");
  Session session = session_of(4, truth);
  EXPECT_EQ(session.seen_count(), 2u);
  EXPECT_EQ(session.next(false), 1u);
  EXPECT_EQ(session.next(true), 3u);
  go_to(session, 3);
  EXPECT_EQ(session.next(true), std::nullopt);
  EXPECT_EQ(session.previous(true), 0u);
  EXPECT_EQ(session.previous(false), 2u);
}

TEST(LabelSession, OtherPicturesOfTheTruthStay) {
  GroundTruth truth;
  truth.images["elsewhere"] = {{{1, 2, 3, 4}}};
  Session session = session_of(1, truth);
  session.add({0, 0, 10, 10});
  EXPECT_EQ(session.truth().images.size(), 2u);
  EXPECT_EQ(session.truth().find("elsewhere")->size(), 1u);
}

TEST(LabelSession, RelativeBoxesAreInPixelsOnceThePictureIsOpened) {
  Session session({}, {}, true);
  const std::vector<TruthBox> known{{{0.25, 0.5, 0.1, 0.2}, false, 2}};
  session.add_picture("a", &known);
  session.opened(kSize);
  session.opened(kSize);
  EXPECT_THAT(boxes_of(session), ElementsAre(Box{50, 50, 20, 20}));
  EXPECT_EQ(session.truth().find("a")->at(0).box, (Box{50, 50, 20, 20}));
  EXPECT_EQ(session.truth().find("a")->at(0).label, 2);
  EXPECT_TRUE(session.changed().empty());
  EXPECT_EQ(session.truth().facts.at("a").size, kSize);
}

TEST(LabelSession, CopiesTheBoxesOfThePictureBefore) {
  Session session = session_of(2, {}, {"x", "y"});
  session.choose_class(1);
  session.add({10, 10, 10, 10});
  session.add({180, 10, 20, 10});
  go_to(session, 1);
  session.opened({190, 100});
  EXPECT_EQ(session.copy_previous(), 2u);
  EXPECT_THAT(boxes_of(session), ElementsAre(Box{10, 10, 10, 10}, Box{180, 10, 10, 10}));
  EXPECT_EQ(session.marks()[0].label, 1);
  session.undo();
  EXPECT_TRUE(session.marks().empty());
}

TEST(LabelSession, WhatCannotBeReadCannotBeMarked) {
  Session session = session_of(1);
  session.failed("it is gone");
  session.add({0, 0, 10, 10});
  session.finish_picture();
  EXPECT_TRUE(session.marks().empty());
  EXPECT_TRUE(session.changed().empty());
  session.opened(kSize);
  session.add({0, 0, 10, 10});
  EXPECT_EQ(session.marks().size(), 1u);
}

}  // namespace
}  // namespace sightline::labelling
