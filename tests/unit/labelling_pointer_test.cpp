#include "labelling/pointer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sightline::labelling {
namespace {

using ::testing::ElementsAre;

TEST(LabelViewport, SeesTheWholePictureAtFirst) {
  Viewport view;
  view.set({200, 100}, 1, {424, 424});
  EXPECT_DOUBLE_EQ(view.scale(), 2);
  EXPECT_EQ(view.to_output({0, 0}), (Point{12, 112}));
  EXPECT_EQ(view.to_picture({412, 312}), (Point{200, 100}));
  EXPECT_EQ(view.visible(), (Box{0, 0, 200, 100}));
  view.set({200, 100}, 1, {524, 424}, 100);
  EXPECT_EQ(view.to_output({0, 0}), (Point{112, 112})) << "beside what is on the left";
  view.set({100, 100}, 2, {424, 424});
  EXPECT_EQ(view.to_output({100, 100}), (Point{412, 312})) << "pixels that are twice as wide";
}

TEST(LabelViewport, ZoomsAroundThePointer) {
  Viewport view;
  view.set({200, 100}, 1, {424, 424});
  const Point at{100, 200}, before = view.to_picture(at);
  view.zoom(3, at);
  EXPECT_NEAR(view.scale(), 6, 1e-9);
  EXPECT_NEAR(view.to_picture(at).x, before.x, 0.5 / 6);
  EXPECT_NEAR(view.to_picture(at).y, before.y, 0.5 / 6);
  const Box seen = view.visible();
  EXPECT_GT(seen.x, 0);
  EXPECT_LT(seen.width, 200);
  for (int i = 0; i < 4; ++i) {
    view.pan(-6, -6);  // a pixel of the picture
    EXPECT_EQ(static_cast<int>(view.visible().x) % 2, 0) << "where chroma begins";
    EXPECT_EQ(static_cast<int>(view.visible().y) % 2, 0);
  }
  view.zoom(1000, at);
  EXPECT_DOUBLE_EQ(view.scale(), Viewport::kMaxScale);
  for (int i = 0; i < 50; ++i) view.zoom(0.5, at);
  EXPECT_DOUBLE_EQ(view.scale(), 2) << "no smaller than whole";
  EXPECT_TRUE(view.is_fitted());
}

TEST(LabelViewport, NeverLosesThePicture) {
  Viewport view;
  view.set({200, 100}, 1, {424, 424});
  view.zoom(4, {200, 200});
  for (const Point& by : {Point{1e6, 1e6}, {-1e7, -1e7}, {1e7, -1e7}}) {
    view.pan(by.x, by.y);
    EXPECT_GT(view.visible().width, 0);
    EXPECT_GT(view.visible().height, 0);
  }
  // A part of it stays in sight where the window shrinks; another picture is seen whole.
  view.set({200, 100}, 1, {60, 60});
  EXPECT_GT(view.visible().area(), 0);
  view.set({50, 400}, 1, {424, 424});
  EXPECT_EQ(view.visible(), (Box{0, 0, 50, 400}));
}

// A picture of 200x100 at twice its size, its corner at 12, 112.
class LabelPointer : public ::testing::Test {
 protected:
  LabelPointer() {
    session_.add_picture("a");
    session_.opened({200, 100});
    view_.set({200, 100}, 1, {424, 424});
  }
  static Point on(double x, double y) { return {12 + 2 * x, 112 + 2 * y}; }
  void drag(Point from, Point to, bool draws = false) {
    tool_.press(from, draws);
    tool_.move({(from.x + to.x) / 2, (from.y + to.y) / 2});
    tool_.move(to);
    tool_.release(to);
  }
  void click(Point at) {
    tool_.press(at, false);
    tool_.move({at.x + 1, at.y});
    tool_.release({at.x + 1, at.y});
  }
  std::vector<Box> boxes() const {
    std::vector<Box> all;
    for (const Mark& mark : session_.marks()) all.push_back(mark.box);
    return all;
  }

