// The changing half of record_tree.hpp: put with its splits, erase with its merges, many changes at
// once, and the audit. Included from there.
//
// Splits go upward along the path that put() took down. The number of nodes they need is known
// beforehand (one for each full node from the leaf up, one more if the root is among them), so all
// are allocated first and the changes cannot fail. Merges go upward too: a node that falls below
// half is merged with a neighbour under the same parent or takes records from it.
#pragma once

#include <algorithm>
#include <compare>
#include <new>
#include <utility>
#include <vector>

#include "genista/detail/remote/record_tree.hpp"

namespace genista {

// ---- put

template <std::size_t Records, std::size_t Children>
bool record_tree<Records, Children>::put(const digest& where, key_view key) {
    if (root_ == nullptr) {
        auto first = std::make_unique<leaf>();
        const stored_key stored = stored_key::make(key);
        first->insert(0, where, stored);
        root_ = first.release();
        size_ = leaves_ = 1;
        key_bytes_ = stored.allocated_bytes();
        return true;
    }
    path steps;
    leaf& target = *leaf_for(where, key, &steps);
    const std::size_t slot = target.lower_bound(where, key);
    if (target.holds(slot, where, key)) return false;

    if (target.count < Records) {
        const stored_key stored = stored_key::make(key);
        target.insert(slot, where, stored);
        key_bytes_ += stored.allocated_bytes();
    } else {
        spares nodes = allocate_for_split(steps);
        const stored_key stored = stored_key::make(key);  // the last thing that can throw
        split_and_insert(target, slot, where, stored, steps, nodes);
        key_bytes_ += stored.allocated_bytes();
    }
    ++size_;
    return true;
}

template <std::size_t Records, std::size_t Children>
auto record_tree<Records, Children>::allocate_for_split(const path& steps) const -> spares {
    spares nodes;
    nodes.fresh_leaf = std::make_unique<leaf>();
    std::size_t above = height_;
    for (; above > 0 && steps[above - 1].node->count == Children; --above) {
        nodes.inners[nodes.count++] = std::make_unique<inner>();
    }
    if (above == 0)
        nodes.inners[nodes.count++] = std::make_unique<inner>();  // every node on the path is full: a new root
    return nodes;
}

template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::split_and_insert(leaf& full, std::size_t slot, const digest& where,
                                                      const stored_key& key, const path& steps,
                                                      spares& nodes) noexcept {
    leaf* const right = nodes.fresh_leaf.release();
    right->next = std::exchange(full.next, right);
    ++leaves_;
    constexpr std::size_t left_share = (Records + 2) / 2;  // of Records + 1 records, the larger half
    if (slot < left_share) {
        full.give_tail(*right, Records + 1 - left_share);
        full.insert(slot, where, key);
    } else {
        full.give_tail(*right, Records - left_share);
        right->insert(slot - left_share, where, key);
    }

    void* added = right;
    std::uint64_t position = right->positions[0];
    for (std::size_t above = height_; above > 0; --above) {
        inner& parent = *steps[above - 1].node;
        const std::size_t child = steps[above - 1].child + 1;
        if (parent.count < Children) {
            insert_child(parent, child, position, added);
            return;
        }
        inner* const beside = nodes.take();
        ++inners_;
        split_inner(parent, *beside, child, position, added);
        added = beside;
        position = beside->positions[0];
    }
    inner* const root = nodes.take();
    ++inners_;
    root->count = 2;
    root->positions[0] = 0;
    root->positions[1] = position;
    root->children[0] = root_;
    root->children[1] = added;
    root_ = root;
    ++height_;
    assert(height_ < max_height);
}

template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::insert_child(inner& node, std::size_t child, std::uint64_t position,
                                                  void* added) noexcept {
    assert(node.count < Children && child >= 1 && child <= node.count);
    std::copy_backward(node.positions.begin() + child, node.positions.begin() + node.count,
                       node.positions.begin() + node.count + 1);
    std::copy_backward(node.children.begin() + child, node.children.begin() + node.count,
                       node.children.begin() + node.count + 1);
    node.positions[child] = position;
    node.children[child] = added;
    ++node.count;
}

template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::split_inner(inner& full, inner& right, std::size_t child, std::uint64_t position,
                                                 void* added) noexcept {
    constexpr std::size_t left_share = (Children + 2) / 2;  // of Children + 1 children, the larger half
    const bool into_left = child < left_share;
    const std::size_t kept = into_left ? left_share - 1 : left_share;
    std::copy(full.positions.begin() + kept, full.positions.end(), right.positions.begin());
    std::copy(full.children.begin() + kept, full.children.end(), right.children.begin());
    right.count = static_cast<std::uint32_t>(Children - kept);
    full.count = static_cast<std::uint32_t>(kept);
    if (into_left) {
        insert_child(full, child, position, added);
    } else if (child > left_share) {
        insert_child(right, child - left_share, position, added);
    } else {  // the new child is the first on the right: its separator moves up
        std::copy_backward(right.positions.begin(), right.positions.begin() + right.count,
                           right.positions.begin() + right.count + 1);
        std::copy_backward(right.children.begin(), right.children.begin() + right.count,
                           right.children.begin() + right.count + 1);
        right.positions[0] = position;
        right.children[0] = added;
        ++right.count;
    }
}

// ---- erase

template <std::size_t Records, std::size_t Children>
bool record_tree<Records, Children>::erase(const digest& where, key_view key) noexcept {
    if (root_ == nullptr) return false;
    path steps;
    leaf& target = *leaf_for(where, key, &steps);
    const std::size_t slot = target.lower_bound(where, key);
    if (!target.holds(slot, where, key)) return false;

    const stored_key stored = target.remove(slot);
    key_bytes_ -= stored.allocated_bytes();
    stored.release();
    --size_;
    if (height_ > 0 && target.count < min_records) repair_leaf(steps);
    return true;
}

// The two neighbours under one parent are `child` and the one to its right, or for the last child
// the one to its left.
template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::repair_leaf(const path& steps) noexcept {
    inner& parent = *steps[height_ - 1].node;
    const std::size_t left = std::min<std::size_t>(steps[height_ - 1].child, parent.count - 2);
    auto& first = *static_cast<leaf*>(parent.children[left]);
    auto* const second = static_cast<leaf*>(parent.children[left + 1]);
    if (!share_or_merge(first, *second, parent.positions[left + 1])) return;
    first.next = second->next;
    delete second;
    --leaves_;
    remove_child(parent, left + 1);
    repair_inners(steps);
}

template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::repair_inners(const path& steps) noexcept {
    for (std::size_t depth = height_ - 1; depth > 0; --depth) {  // depth 0 is the root
        if (steps[depth].node->count >= min_children) return;
        inner& parent = *steps[depth - 1].node;
        const std::size_t left = std::min<std::size_t>(steps[depth - 1].child, parent.count - 2);
        auto& first = *static_cast<inner*>(parent.children[left]);
        auto* const second = static_cast<inner*>(parent.children[left + 1]);
        if (!share_or_merge(first, *second, parent.positions[left + 1])) return;
        delete second;
        --inners_;
        remove_child(parent, left + 1);
    }
    auto* const root = static_cast<inner*>(root_);
    if (root->count > 1) return;
    root_ = root->children[0];
    --height_;
    delete root;
    --inners_;
}

// True: `right` is empty now and must be deleted. False: both are at least half full, and
// `separator` was updated.
template <std::size_t Records, std::size_t Children>
bool record_tree<Records, Children>::share_or_merge(leaf& left, leaf& right, std::uint64_t& separator) noexcept {
    const std::size_t total = std::size_t{left.count} + right.count;
    if (total <= Records) {
        left.take_head(right, right.count);
        return true;
    }
    const std::size_t left_share = (total + 1) / 2;
    if (left.count < left_share) {
        left.take_head(right, left_share - left.count);
    } else {
        left.give_tail(right, left.count - left_share);
    }
    separator = right.positions[0];
    return false;
}

template <std::size_t Records, std::size_t Children>
bool record_tree<Records, Children>::share_or_merge(inner& left, inner& right, std::uint64_t& separator) noexcept {
    std::array<std::uint64_t, 2 * Children> positions;
    std::array<void*, 2 * Children> children;
    assert(right.positions[0] == separator);  // I4: so the two rows of separators can be joined
    const std::size_t total = std::size_t{left.count} + right.count;
    auto position = std::copy_n(left.positions.begin(), left.count, positions.begin());
    std::copy_n(right.positions.begin(), right.count, position);
    auto child = std::copy_n(left.children.begin(), left.count, children.begin());
    std::copy_n(right.children.begin(), right.count, child);

    const std::size_t left_share = total <= Children ? total : (total + 1) / 2;
    std::copy_n(positions.begin(), left_share, left.positions.begin());
    std::copy_n(children.begin(), left_share, left.children.begin());
    left.count = static_cast<std::uint32_t>(left_share);
    if (left_share == total) return true;
    std::copy(positions.begin() + left_share, positions.begin() + total, right.positions.begin());
    std::copy(children.begin() + left_share, children.begin() + total, right.children.begin());
    right.count = static_cast<std::uint32_t>(total - left_share);
    separator = right.positions[0];
    return false;
}

template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::remove_child(inner& node, std::size_t child) noexcept {
    assert(child >= 1 && child < node.count);
    std::copy(node.positions.begin() + child + 1, node.positions.begin() + node.count, node.positions.begin() + child);
    std::copy(node.children.begin() + child + 1, node.children.begin() + node.count, node.children.begin() + child);
    --node.count;
}

// ---- many changes at once

// Nothing is seen of the tree meanwhile, so only the last change of each record counts, and changes
// of different records can take any order.
template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::apply(std::span<const record_change> changes) {
    const auto before = [](const record_change& a, const record_change& b) {
        if (a.where != b.where) return a.where < b.where;
        return compare_keys(a.key, b.key) == std::strong_ordering::less;
    };
    std::vector<const record_change*> all, added;
    all.reserve(changes.size());
    added.reserve(changes.size());
    for (const record_change& each : changes) all.push_back(&each);
    std::sort(all.begin(), all.end(), [&](const record_change* a, const record_change* b) {
        return before(*a, *b) || (!before(*b, *a) && a < b);
    });
    const auto is_last = [&](std::size_t i) { return i + 1 == all.size() || before(*all[i], *all[i + 1]); };
    try {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (is_last(i) && all[i]->present && put(all[i]->where, all[i]->key)) added.push_back(all[i]);
        }
    } catch (const std::bad_alloc&) {
        for (const record_change* const each : added) static_cast<void>(erase(each->where, each->key));
        throw;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_last(i) && !all[i]->present) static_cast<void>(erase(all[i]->where, all[i]->key));
    }
}

