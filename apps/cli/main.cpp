// Without anything else: programs of tests link it with commands and families of their own.
#include "apps/cli/program.hpp"

int main(int argc, char** argv) {
  return sightline::apps::run_program(argc, argv);
}
