// Look-ups of one instruction set in filters of the cuckoo family. Only the hash depends on it;
// slots are plain words.
#include "filters/filter_kernels.inl"

namespace genista::GENISTA_ISA {

// Tables and BinSlots are compile-time constants for the usual shapes; 0: read from the state.
template <cuckoo_rule Rule, unsigned Tables, unsigned BinSlots>
struct cuckoo_family_policy {
    using state = cuckoo_state;
    static constexpr unsigned most_tables = Tables == 0 ? 8 : Tables;
    struct target {
        std::uint64_t first_slot[most_tables];  // of the key's bin in each table
        cuckoo::essence key;
        digest where;
        std::uint64_t version;
    };

    static unsigned tables(const state& s) noexcept { return Tables == 0 ? s.shape.tables : Tables; }
    static unsigned bin_slots(const state& s) noexcept { return BinSlots == 0 ? s.shape.bin_slots : BinSlots; }

    // The version is read first: later reads may see newer slots, and are then not trusted.
    [[gnu::always_inline]] static target aim(const state& s, const digest& d) noexcept {
        target aimed;
        aimed.where = d;
        aimed.version = s.version.load(std::memory_order_acquire);
        const cuckoo::salts under = {
            s.salts[0].load(std::memory_order_acquire), s.salts[1].load(std::memory_order_acquire),
            s.salts[2].load(std::memory_order_acquire), s.salts[3].load(std::memory_order_acquire)};
        aimed.key = cuckoo::essence{d, under};
        for (unsigned table = 0; table < tables(s); ++table) {
            aimed.first_slot[table] = (table * s.shape.bins + aimed.key.bin(table, s.shape.bins)) * bin_slots(s);
        }
        return aimed;
    }
    static void prefetch(const state& s, const target& t) noexcept {
        for (unsigned table = 0; table < tables(s); ++table) {
            __builtin_prefetch(s.words + t.first_slot[table] * s.shape.slot_bits() / 64);
        }
    }
    [[gnu::always_inline]] static bool test(const state& s, const target& t) noexcept {
        if (matches(s, t)) return true;
        if (s.version.load(std::memory_order_relaxed) == t.version && t.version % 2 == 0) [[likely]]
            return false;
        return test_again(s, t.where);
    }

  private:
    // Reads all tables without a branch between them, so that the cache misses overlap.
    [[gnu::always_inline]] static bool matches(const state& s, const target& t) noexcept {
        const unsigned bits = s.shape.fingerprint_bits;
        const unsigned slot_bits = s.shape.slot_bits();
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        bool found = false;
        for (unsigned table = 0; table < tables(s); ++table) {
            for (unsigned i = 0; i < bin_slots(s); ++i) {
                const std::uint64_t slot = cuckoo::read_slot(s.words, t.first_slot[table] + i, slot_bits);
                const auto selector = static_cast<unsigned>(slot >> bits);
                const unsigned number = cuckoo::fingerprint_number(Rule, table, i, selector);
                found |= (slot & mask) == t.key.fingerprint(number, bits);
            }
        }
        return found;
    }

    // The table changed during the look-up.
    [[gnu::noinline]] static bool test_again(const state& s, const digest& d) noexcept {
        while (true) {
            const target t = aim(s, d);
            if (t.version % 2 != 0) {
                std::this_thread::yield();
                continue;
            }
            if (matches(s, t)) return true;
            if (s.version.load(std::memory_order_relaxed) == t.version) return false;
        }
    }
};

template <cuckoo_rule Rule, unsigned Tables, unsigned BinSlots>
using cuckoo_lookups = lookups<cuckoo_family_policy<Rule, Tables, BinSlots>>;

inline constexpr const cuckoo_kernels& plain_of_4 = cuckoo_lookups<cuckoo_rule::plain, 4, 1>::table;
inline constexpr const cuckoo_kernels& plain_of_any = cuckoo_lookups<cuckoo_rule::plain, 0, 0>::table;
inline constexpr const cuckoo_kernels& cuckooing_of_4 = cuckoo_lookups<cuckoo_rule::cuckooing, 4, 1>::table;
inline constexpr const cuckoo_kernels& cuckooing_of_any = cuckoo_lookups<cuckoo_rule::cuckooing, 0, 0>::table;
inline constexpr const cuckoo_kernels& cyclic_of_4 = cuckoo_lookups<cuckoo_rule::cyclic, 4, 1>::table;
inline constexpr const cuckoo_kernels& cyclic_of_any = cuckoo_lookups<cuckoo_rule::cyclic, 0, 0>::table;
inline constexpr const cuckoo_kernels& swapping_of_2 = cuckoo_lookups<cuckoo_rule::swapping, 2, 4>::table;
inline constexpr const cuckoo_kernels& swapping_of_any = cuckoo_lookups<cuckoo_rule::swapping, 0, 0>::table;

}  // namespace genista::GENISTA_ISA
