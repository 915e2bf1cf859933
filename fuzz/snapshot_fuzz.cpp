// snapshot_fuzz: a libFuzzer target: any bytes into open_snapshot and the loader of every filter
// (reliability.md: rule 4, loading any byte string gives a filter or an error).
//
// Each input is tried twice: unchanged, and with lengths, key id and both checksums repaired,
// because a mutation almost never passes a checksum, and all code worth attacking is behind it. A
// filter that loads is used like any other (tests/support/snapshot_exercise.hpp). A broken promise
// traps; the sanitizers find the rest.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "format/snapshot_stream.hpp"
#include "genista/detail/format/snapshot.hpp"
#include "genista/filters/adaptive_bloom.hpp"
#include "genista/filters/blocked_bloom.hpp"
#include "genista/filters/bloom.hpp"
#include "genista/filters/bloomier.hpp"
#include "genista/filters/cascade.hpp"
#include "genista/filters/cleary.hpp"
#include "genista/filters/cuckoo_partial.hpp"
#include "genista/filters/cuckooing.hpp"
#include "genista/filters/optimal_filter.hpp"
#include "genista/filters/with_oracle.hpp"
#include "genista/oracles/oracle_model.hpp"
#include "tests/support/broom_snapshot_exercise.hpp"
#include "tests/support/daisy_snapshot_exercise.hpp"
#include "tests/support/fix_checksums.hpp"
#include "tests/support/learning_snapshot_exercise.hpp"
#include "tests/support/oracle_snapshot_exercise.hpp"
#include "tests/support/snapshot_exercise.hpp"
#include "tests/support/succinct_snapshot_exercise.hpp"

