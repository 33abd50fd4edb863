// NVRTC's functions, with g++ in its place: what they make is for the software driver beside them. SOFTWARE_GPU_FLAGS
// are further options for g++, such as -fsanitize=undefined.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler.h"
#include "image.h"

namespace {

enum nvrtcResult : int { kSuccess = 0, kInvalidInput = 3, kInvalidProgram = 4, kCompilation = 6, kInternalError = 11 };

struct Program {
  std::string source, name, log, image;
};
using nvrtcProgram = Program*;

// Runs one block of the kernel. The argument's type is the kernel's own affair.
constexpr const char* kEntries = R"(
#line 1 "software_launch"
namespace software_gpu {
template <class A> constexpr unsigned argument_bytes(void (*)(A)) { return sizeof(A); }
template <class A> void run(void (*kernel)(A), const void* argument) { kernel(*static_cast<const A*>(argument)); }
}
extern "C" {
extern const unsigned software_argument_bytes = software_gpu::argument_bytes(kernel);
void software_launch(const void* argument, unsigned block, unsigned char* shared) {
  ps::device::block_index = block;
  ps::device::shared_memory = shared;
  software_gpu::run(kernel, argument);
}
}
)";

// Of NVRTC's options, those that g++ has too: folders of headers, and macros.
std::vector<std::string> options_for_compiler(int count, const char* const* options) {
  static constexpr struct { const char *theirs, *ours; } known[] = {
      {"--include-path", "-I"}, {"-I", "-I"}, {"--define-macro", "-D"}, {"-D", "-D"}};
  std::vector<std::string> all;
  for (int i = 0; i < count; i++) {
    for (const auto& [theirs, ours] : known) {
      if (std::strncmp(options[i], theirs, std::strlen(theirs)) != 0) continue;
      const char* value = options[i] + std::strlen(theirs);
      if (!*value && i + 1 < count) value = options[++i];
      all.push_back(std::string(ours).append(*value == '=' ? value + 1 : value));
      break;
    }
  }
  return all;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

nvrtcResult give(const std::string& text, bool terminated, char* to) {
  std::memcpy(to, text.data(), text.size());
  if (terminated) to[text.size()] = '\0';
  return kSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) {
  switch (result) {
    case kSuccess: return "NVRTC_SUCCESS";
    case kInvalidInput: return "NVRTC_ERROR_INVALID_INPUT";
    case kInvalidProgram: return "NVRTC_ERROR_INVALID_PROGRAM";
    case kCompilation: return "NVRTC_ERROR_COMPILATION";
    case kInternalError: return "NVRTC_ERROR_INTERNAL_ERROR";
  }
  return "NVRTC_ERROR unknown";
}

// One that no NVRTC has: kernels that are kept say what compiled them.
nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 99;
  return kSuccess;
}

// Headers come from folders alone.
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int headers,
                               const char* const*, const char* const*) {
  if (!program || !source || headers) return kInvalidInput;
  *program = new Program{source, name ? name : "default_program", {}, {}};
  return kSuccess;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (!program || !*program) return kInvalidProgram;
  delete *program;
  *program = nullptr;
  return kSuccess;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  if (!program) return kInvalidProgram;
  try {
    const software_gpu::TemporaryFolder folder;
    const std::string line = "#line 1 \"" + program->name + "\"\n";
    std::ofstream(folder.path() / "kernel.cpp") << line << program->source << kEntries;
    const bool compiled = software_gpu::compile(folder.path(), options_for_compiler(count, options));
    program->log = read_file(folder.path() / "log");
    if (!compiled) return kCompilation;
    const std::string library = read_file(folder.path() / "kernel.so");
    software_gpu::ImageHeader header{{}, library.size()};
    std::memcpy(header.magic, software_gpu::kImageMagic, sizeof header.magic);
    program->image.assign(reinterpret_cast<const char*>(&header), sizeof header);
    program->image += library;
    return kSuccess;
  } catch (const std::exception& e) {
    program->log = e.what();
    return kInternalError;
  }
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* size) {
  if (!program) return kInvalidProgram;
  *size = program->log.size() + 1;
  return kSuccess;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return program ? give(program->log, true, log) : kInvalidProgram;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
  if (!program || program->image.empty()) return kInvalidProgram;
  *size = program->image.size();
  return kSuccess;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) {
  return program && !program->image.empty() ? give(program->image, false, image) : kInvalidProgram;
}

// The driver takes either, and here they are the same.
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* size) { return nvrtcGetCUBINSize(program, size); }
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* image) { return nvrtcGetCUBIN(program, image); }

}  // extern "C"
#pragma GCC visibility pop
