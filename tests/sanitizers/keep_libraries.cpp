// Part of the program in sanitizer builds: no library is unloaded before the end. What one still holds when
// it is unloaded (Mesa's software renderer: 128 bytes) would count as a leak of a module without a name,
// which no suppression can speak of.
#include <dlfcn.h>

extern "C" int dlclose(void*) noexcept {
  return 0;
}