  Session session_{{}, {}};
  Viewport view_;
  PointerTool tool_{session_, view_};
};

TEST_F(LabelPointer, DrawsInAnyDirectionWithinThePicture) {
  drag(on(10, 20), on(40.2, 59.9));
  drag(on(150, 90), on(300, -50));
  EXPECT_THAT(boxes(), ElementsAre(Box{10, 20, 30, 40}, Box{150, 0, 50, 90}));
  EXPECT_EQ(session_.selected(), 1u);
  session_.undo();
  EXPECT_THAT(boxes(), ElementsAre(Box{10, 20, 30, 40})) << "a drag is one step";
}

TEST_F(LabelPointer, ClicksAndTinyBoxesDrawNothing) {
  click(on(50, 50));
  drag(on(50, 50), {on(50, 50).x + 40, on(50, 50).y + 2});
  EXPECT_TRUE(boxes().empty());
  EXPECT_TRUE(session_.changed().empty());
  EXPECT_FALSE(session_.undo());
}

TEST_F(LabelPointer, ClicksSelectTheSmallestBox) {
  session_.add({10, 10, 100, 80});
  session_.add({40, 30, 20, 20});
  session_.select(std::nullopt);
  click(on(50, 45));
  EXPECT_EQ(session_.selected(), 1u);
  click(on(20, 80));
  EXPECT_EQ(session_.selected(), 0u);
  click(on(150, 50));
  EXPECT_EQ(session_.selected(), std::nullopt);
}

TEST_F(LabelPointer, MovesTheSelectedBox) {
  session_.add({40, 30, 40, 40});
  drag(on(60, 50), on(70.4, 45));
  EXPECT_THAT(boxes(), ElementsAre(Box{50, 25, 40, 40}));
  drag(on(60, 50), on(500, 50));
  EXPECT_THAT(boxes(), ElementsAre(Box{160, 25, 40, 40})) << "no further than the edge";
}

TEST_F(LabelPointer, ResizesByEdgesAndCorners) {
  session_.add({40, 30, 40, 40});
  EXPECT_EQ(tool_.grip_at(on(80, 70)), (Grip{Grip::Kind::edge, 0, 1, 1}));
  EXPECT_EQ(tool_.grip_at(on(40, 55)), (Grip{Grip::Kind::edge, 0, -1, 0}));
  EXPECT_EQ(tool_.grip_at(on(60, 50)), (Grip{Grip::Kind::body, 0, 0, 0}));
  EXPECT_EQ(tool_.grip_at(on(100, 50)), Grip{});
  drag(on(80, 70), on(100, 90));
  drag(on(40, 60), on(30, 5));
  EXPECT_THAT(boxes(), ElementsAre(Box{30, 30, 70, 60}));
  drag(on(30, 60), on(110, 60));
  EXPECT_THAT(boxes(), ElementsAre(Box{100, 30, 10, 60})) << "an edge may pass the other";
}

TEST_F(LabelPointer, OthersAreResizedByTheirEdgesAndDrawnInOtherwise) {
  session_.add({40, 30, 40, 40});
  session_.select(std::nullopt);
  EXPECT_EQ(tool_.grip_at(on(60, 50)), Grip{});
  drag(on(50, 40), on(60, 55));
  EXPECT_THAT(boxes(), ElementsAre(Box{40, 30, 40, 40}, Box{50, 40, 10, 15}));
  session_.select(std::nullopt);
  drag(on(80, 50), on(90, 50));
  EXPECT_EQ(boxes()[0], (Box{40, 30, 50, 40}));
  EXPECT_EQ(session_.selected(), 0u);
}

TEST_F(LabelPointer, ShiftDrawsWhateverIsThere) {
  session_.add({40, 30, 40, 40});
  drag(on(45, 35), on(60, 50), true);
  EXPECT_THAT(boxes(), ElementsAre(Box{40, 30, 40, 40}, Box{45, 35, 15, 15}));
}

TEST_F(LabelPointer, CancellingLeavesAllAsItWas) {
  session_.add({40, 30, 40, 40});
  tool_.press(on(60, 50), false);
  tool_.move(on(90, 50));
  tool_.cancel();
  tool_.move(on(95, 50));
  tool_.release(on(95, 50));
  EXPECT_THAT(boxes(), ElementsAre(Box{40, 30, 40, 40}));
  session_.select(std::nullopt);
  tool_.press(on(120, 50), false);
  tool_.move(on(150, 90));
  tool_.cancel();
  EXPECT_EQ(boxes().size(), 1u);
}

TEST_F(LabelPointer, SmallBoxesCanStillBeMoved) {
  session_.add({40, 30, 4, 4});
  EXPECT_EQ(tool_.grip_at(on(42, 32)).kind, Grip::Kind::body);
  EXPECT_EQ(tool_.grip_at(on(44, 34)).kind, Grip::Kind::edge);
}

TEST_F(LabelPointer, NothingHappensToWhatCannotBeRead) {
  session_.failed("gone");
  drag(on(10, 10), on(50, 50));
  EXPECT_TRUE(boxes().empty());
}

}  // namespace
}  // namespace sightline::labelling