template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::erase_range(std::uint64_t first, std::uint64_t last) noexcept {
    if (first > last) return;
    while (root_ != nullptr) {
        const leaf* current = leaf_of_position(first);
        std::size_t slot = current->lower_bound(first);
        if (slot == current->count) {
            current = current->next;
            slot = 0;
        }
        if (current == nullptr || current->positions[slot] > last) return;
        // The key's bytes are read until the record is found, and not while it goes.
        static_cast<void>(erase(current->digest_at(slot), current->key_at(slot)));
    }
}

// ---- destruction and audit

template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::free_subtree(void* node, unsigned level) noexcept {
    if (level == 0) {
        auto* const last = static_cast<leaf*>(node);
        for (std::size_t slot = 0; slot < last->count; ++slot) last->stored_at(slot).release();
        delete last;
        return;
    }
    auto* const current = static_cast<inner*>(node);
    for (std::size_t child = 0; child < current->count; ++child) free_subtree(current->children[child], level - 1);
    delete current;
}

template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::audit_leaf(const leaf& node, bool is_root, audit_state& state) const noexcept {
    if (!is_root && (node.count < min_records || node.count == 0)) state.broken = "I2: a leaf is less than half full";
    if (node.count > Records) state.broken = "I2: a leaf holds more than it can";
    if (state.broken != nullptr) return;
    if (state.previous != nullptr) {
        if (state.previous->next != &node) {
            state.broken = "I3: a leaf's next is not the leaf to its right";
        } else if (state.previous->compare(state.previous->count - 1, node.digest_at(0), node.key_at(0)) >= 0) {
            state.broken = "I3: records of neighbouring leaves do not ascend";
        }
    }
    for (std::size_t slot = 0; slot < node.count; ++slot) {
        if (slot > 0 && node.compare(slot - 1, node.digest_at(slot), node.key_at(slot)) >= 0) {
            state.broken = "I3: records within a leaf do not ascend";
        }
        state.key_bytes += node.stored_at(slot).allocated_bytes();
    }
    state.records += node.count;
    ++state.leaves;
    state.previous = &node;
}

