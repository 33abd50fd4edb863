// The C ABI over what readers read from.
#include "abi/guard.h"
#include "penstock.h"
#include "read/archive.h"
#include "read/memory_files.h"
#include "read/records.h"
#include "read/storage.h"

using namespace ps;

struct ps_archive {
  Members members;
};
struct ps_record_table {
  RecordTable records;
};

int ps_memory_file(const char* name, const void* data, int64_t bytes) {
  return guarded([&] {
    if (data) put_memory_file(name, data, size_t(bytes));
    else remove_memory_file(name);
    return 0;
  });
}

ps_archive* ps_archive_read(const char* path, int is_index, ps_members* to) {
  std::unique_ptr<ps_archive> read;
  guarded([&] {
    storage_of(path).renew(path);
    read = std::make_unique<ps_archive>(ps_archive{is_index ? read_tar_index(path) : read_tar(path)});
    return 0;
  });
  if (!read) return nullptr;
  const Members& m = read->members;
  to->files = int64_t(m.offsets().size());
  to->samples = m.samples();
  to->offsets = m.offsets().data();
  to->bytes = m.bytes().data();
  to->sample = m.sample().data();
  to->extension = m.extension().data();
  to->names = m.names().data();
  to->names_bytes = int64_t(m.names().size());
  to->extensions = m.extensions().data();
  to->extensions_bytes = int64_t(m.extensions().size());
  return read.release();
}

void ps_archive_destroy(ps_archive* archive) { delete archive; }

ps_record_table* ps_record_table_read(const char* path, int format, ps_records* to) {
  std::unique_ptr<ps_record_table> read;
  guarded([&] {
    storage_of(path).renew(path);
    switch (format) {
      case PS_RECORDS_TFRECORD: read = std::make_unique<ps_record_table>(ps_record_table{scan_tfrecord(path)}); break;
      case PS_RECORDS_RECORDIO: read = std::make_unique<ps_record_table>(ps_record_table{scan_recordio(path)}); break;
      case PS_RECORDS_LMDB: read = std::make_unique<ps_record_table>(ps_record_table{scan_lmdb(path)}); break;
      case PS_RECORDS_TEXT: read = std::make_unique<ps_record_table>(ps_record_table{read_record_text(path)}); break;
      default: fail(ErrorKind::argument, "there is no format of records " + std::to_string(format));
    }
    return 0;
  });
  if (!read) return nullptr;
  const RecordTable& r = read->records;
  to->records = int64_t(r.offsets.size());
  to->offsets = r.offsets.data();
  to->bytes = r.bytes.data();
  to->names = r.names.data();
  to->names_bytes = int64_t(r.names.size());
  return read.release();
}

void ps_record_table_destroy(ps_record_table* table) { delete table; }
