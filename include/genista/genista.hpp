// All filters, the remote map in memory, and what is needed to save and load a filter: one include
// to start with.
//
// Most people want broom_filter (filters/broom.hpp) before a slow store, or blocked_bloom_filter
// where nothing can be read back to learn from. docs/choosing.md compares them all. A program that
// compiles often should include the one header it uses.
//
// Not included: the guarded stores over RocksDB (stores/rocksdb/guarded_db.hpp, clustered_db.hpp),
// which need its headers.
#pragma once

#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/bloomier.hpp"
#include "genista/filters/broom.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/daisy_bloom.hpp"
#include "genista/filters/daisy_broom.hpp"
#include "genista/filters/daisy_fingerprint.hpp"
#include "genista/filters/daisy_sampling.hpp"
#include "genista/filters/lossy.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/filters/succinct_set.hpp"
#include "genista/filters/with_oracle.hpp"
#include "genista/format/mapped_file.hpp"
#include "genista/guard/guarded.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "genista/remote/memory_map.hpp"
#include "genista/version.hpp"
