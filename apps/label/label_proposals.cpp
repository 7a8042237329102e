#include "apps/label/label_proposals.hpp"

#include <oneapi/tbb/task_arena.h>

namespace sightline::apps {

LabelProposals::LabelProposals(DetectorEngine engine, std::function<void()> answered)
    : engine_(std::move(engine)), answered_(std::move(answered)), thread_([this] { work(); }) {}

LabelProposals::~LabelProposals() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LabelProposals::ask(std::size_t picture, const Frame& frame) {
  const std::lock_guard lock(mutex_);
  question_ = Question{picture, frame};
  changed_.notify_all();
}

std::optional<LabelProposals::Answer> LabelProposals::take() {
  const std::lock_guard lock(mutex_);
  if (answers_.empty()) return std::nullopt;
  Answer answer = std::move(answers_.back());
  answers_.pop_back();
  return answer;
}

bool LabelProposals::is_busy() const {
  const std::lock_guard lock(mutex_);
  return question_ || is_searching_;
}

void LabelProposals::work() {
  oneapi::tbb::task_arena arena(engine_.threads > 0 ? engine_.threads : oneapi::tbb::task_arena::automatic);
  const auto workspace = engine_.detector().make_workspace();
  for (;;) {
    std::unique_lock lock(mutex_);
    is_searching_ = false;
    changed_.wait(lock, [this] { return is_over_ || question_; });
    if (is_over_) return;
    const Question question = std::move(*question_);
    question_.reset();
    is_searching_ = true;
    lock.unlock();
    Answer answer{question.picture, {}, {}};
    try {
      arena.execute([&] { answer.found = detect(engine_.detector(), *workspace, question.frame.view()); });
    } catch (const std::exception& error) {
      answer.problem = error.what();
    }
    lock.lock();
    answers_.push_back(std::move(answer));
    is_searching_ = false;
    lock.unlock();
    answered_();
  }
}

}  // namespace sightline::apps
