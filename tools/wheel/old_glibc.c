// What the compiler's libstdc++.a takes from its own glibc, and older ones lack: linked into each library of a wheel.
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.32. Zero says that there may be threads: counts of references are always changed atomically.
HIDDEN char __libc_single_threaded = 0;

// glibc 2.36, for std::random_device. By the system call, since getrandom() is of glibc 2.25.
HIDDEN uint32_t arc4random(void) {
  uint32_t number;
  if (syscall(SYS_getrandom, &number, sizeof number, 0) != sizeof number) abort();
  return number;
}
