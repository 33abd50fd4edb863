// What the compiler's libstdc++ takes from its own glibc, and older ones lack: linked into each library of a wheel.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
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

typedef int (*cond_clockwait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);

// glibc 2.30, for std::condition_variable with a steady clock. Where the system has it, it is that. Elsewhere the wait
// ends by the system's time, as libstdc++ did without it: whoever waits looks at the clock that he meant.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* until) {
  static _Atomic(cond_clockwait) known;
  cond_clockwait found = known;
  if (!found && (found = (cond_clockwait)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"))) known = found;
  if (found) return found(condition, mutex, clock, until);
  struct timespec now, end;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += until->tv_sec - now.tv_sec;
  end.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (end.tv_nsec < 0) end.tv_nsec += 1000000000, end.tv_sec--;
  if (end.tv_nsec >= 1000000000) end.tv_nsec -= 1000000000, end.tv_sec++;
  return pthread_cond_timedwait(condition, mutex, &end);
}
