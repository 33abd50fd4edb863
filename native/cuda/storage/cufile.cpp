#include "cuda/storage/cufile.h"

#include <map>

#include "cuda/driver/libraries.h"

namespace ps::gpu::cufile {
namespace {

constexpr const char* kTitle = "cuFile";

Api find_functions() {
  void* library = open_library("cufile", kTitle, {"libcufile.so.0"},
                               "libcufile.so.0 was not found: pip install penstock[gds] brings it");
  Api a;
#define PS_FIND(name, ...) find_function(library, kTitle, #name, a.name);
  PS_CUFILE_FUNCTIONS(PS_FIND)
#undef PS_FIND
  return a;
}

}  // namespace

// A failure is tried again: the next call throws it anew.
const Api& api() {
  static const Api found = find_functions();
  return found;
}

std::string meaning(int code) {
  static const auto& known = *new std::map<int, const char*>{
      {5001, "its driver is not open"},
      {5004, "the module nvidia-fs is of another version"},
      {5005, "the version of the module nvidia-fs cannot be read"},
      {5006, "it is being closed"},
      {5007, "this platform is not supported"},
      {5008, "the file, or its file system, is not supported"},
      {5009, "this GPU is not supported"},
      {5010, "the module nvidia-fs failed"},
      {5011, "CUDA's driver failed"},
      {5012, "the address is not one of the GPU's"},
      {5013, "the memory is of a kind that it does not take"},
      {5014, "the range is no single block of memory"},
      {5015, "another context is current"},
      {5016, "the GPU's window for other devices (BAR1) is too small"},
      {5018, "files of this type are not supported"},
      {5019, "the file was opened in another way"},
      {5020, "the file was opened without O_DIRECT"},
      {5022, "an argument is not valid"},
      {5025, "permission is denied"},
      {5028, "the file is registered already"},
      {5030, "it failed inside"},
      {5033, "the module nvidia-fs cannot be set up"},
      {5034, "its configuration excludes the file"},
      {5036, "the GPU's memory cannot be pinned"},
      {5043, "it has no memory"},
      {5044, "the file cannot be read"},
  };
  const auto found = known.find(code);
  return (found == known.end() ? "it failed" : std::string(found->second)) + " (" + std::to_string(code) + ")";
}

}  // namespace ps::gpu::cufile
