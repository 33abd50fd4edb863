#include "decode/jpeg/index_writer.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "core/error.h"

namespace ps::jpeg {

IndexWriter::IndexWriter(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wbe"), std::fclose) {
  if (!file_) refuse();
  const IndexHead none{};              // a file that is not finished is no index
  write(&none, sizeof none);
}

Indexed IndexWriter::add(const uint8_t* data, size_t size) {
  if (!is_jpeg(data, size)) return Indexed::not_jpeg;
  Header header;
  if (!parse(data, size, header)) return Indexed::broken;
  if (!header.supported) return Indexed::other_kind;
  thread_local OwnScanIndex index;
  if (!index_scan(data, size, header, index)) return Indexed::broken;
  const FileKey key(data, size, header.scan);
  IndexRecord record{0, key.check, index.content, size, uint32_t(index.rows.size()),
                     uint32_t(index.subsequences.size()), index.bits, 0};
  std::vector<uint8_t> bytes((record.bytes() + 7) / 8 * 8);
  uint8_t* rows = bytes.data() + sizeof record;
  std::memcpy(rows, index.rows.data(), index.rows.size() * sizeof(IndexRow));
  std::memcpy(rows + index.rows.size() * sizeof(IndexRow), index.subsequences.data(),
              index.subsequences.size() * sizeof(IndexSubsequence));
  record.sum = record.expected_sum(rows);
  std::memcpy(bytes.data(), &record, sizeof record);

  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = written_.try_emplace(key.key, Written{at_, index.content, false});
  if (is_new) write(bytes.data(), bytes.size());
  else found->second.ambiguous |= found->second.content != index.content;
  return Indexed::yes;
}

void IndexWriter::finish() {
  const std::lock_guard lock(mutex_);
  if (error_) refuse();
  std::vector<IndexEntry> entries;
  for (const auto& [key, written] : written_)
    if (!written.ambiguous) entries.push_back({key, written.place});
  std::sort(entries.begin(), entries.end(), [](const IndexEntry& a, const IndexEntry& b) { return a.key < b.key; });
  IndexHead head{};
  std::memcpy(head.magic, IndexHead::kMagic, sizeof head.magic);
  head.version = IndexHead::kVersion;
  head.entries = entries.size();
  head.table = at_;
  write(entries.data(), entries.size() * sizeof(IndexEntry));
  head.bytes = at_;
  head.sum = head.expected_sum();
  // The head comes last, when all else is on the disk.
  if (std::fflush(file_.get()) || ::fsync(::fileno(file_.get())) || std::fseek(file_.get(), 0, SEEK_SET)) refuse();
  write(&head, sizeof head);
  if (std::fflush(file_.get()) || ::fsync(::fileno(file_.get()))) refuse();
}

void IndexWriter::write(const void* data, size_t size) {
  if (size && std::fwrite(data, size, 1, file_.get()) != 1) refuse();
  at_ += size;
}

void IndexWriter::refuse() {
  if (!error_) error_ = errno;
  fail(ErrorKind::read, "the index " + path_ + " cannot be written: " + std::strerror(error_));
}

}  // namespace ps::jpeg
