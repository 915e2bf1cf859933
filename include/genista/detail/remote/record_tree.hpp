// record_tree: a B+ tree of records (digest, key) in the order of R; one thread at a time.
//
// The ordered structure inside memory_map.hpp, which adds the lock and turns std::bad_alloc into an
// error. Unlike std::set it reads a range as a few blocks, without a cache miss for each record,
// and it needs less than half of the memory: 36.8 bytes a record were measured for 10^7 random
// 8-byte keys, where a node of a set takes 80 plus the allocator's overhead.
//
//     inner   | count | positions: -  p1  p2 ... | children: c0  c1  c2 ... |
//     leaf    | next | count | positions | seeds | words | sizes |              (record_leaf.hpp)
//
// Inner nodes are small and free of keys because a separator is a *position* only. Records with the
// same position (for example equal digests) may spread over several leaves. When the position
// sought equals a separator, the first record of the child decides, which costs one leftmost
// descent. That is rare for random positions and correct for all.
//
// Invariants (audit() checks them all, and tests call it)
//   I1  every leaf is at the same depth, `height_` inner nodes below the root
//   I2  a node that is not the root is at least half full: Records/2 records, Children/2 children;
//       an inner root has two children or more; only a root leaf may be empty
//   I3  records ascend strictly within a leaf and from each leaf to its `next`, which links all
//       leaves
//   I4  for child i >= 1 of an inner node: last record of child i-1 has position <= p_i <= that of
//       the first of child i (after an erase p_i may be smaller than needed: it never has to be
//       repaired); and if child i is an inner node, its own p_0 equals p_i (on the leftmost path
//       p_0 is undefined; no search reads p_0)
//   I5  size_, leaves_, inners_ and key_bytes_ equal the tree's true counts
//
// put() allocates all it needs before it changes anything, and erase() allocates nothing. So
// apply() can undo its puts, and does its erases last.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "genista/base/result.hpp"
#include "genista/detail/remote/record_leaf.hpp"
#include "genista/hash/key.hpp"
#include "genista/remote/remote.hpp"

namespace genista {

template <std::size_t Records, std::size_t Children>
class record_tree {
    static_assert(Children >= 4, "half of a full inner node must still have two children");

  public:
    record_tree() noexcept = default;
    record_tree(const record_tree&) = delete;
    record_tree& operator=(const record_tree&) = delete;
    ~record_tree() {
        if (root_ != nullptr) free_subtree(root_, height_);
    }

    // True if the record is new. Throws std::bad_alloc, and then nothing has changed.
    [[nodiscard]] bool put(const digest& where, key_view key);

    // True if the record was there.
    [[nodiscard]] bool erase(const digest& where, key_view key) noexcept;

    // All changes, as if in the order given. Throws std::bad_alloc, and then no record has changed.
    void apply(std::span<const record_change> changes);

    // Erases the records with first <= position <= last.
    void erase_range(std::uint64_t first, std::uint64_t last) noexcept;

    [[nodiscard]] bool contains(const digest& where, key_view key) const noexcept {
        if (root_ == nullptr) return false;
        const leaf* found = leaf_for(where, key, nullptr);
        return found->holds(found->lower_bound(where, key), where, key);
    }

