// How an executor runs.
#pragma once

#include <string>
#include <vector>

namespace ps {

struct Options {
  int threads = 1, io_threads = 1;
  int depth = 2;                       // batches which may hold output memory before they are taken
  int gpu_depth = 2;                   // of these, in the GPU's memory: the oldest
  int device = -1;                     // the GPU
  int priority = 0;                    // of its streams
  std::vector<int> cpus;               // thread i runs on cpus[i % n], other threads on any of them; empty: anywhere
  std::string name = "penstock";       // of the threads, as debuggers and top show it
  double read_timeout = 0;             // seconds in which a file must answer; 0: any number
};

// Names the calling thread, keeps signals from it, and binds it to these processors; none: it runs anywhere.
void prepare_thread(const std::string& name, int index, const std::vector<int>& cpus);

}  // namespace ps
