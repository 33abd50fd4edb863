// A plugin for QEMU that counts the instructions a program executes, and prints them at its end. The declarations are of
// QEMU's interface for plugins, version 1, whose header Debian does not pack.
#include <inttypes.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
typedef uint64_t plugin_id;
enum { kAdd = 0 };                                           // what is done to the number at each execution

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb*));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, int, void*, uint64_t);
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void*), void*);

EXPORT int qemu_plugin_version = 1;

static uint64_t executed;

static void translated(plugin_id id, struct qemu_plugin_tb* block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(block, kAdd, &executed, qemu_plugin_tb_n_insns(block));
}

static void ended(plugin_id id, void* data) {
  (void)id, (void)data;
  fprintf(stderr, "instructions: %" PRIu64 "\n", executed);
}

EXPORT int qemu_plugin_install(plugin_id id, const void* info, int count, char** words) {
  (void)info, (void)count, (void)words;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, 0);
  return 0;
}