    // Visits the records with first <= position <= last in order, until `visit` says false.
    template <record_visitor Visit>
    void for_each(std::uint64_t first, std::uint64_t last, Visit& visit) const {
        if (root_ == nullptr || first > last) return;
        const leaf* current = leaf_of_position(first);
        std::size_t slot = current->lower_bound(first);
        for (; current != nullptr; current = current->next, slot = 0) {
            for (; slot < current->count; ++slot) {
                const digest where = current->digest_at(slot);
                if (where.position > last || !visit(where, current->key_at(slot))) return;
            }
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // Bytes requested from the allocator: nodes and long keys.
    [[nodiscard]] std::size_t allocated_bytes() const noexcept {
        return leaves_ * sizeof(leaf) + inners_ * sizeof(inner) + key_bytes_;
    }

    [[nodiscard]] unsigned height() const noexcept { return height_; }

    // Walks the whole tree; an error names the invariant that is broken.
    [[nodiscard]] result<void> audit() const noexcept;

  private:
    using leaf = record_leaf<Records>;

    struct inner {
        std::uint32_t count = 0;
        std::array<std::uint64_t, Children> positions;  // see I4; child 0 takes all below positions[1]
        std::array<void*, Children> children;           // leaves or inner nodes, by level
    };

    struct step {
        inner* node;
        std::size_t child;
    };

    // Level h has at least 2 * 2^(h-1) children below it (I2), so 48 levels are enough for any
    // memory.
    static constexpr std::size_t max_height = 48;
    using path = std::array<step, max_height>;  // path[0] is the root

    static constexpr std::size_t min_records = Records / 2;
    static constexpr std::size_t min_children = Children / 2;

    // Nodes allocated before a split begins.
    struct spares {
        std::unique_ptr<leaf> fresh_leaf;
        std::array<std::unique_ptr<inner>, max_height + 1> inners;
        std::size_t count = 0;

        [[nodiscard]] inner* take() noexcept { return inners[--count].release(); }
    };

    [[nodiscard]] static const leaf* first_leaf(const void* node, unsigned level) noexcept {
        for (; level > 0; --level) node = static_cast<const inner*>(node)->children[0];
        return static_cast<const leaf*>(node);
    }

    // The child that holds (where, key) if any does: the last one whose first record is not after
    // it. `level` >= 1.
    [[nodiscard]] static std::size_t child_for(const inner& node, unsigned level, const digest& where,
                                               key_view key) noexcept {
        std::size_t low = 1;
        std::size_t high = node.count;
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            const std::uint64_t separator = node.positions[middle];
            const bool at_or_after = separator < where.position ||
                                     (separator == where.position &&
                                      // NOLINTNEXTLINE(modernize-use-nullptr): as in record_leaf.hpp
                                      first_leaf(node.children[middle], level - 1)->compare(0, where, key) <= 0);
            if (at_or_after) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
    }

    [[nodiscard]] leaf* leaf_for(const digest& where, key_view key, path* steps) const noexcept {
        void* node = root_;
        for (unsigned level = height_; level > 0; --level) {
            auto* const current = static_cast<inner*>(node);
            const std::size_t child = child_for(*current, level, where, key);
            if (steps != nullptr) (*steps)[height_ - level] = {current, child};
            node = current->children[child];
        }
        return static_cast<leaf*>(node);
    }

    // The leaf where records at or after `position` begin, or the one before it.
    [[nodiscard]] const leaf* leaf_of_position(std::uint64_t position) const noexcept {
        const void* node = root_;
        for (unsigned level = height_; level > 0; --level) {
            const auto& current = *static_cast<const inner*>(node);
            const auto begin = current.positions.begin();
            const auto found = std::lower_bound(begin + 1, begin + current.count, position);  // first p_i >= position
            node = current.children[static_cast<std::size_t>(found - begin) - 1];
        }
        return static_cast<const leaf*>(node);
    }

    void split_and_insert(leaf& full, std::size_t slot, const digest& where, const stored_key& key, const path& steps,
                          spares& nodes) noexcept;
    [[nodiscard]] spares allocate_for_split(const path& steps) const;
    static void insert_child(inner& node, std::size_t child, std::uint64_t position, void* added) noexcept;
    static void split_inner(inner& full, inner& right, std::size_t child, std::uint64_t position, void* added) noexcept;

    void repair_leaf(const path& steps) noexcept;
    void repair_inners(const path& steps) noexcept;
    [[nodiscard]] static bool share_or_merge(leaf& left, leaf& right, std::uint64_t& separator) noexcept;
    [[nodiscard]] static bool share_or_merge(inner& left, inner& right, std::uint64_t& separator) noexcept;
    static void remove_child(inner& node, std::size_t child) noexcept;

    static void free_subtree(void* node, unsigned level) noexcept;

    struct audit_state {
        const leaf* previous = nullptr;
        std::size_t records = 0, leaves = 0, inners = 0, key_bytes = 0;
        const char* broken = nullptr;
    };
    void audit_leaf(const leaf& node, bool is_root, audit_state& state) const noexcept;
    void audit_node(const void* node, unsigned level, audit_state& state) const noexcept;

    void* root_ = nullptr;  // null until the first put: making an empty tree allocates nothing and cannot fail
    unsigned height_ = 0;
    std::size_t size_ = 0;
    std::size_t leaves_ = 0;
    std::size_t inners_ = 0;
    std::size_t key_bytes_ = 0;
};

}  // namespace genista

#include "genista/detail/remote/record_tree_change.hpp"  // IWYU pragma: keep
