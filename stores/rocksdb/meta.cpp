// Encodes and decodes the entries of genista.meta. See meta.hpp.
#include "genista/detail/stores/rocksdb/meta.hpp"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "genista/detail/stores/rocksdb/status.hpp"
#include "hash/siphash.hpp"

namespace genista::rocks {
namespace {

constexpr const char* state_names[] = {"ready", "indexing"};
constexpr const char* layout_names[] = {"clustered", "indexed"};

template <class Number>
std::string to_bytes(Number number) {
    std::string bytes(sizeof number, '\0');
    for (std::size_t i = 0; i < sizeof number; ++i) {
        bytes[i] = static_cast<char>(static_cast<unsigned char>(std::uint64_t{number} >> 8 * i));
    }
    return bytes;
}

std::uint64_t number_at(const char* bytes) noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < sizeof sum; ++i) sum |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
    return sum;
}

constexpr std::size_t pair_bytes = 16;

std::string lives_to_bytes(const std::vector<store_life>& lives) {
    std::string bytes;
    for (const store_life& each : lives) bytes.append(to_bytes(each.id)).append(to_bytes(each.first));
    return bytes;
}

std::string snapshots_to_bytes(const snapshot_records& records) {
    std::string bytes;
    for (const snapshot_record& each : records) bytes.append(to_bytes(each.id)).append(to_bytes(each.shown));
    return bytes;
}

std::string mark_to_bytes(const std::optional<write_mark>& mark) {
    if (!mark) return {};
    return to_bytes(mark->sequence) + to_bytes(mark->entries) + to_bytes(mark->file) + mark->session;
}

// Reads the entries of genista.meta, and keeps the first error.
class reader {
  public:
    reader(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family, std::string_view path)
        : db_{db}, family_{family}, path_{path} {}

    // True if the entry exists.
    bool find(const char* name) {
        name_ = name;
        const rocksdb::Status got = db_.Get({}, &family_, name, &value_);
        if (!got.ok() && !got.IsNotFound()) fail(to_error(got, "read genista.meta"));
        return got.ok();
    }
    void need(const char* name) {
        if (!find(name)) fail(damaged("is missing"));
    }
    template <class Number>
    Number number(const char* name) {
        need(name);
        if (trouble_) return 0;
        if (value_.size() != sizeof(Number)) {
            fail(damaged("has a wrong length"));
            return 0;
        }
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < sizeof(Number); ++i) {
            sum |= std::uint64_t{static_cast<unsigned char>(value_[i])} << 8 * i;
        }
        return static_cast<Number>(sum);
    }
    template <std::size_t Count>
    unsigned char choice(const char* name, const char* const (&names)[Count]) {
        need(name);
        for (std::size_t i = 0; i < Count; ++i) {
            if (!trouble_ && value_ == names[i]) return static_cast<unsigned char>(i);
        }
        fail(damaged("has no known value"));
        return 0;
    }
    void bytes(const char* name, std::uint8_t* out, std::size_t size) {
        need(name);
        if (!trouble_ && value_.size() != size) fail(damaged("has a wrong length"));
        if (!trouble_) std::memcpy(out, value_.data(), size);
    }
    // Nothing for databases of older versions.
    std::optional<write_mark> mark(const char* name) {
        if (!find(name) || value_.empty()) return std::nullopt;
        if (value_.size() < 24) {
            fail(damaged("has a wrong length"));
            return std::nullopt;
        }
        return write_mark{.sequence = number_at(value_.data()),
                          .entries = number_at(value_.data() + 8),
                          .file = number_at(value_.data() + 16),
                          .session = value_.substr(24)};
    }
    // Empty for databases of older versions.
    std::vector<store_life> lives(const char* name) {
        std::vector<store_life> found;
        if (find(name)) each_pair([&](std::uint64_t id, std::uint64_t first) { found.push_back({id, first}); });
        return found;
    }
    std::optional<snapshot_records> snapshots(const char* name) {
        if (!find(name)) return std::nullopt;
        snapshot_records found;
        each_pair([&](std::uint64_t id, std::uint64_t shown) { found.push_back({id, shown}); });
        return found;
    }
    void fail(const error& what) {
        if (!trouble_) trouble_ = what;
    }
    [[nodiscard]] error damaged(const char* how) const noexcept {
        return error::make(error_code::corrupt, "%.*s: the entry %s of genista.meta %s", static_cast<int>(path_.size()),
                           path_.data(), name_, how);
    }
    [[nodiscard]] const std::optional<error>& trouble() const noexcept { return trouble_; }

  private:
    template <class Take>
    void each_pair(const Take& take) {
        if (value_.size() % pair_bytes != 0) fail(damaged("has a wrong length"));
        for (std::size_t at = 0; !trouble_ && at < value_.size(); at += pair_bytes)
            take(number_at(value_.data() + at), number_at(value_.data() + at + 8));
    }

    rocksdb::DB& db_;
    rocksdb::ColumnFamilyHandle& family_;
    std::string_view path_;
    const char* name_ = "";
    std::string value_;
    std::optional<error> trouble_;
};

error no_memory() noexcept {
    return error::make(error_code::out_of_memory, "no memory to read or write genista.meta");
}

}  // namespace

std::string_view to_string(layout which) noexcept {
    return layout_names[static_cast<unsigned char>(which)];
}

result<store_meta> store_meta::make(layout arrangement, const std::optional<hash_key>& key) noexcept {
    store_meta made;
    made.arrangement = arrangement;
    if (key) {
        made.key = *key;
        return made;
    }
    const auto drawn = hash_key::random();
    if (!drawn) return drawn.error();
    made.key = *drawn;
    return made;
}

