// What an archive has in it, and how WebDataset makes samples of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ps {

// The files of an archive in order, as columns. A file whose name differs from that of the file before, up to the first
// dot of its last part, begins another sample; what follows that dot is its extension.
class Members {
 public:
  void add(std::string_view name, int64_t offset, int64_t bytes);   // hidden files are left out
  void begin_sample() { samples_++; }
  void add(std::string_view extension, std::string_view name, int64_t offset, int64_t bytes);   // of this sample

  int64_t samples() const { return samples_; }
  const std::vector<int64_t>& offsets() const { return offsets_; }
  const std::vector<int64_t>& bytes() const { return bytes_; }
  const std::vector<int64_t>& sample() const { return sample_; }
  const std::vector<int32_t>& extension() const { return extension_; }
  const std::string& names() const { return names_; }             // each with a zero at its end
  const std::string& extensions() const { return extensions_; }   // likewise, by number

 private:
  int64_t samples_ = 0;
  std::vector<int64_t> offsets_, bytes_, sample_;
  std::vector<int32_t> extension_;                 // which one
  std::string names_, extensions_, last_;
  std::map<std::string, int32_t, std::less<>> numbers_;
};

inline constexpr int64_t kTarBlock = 512;             // headers and files begin at multiples of it

// By the headers of a tar archive, of any storage: POSIX's (pax) and GNU's names of any length and sizes among them.
// Throws Error(read) where it is none; a file that the archive's end cuts off is there, and fails when it is read.
Members read_tar(const char* path);

// By an index that wds2idx has made of one (v1.1 and v1.2). Throws Error(read) that names the line.
Members read_tar_index(const char* path);

}  // namespace ps