template <std::size_t Records, std::size_t Children>
void record_tree<Records, Children>::audit_node(const void* node, unsigned level, audit_state& state) const noexcept {
    if (level == 0) return audit_leaf(*static_cast<const leaf*>(node), node == root_, state);
    const auto& current = *static_cast<const inner*>(node);
    ++state.inners;
    if (current.count < (node == root_ ? 2 : min_children)) state.broken = "I2: an inner node is less than half full";
    if (current.count > Children) state.broken = "I2: an inner node has more children than it can";
    for (std::size_t child = 0; child < current.count && state.broken == nullptr; ++child) {
        if (child > 0) {
            const leaf& before = *state.previous;
            const leaf& after = *first_leaf(current.children[child], level - 1);
            if (before.positions[before.count - 1] > current.positions[child] ||
                current.positions[child] > after.positions[0]) {
                state.broken = "I4: a separator does not separate";
            }
            if (level > 1 &&
                static_cast<const inner*>(current.children[child])->positions[0] != current.positions[child]) {
                state.broken = "I4: an inner node does not repeat the separator above it";
            }
        }
        if (state.broken == nullptr) audit_node(current.children[child], level - 1, state);
    }
}

template <std::size_t Records, std::size_t Children>
result<void> record_tree<Records, Children>::audit() const noexcept {
    audit_state state;
    if (root_ != nullptr) {
        audit_node(root_, height_, state);
        if (state.broken == nullptr && state.previous->next != nullptr) state.broken = "I3: the last leaf has a next";
    }
    if (state.broken == nullptr && (state.records != size_ || state.leaves != leaves_ || state.inners != inners_ ||
                                    state.key_bytes != key_bytes_)) {
        state.broken = "I5: the counts disagree with the tree";
    }
    if (state.broken == nullptr) return {};
    return error::make(error_code::corrupt, "record_tree of %zu records: %s", size_, state.broken);
}

}  // namespace genista