result<std::optional<store_meta>> read_meta(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                            std::string_view path) try {
    reader in{db, family, path};
    const bool there = in.find("format");
    if (in.trouble()) return *in.trouble();
    if (!there) return std::optional<store_meta>{};

    store_meta found;
    found.format = in.number<std::uint32_t>("format");  // read first: of a newer format nothing else is known
    if (in.trouble()) return *in.trouble();
    if (found.format == 0 || found.format > newest_format) {
        return error::make(error_code::unsupported,
                           "%.*s was written by a newer version (format %u, this one knows 1 to %u)",
                           static_cast<int>(path.size()), path.data(), found.format, newest_format);
    }
    found.arrangement = static_cast<layout>(in.choice("layout", layout_names));
    const auto kind = in.number<std::uint32_t>("hash_kind");
    found.hashing = static_cast<hash_kind>(kind);
    if (kind != static_cast<std::uint32_t>(hash_kind::keyed) && kind != static_cast<std::uint32_t>(hash_kind::trusted))
        in.fail(in.damaged("names an unknown hash"));
    in.bytes("hash_key", found.key.bytes.data(), found.key.bytes.size());
    found.state = static_cast<store_state>(in.choice("state", state_names));
    found.generation = in.number<std::uint64_t>("generation");
    found.lives = in.lives("lives");
    found.mark = in.mark("mark");
    found.snapshots = in.snapshots("snapshots");
    if (in.trouble()) return *in.trouble();
    return std::optional{found};
} catch (const std::bad_alloc&) {
    return no_memory();
}

result<void> write_meta(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family, const store_meta& meta) try {
    rocksdb::WriteBatch all;
    rocksdb::Status done;
    const auto put = [&](const char* name, const rocksdb::Slice& value) {
        if (done.ok()) done = all.Put(&family, name, value);
    };
    put("format", to_bytes(meta.format));
    put("layout", layout_names[static_cast<unsigned char>(meta.arrangement)]);
    put("hash_kind", to_bytes(static_cast<std::uint32_t>(meta.hashing)));
    put("hash_key", {reinterpret_cast<const char*>(meta.key.bytes.data()), meta.key.bytes.size()});
    put("state", state_names[static_cast<unsigned char>(meta.state)]);
    put("generation", to_bytes(meta.generation));
    put("lives", lives_to_bytes(meta.lives));
    put("mark", mark_to_bytes(meta.mark));
    rocksdb::WriteOptions durably;
    durably.sync = true;
    if (done.ok()) done = db.Write(durably, &all);
    if (!done.ok()) return to_error(done, "write genista.meta");
    return {};
} catch (const std::bad_alloc&) {
    return no_memory();
}

rocksdb::Status write_mark_entry(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                 const std::optional<write_mark>& mark, bool durably) {
    rocksdb::WriteOptions how;
    how.sync = durably;
    return db.Put(how, &family, "mark", mark_to_bytes(mark));
}

rocksdb::Status write_snapshot_records(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                       const snapshot_records& records) {
    rocksdb::WriteOptions durably;
    durably.sync = true;
    return db.Put(durably, &family, "snapshots", snapshots_to_bytes(records));
}

result<std::uint64_t> random_id() noexcept {
    const auto drawn = hash_key::random();
    if (!drawn) return drawn.error();
    std::uint64_t id = 0;
    std::memcpy(&id, drawn->bytes.data(), sizeof id);
    return id;
}

namespace {

// The number of the newest table. Later tables have higher numbers.
std::uint64_t newest_table(rocksdb::DB& db) {
    std::vector<rocksdb::LiveFileMetaData> tables;
    db.GetLiveFilesMetaData(&tables);
    std::uint64_t newest = 0;
    for (const auto& each : tables) newest = std::max(newest, each.file_number);
    return newest;
}

}  // namespace

result<write_mark> mark_tables(rocksdb::DB& db) {
    write_mark made;
    made.file = newest_table(db);
    if (const auto named = db.GetDbSessionId(made.session); !named.ok()) return to_error(named, "name this session");
    return made;
}

result<void> begin_life(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family, store_meta& meta) try {
    const auto id = random_id();
    if (!id) return id.error();
    const store_life begun{.id = *id, .first = db.GetLatestSequenceNumber()};
    meta.lives.push_back(begun);
    auto mark = mark_tables(db);
    if (!mark) return mark.error();
    mark->sequence = begun.first;
    mark->entries = meta_entries;
    meta.mark = *std::move(mark);
    if (meta.lives.size() > lives_kept) meta.lives.erase(meta.lives.begin(), meta.lives.end() - lives_kept);
    return write_meta(db, family, meta);
} catch (const std::bad_alloc&) {
    return no_memory();
}

result<void> check_layout(const store_meta& meta, layout wanted, std::string_view path) noexcept {
    if (meta.arrangement == wanted) return {};
    return error::make(error_code::mismatch, "%.*s has the layout %s, %s was asked for", static_cast<int>(path.size()),
                       path.data(), to_string(meta.arrangement).data(), to_string(wanted).data());
}

result<store_id> store_identity(rocksdb::DB& db) try {
    std::string name;
    if (const auto got = db.GetDbIdentity(name); !got.ok()) return to_error(got, "read the database's identity");
    // RocksDB's identity is a text without a fixed form, so it is hashed.
    const auto words = siphash_128<1, 3>(0, 0, reinterpret_cast<const std::byte*>(name.data()), name.size());
    store_id id;
    for (unsigned i = 0; i < id.size(); ++i) id[i] = static_cast<std::byte>(words[i / 8] >> i % 8 * 8);
    return id;
} catch (const std::bad_alloc&) {
    return no_memory();
}

}  // namespace genista::rocks