namespace {

using namespace genista;

void demand(bool kept, const char* promise) {
    if (kept) return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
}

// Reads the parameters as fields of widths chosen by the bytes themselves: the reader must accept
// any.
void read_fields(std::span<const std::byte> parameters) {
    field_reader reader{parameters};
    std::size_t asked = 0;
    for (std::uint8_t choice = 1; choice != 0 && !reader.failed() && !reader.finished(); asked += 1) {
        choice = reader.u8();
        std::byte copied[16];
        switch (choice % 6) {
            case 0:
                asked += 2, static_cast<void>(reader.u16());
                break;
            case 1:
                asked += 4, static_cast<void>(reader.u32());
                break;
            case 2:
                asked += 8, static_cast<void>(reader.u64());
                break;
            case 3:
                asked += 8, static_cast<void>(reader.f64());
                break;
            case 4:
                asked += choice, static_cast<void>(reader.bytes(choice));
                break;
            default:
                asked += sizeof copied, reader.copy(copied);
                break;
        }
    }
    demand(reader.failed() == (asked > parameters.size()), "field_reader fails exactly past the end");
}

// Whether it was loaded. Traps if a promise was broken.
bool judged(const test::exercise_outcome& outcome) {
    demand(outcome.broken == nullptr, outcome.broken);
    return outcome.loaded;
}

template <class Filter>
bool exercise(std::span<const std::byte> bytes) {
    return judged(test::exercise_snapshot<Filter>(bytes));
}

bool exercise_model(std::span<const std::byte> bytes) {
    const result<oracle_model> model = oracle_model::load(bytes);
    if (!model) return false;
    vector_sink again;
    demand(static_cast<bool>(model->save(again)), "a loaded model can be saved");
    demand(std::ranges::equal(again.bytes(), bytes), "a model saves what it was loaded from");
    const char* const broken = test::use_oracle(*model->oracle());
    demand(broken == nullptr, broken);
    static_cast<void>(model->profile().plan({.draws = 1e6, .rate = 1.0 / 256}));
    return true;
}

// Only the envelope; the snapshot inside is tried as a file of its own.
bool exercise_marked(std::span<const std::byte> bytes) {
    const auto read = read_marked(bytes);
    if (!read) return false;
    demand(static_cast<bool>(open_snapshot(read->filter)), "what is inside opens");
    return true;
}

// Filters over an index in R.
template <class Filter>
bool exercise_learning(std::span<const std::byte> bytes) {
    return judged(test::exercise_learning_snapshot<Filter>(bytes));
}

// The loader of each kind. The last loader is for every kind of oracle.
struct loader {
    snapshot_kind kind;
    bool (*load)(std::span<const std::byte>);  // true: it was loaded
};

bool load_broom(std::span<const std::byte> bytes) {
    return judged(test::exercise_broom_snapshot(bytes));
}
template <class Dictionary>
bool load_numbers(std::span<const std::byte> bytes) {
    return judged(test::exercise_numbers_snapshot<Dictionary>(bytes));
}
bool load_lossy(std::span<const std::byte> bytes) {
    return judged(test::exercise_lossy_snapshot(bytes));
}
bool load_fingerprint(std::span<const std::byte> bytes) {
    return judged(test::exercise_fingerprint_snapshot(bytes));
}
bool load_daisy_broom(std::span<const std::byte> bytes) {
    return judged(test::exercise_daisy_broom_snapshot(bytes));
}
bool load_oracle(std::span<const std::byte> bytes) {
    return judged(test::exercise_oracle_snapshot<any_oracle>(bytes));
}

constexpr loader loaders[] = {
    {snapshot_kind::bloom, exercise<bloom_filter>},
    {snapshot_kind::blocked_bloom, exercise<blocked_bloom_filter>},
    {snapshot_kind::cuckoo_partial, exercise<cuckoo_partial_filter>},
    {snapshot_kind::bloomier, exercise<bloomier_filter>},
    {snapshot_kind::cleary, exercise<cleary_filter>},
    {snapshot_kind::daisy_bloom, exercise<test::keyed_shell<daisy_bloom_filter>>},
    {snapshot_kind::succinct, load_numbers<succinct_set>},
    {snapshot_kind::multiset, load_numbers<succinct_multiset>},
    {snapshot_kind::optimal, exercise<optimal_filter>},
    {snapshot_kind::spectral, exercise<spectral_filter>},
    {snapshot_kind::lossy, load_lossy},
    {snapshot_kind::broom, load_broom},
    {snapshot_kind::oracle_model, exercise_model},
    {snapshot_kind::adaptive_bloom, exercise_learning<adaptive_bloom_filter>},
    {snapshot_kind::cascade, exercise_learning<cascade_filter>},
    {snapshot_kind::cuckooing, exercise_learning<cuckooing_filter>},
    {snapshot_kind::daisy_fingerprint, load_fingerprint},
    {snapshot_kind::daisy_broom, load_daisy_broom},
    {snapshot_kind::with_oracle, exercise_marked},
    {snapshot_kind::exact_oracle, load_oracle},
};

bool is_for(const loader& each, snapshot_kind kind) {
    if (each.load != load_oracle) return each.kind == kind;
    return kind == snapshot_kind::exact_oracle || kind == snapshot_kind::count_min_oracle ||
           kind == snapshot_kind::count_sketch_oracle || kind == snapshot_kind::score_oracle;
}

// Writes it as it was written before: at once, or piece by piece (format version 2).
result<void> write_again(sink& out, const snapshot_view& view) {
    const std::span sections = std::span{view.sections}.first(view.section_count);
    if (view.format_version == snapshot_format_version)
        return write_snapshot(out, view.info, view.parameters, sections);
    detail::snapshot_stream stream{out, view.info, view.section_count};
    if (auto begun = stream.begin(view.parameters); !begun) return begun;
    for (const std::span<const std::byte> each : sections) {
        if (auto added = stream.add(each); !added) return added;
        if (auto ended = stream.end_section(); !ended) return ended;
    }
    return stream.finish();
}

// If the bytes open, the loader of their kind tries them. One other loader must refuse them; if
// they do not open, one loader must refuse them, too. The bytes choose which, so that in a million
// inputs each loader refuses some ten thousand of every kind. To try all loaders with every input
// took five times as long.
void try_bytes(std::span<const std::byte> bytes) {
    const result<snapshot_view> view = open_snapshot(bytes);
    std::uint64_t sum = bytes.size();
    for (const std::byte each : bytes.last(std::min<std::size_t>(bytes.size(), 16))) {
        sum = sum * 31 + std::to_integer<std::uint64_t>(each);
    }
    const std::size_t absent_key = sum % std::size(loaders);
    for (std::size_t i = 0; i < std::size(loaders); ++i) {
        const bool own = view && is_for(loaders[i], view->info.kind);
        if (!own && i != absent_key) continue;
        const bool loaded = loaders[i].load(bytes);
        demand(own || !loaded, "only the loader of its kind loads a snapshot, and none loads bytes that do not open");
    }
    if (!view) return;
    read_fields(view->parameters);
    vector_sink again;
    demand(static_cast<bool>(write_again(again, *view)), "what opened can be written");
    demand(std::ranges::equal(again.bytes(), bytes), "writing what opened gives the same bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // A heap block of exactly this size, without special alignment: the sanitizer finds a read of
    // one byte beyond it.
    const std::span<const std::byte> input{reinterpret_cast<const std::byte*>(data), size};
    try_bytes(input);
    std::vector<std::byte> repaired(input.begin(), input.end());
    test::fit_lengths(repaired);
    test::fix_key_id(repaired);
    test::fix_envelope(repaired);
    try_bytes(repaired);
    if (const auto view = open_snapshot(repaired); view && view->info.kind == snapshot_kind::daisy_broom) {
        test::fix_nested(repaired);  // the snapshots inside have checksums of their own
        try_bytes(repaired);
    }
    return 0;
}
