#pragma once
// Drops root's privileges, to test file permissions.

#include <gtest/gtest.h>
#include <unistd.h>

namespace sightline::test {

/// Makes the process another user's for as long as it lives, where it could read and write everything.
class Unprivileged {
 public:
  Unprivileged() : before_(geteuid()) { EXPECT_TRUE(before_ != 0 || seteuid(65534) == 0); }
  ~Unprivileged() { EXPECT_EQ(seteuid(before_), 0); }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

 private:
  const uid_t before_;
};

}  // namespace sightline::test
