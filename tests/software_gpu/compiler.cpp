#include "compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <stdexcept>

namespace software_gpu {
namespace {

namespace fs = std::filesystem;

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

// Runs a program in the folder, and adds what it says to the file `log` there.
bool run(const fs::path& folder, const std::vector<std::string>& words) {
  std::vector<char*> arguments, environment;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  for (char** entry = environ; *entry; entry++)
    if (std::strncmp(*entry, "LD_PRELOAD=", 11) != 0) environment.push_back(*entry);    // that is for this process
  environment.push_back(nullptr);

  const std::string log = folder / "log";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error) throw std::runtime_error(words[0] + " cannot be run: " + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Where this library lies.
fs::path own_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&own_folder), &info)) throw std::runtime_error("dladdr");
  return fs::path(info.dli_fname).parent_path();
}

// What has g++ read the standard headers of all kernels, for it needs two thirds of its time for their text: they are
// compiled once for each set of options, and kept beside this library. Where that fails, kernels include them as ever.
std::vector<std::string> precompiled(const std::vector<std::string>& compiler) {
  static std::mutex lock;
  const std::lock_guard guard(lock);
  std::string all;
  for (const std::string& word : compiler) all += word + ' ';
  std::ostringstream name;
  name << std::hex << std::hash<std::string>()(all);
  const fs::path folder = own_folder() / "headers", kept = folder / name.str();
  std::error_code failed;
  if (!fs::exists(kept, failed)) {
    fs::create_directories(folder, failed);
    std::string unfinished = folder / "XXXXXX";
    if (!mkdtemp(unfinished.data())) return {};
    const fs::path made = unfinished;
    std::ofstream(made / "standard.h") << "#include <cmath>\n#include <cstdint>\n#include <cstring>\n";
    std::vector<std::string> words = compiler;
    words.insert(words.end(), {"-x", "c++-header", "standard.h", "-o", "standard.h.gch"});
    // Another process may have been faster: its headers are as good.
    if (run(made, words)) fs::rename(made, kept, failed);
    fs::remove_all(made, failed);
    if (!fs::exists(kept, failed)) return {};
  }
  return {"-include", kept / "standard.h"};
}

// The highest level of which all that kernels are made of runs here.
std::vector<std::string> processor_flags() {
#if defined(__x86_64__)
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  return {v3 ? "-march=x86-64-v3" : "-march=x86-64-v2"};
#else
  return {};
#endif
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = fs::temp_directory_path() / "software_gpu_XXXXXX";
  if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp: " + std::string(std::strerror(errno)));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

bool compile(const fs::path& folder, const std::vector<std::string>& options) {
  std::vector<std::string> further;
  const char* text = std::getenv("SOFTWARE_GPU_FLAGS");
  std::istringstream flags(text ? text : "");
  for (std::string flag; flags >> flag;) further.push_back(flag);

  // Names without a folder, and linking by itself: so ccache knows the same source again. It wants no precompiled
  // headers.
  std::vector<std::string> words;
  const bool cached = on_path("ccache");
  const auto add = [&](const std::vector<std::string>& more) { words.insert(words.end(), more.begin(), more.end()); };
  add({"g++", "-std=c++20", "-O1", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fPIC",
       "-fno-gnu-unique", "-DPS_SOFTWARE_GPU"});
  add(processor_flags());
  add(further);
  if (cached) words.insert(words.begin(), "ccache");
  else add(precompiled(words));
  add(options);
  add({"-c", "kernel.cpp", "-o", "kernel.o"});
  if (!run(folder, words)) return false;
  words = {"g++", "-shared", "-Wl,-Bsymbolic"};
  add(further);
  add({"kernel.o", "-o", "kernel.so"});
  return run(folder, words);
}

}  // namespace software_gpu
