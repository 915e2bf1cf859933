// fail_point: named places at which a test may stop the process, as a crash would.
//
// Each is one relaxed load, in code that has just called the store or the disk. The names, in the
// order in which a write and a snapshot pass them:
//
//     guard.entered  store.committed  guard.inserted          a put
//     guard.key_inserted                                      each key of a batch
//     store.removed  guard.forgotten                          an erase
//     snapshotter.marked  snapshotter.saved  snapshotter.log_synced  snapshotter.written
//     snapshotter.renamed  snapshotter.pruned                 a snapshot
//     index.started  index.batch  index.filled  index.ready   an existing database is indexed
//     ingest.announced  ingest.done                           files are ingested
//     range.committed  range.piece_read  range.piece_written
//     range.cleared                                           a range is deleted
//     unguard.files  unguard.family  unguard.done             the guard is removed from a database
//     read.sieved  read.missed                                after the filter; before an adapt
#pragma once

#include <atomic>

namespace genista {

using fail_point_hook = void (*)(const char* name);

inline std::atomic<fail_point_hook> at_fail_point{nullptr};

inline void fail_point(const char* name) {
    if (const fail_point_hook hook = at_fail_point.load(std::memory_order_relaxed); hook != nullptr) hook(name);
}

}  // namespace genista
