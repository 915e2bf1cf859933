// sketch_oracle: training, merging, saving and loading. See sketch_oracle.hpp.
#include "genista/oracles/sketch_oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "format/hash_fields.hpp"
#include "hash/chance.hpp"

namespace genista {
namespace {

constexpr std::uint16_t sketch_oracle_version = 1;

template <class Sketch>
typename Sketch::options options_of(const sketch_shape& shape, bool conservative, const hasher& hash) noexcept {
    if constexpr (sketch_oracle<Sketch>::is_count_min) {
        return {shape, conservative, hash};
    } else {
        return {shape, hash};
    }
}

// The odds of an unseen key: the share of the log whose keys are within the noise, at least half an
// observation, divided by the universe.
template <class Sketch>
double unseen_of(const Sketch& sketch, std::span<const counted_key> log, double universe) noexcept {
    const double noise = sketch.noise();
    const auto total = static_cast<double>(sketch.total());
    double drowned = 0;
    for (const counted_key& entry : log) {
        const bool stands_out = static_cast<double>(sketch.estimate(entry.key)) > noise;
        drowned += stands_out ? 0 : static_cast<double>(entry.count);
    }
    return std::clamp(drowned, 0.5, total) / total / universe;
}

result<void> check_unseen(std::string_view oracle, const key_odds& unseen) noexcept {
    for (const auto& [side, value] : {std::pair{"stored", unseen.stored}, std::pair{"asked", unseen.asked}}) {
        if (value > 0 && value <= 1) continue;
        return error::make(error_code::invalid_argument,
                           "%.*s: the probability %g of an unseen key to be %s is not in (0, 1]",
                           static_cast<int>(oracle.size()), oracle.data(), value, side);
    }
    return {};
}

error empty_log(std::string_view oracle, const char* which) noexcept {
    return error::make(error_code::invalid_argument, "%.*s: the log of %s is empty", static_cast<int>(oracle.size()),
                       oracle.data(), which);
}

template <class Sketch>
bool is_conservative(const Sketch& sketch) noexcept {
    if constexpr (sketch_oracle<Sketch>::is_count_min) {
        return sketch.conservative();
    } else {
        return false;
    }
}

}  // namespace

template <class Sketch>
sketch_oracle<Sketch>::sketch_oracle(Sketch stored, Sketch asked, const key_odds& unseen) noexcept
    : stored_{std::move(stored)},
      asked_{std::move(asked)},
      unseen_{unseen},
      stored_noise_{stored_.noise()},
      asked_noise_{asked_.noise()} {}

template <class Sketch>
result<sketch_oracle<Sketch>> sketch_oracle<Sketch>::make(Sketch stored, Sketch asked,
                                                          const key_odds& unseen) noexcept {
    if (stored.total() == 0) return empty_log(name, "inserts");
    if (asked.total() == 0) return empty_log(name, "queries");
    if (!(stored.hash() == asked.hash()) || is_conservative(stored) != is_conservative(asked)) {
        return error::make(error_code::mismatch,
                           "%.*s: the two sketches have different hash keys, or only one is updated conservatively",
                           static_cast<int>(name.size()), name.data());
    }
    if (const auto fine = check_unseen(name, unseen); !fine) return fine.error();
    return sketch_oracle{std::move(stored), std::move(asked), unseen};
}

template <class Sketch>
result<sketch_oracle<Sketch>> sketch_oracle<Sketch>::train(const sketch_oracle_options& options,
                                                           std::span<const counted_key> inserts,
                                                           std::span<const counted_key> queries) noexcept {
    if (!(options.universe >= 1 && options.universe <= unknown_universe)) {
        return error::make(error_code::invalid_argument, "%.*s: a universe of %g keys is not in 1..2^64",
                           static_cast<int>(name.size()), name.data(), options.universe);
    }
    const auto hash = hasher_or_random(options.hash);
    if (!hash) return hash.error();
    auto stored = Sketch::make(options_of<Sketch>(options.stored, options.conservative, *hash));
    if (!stored) return stored.error();
    auto asked = Sketch::make(options_of<Sketch>(options.asked, options.conservative, *hash));
    if (!asked) return asked.error();
    for (const counted_key& entry : inserts) stored->add(entry.key, entry.count);
    for (const counted_key& entry : queries) asked->add(entry.key, entry.count);
    if (stored->total() == 0) return empty_log(name, "inserts");
    if (asked->total() == 0) return empty_log(name, "queries");
    key_odds unseen;
    if (options.unseen) {
        unseen = *options.unseen;
    } else {
        unseen = {unseen_of(*stored, inserts, options.universe), unseen_of(*asked, queries, options.universe)};
    }
    return make(*std::move(stored), *std::move(asked), unseen);
}

template <class Sketch>
result<void> sketch_oracle<Sketch>::merge(const sketch_oracle& other) noexcept {
    const auto mean = [](double a, double weight, double b, double other_weight) {
        return (a * weight + b * other_weight) / (weight + other_weight);
    };
    const auto total = [](const Sketch& sketch) { return static_cast<double>(sketch.total()); };
    const key_odds unseen{mean(unseen_.stored, total(stored_), other.unseen_.stored, total(other.stored_)),
                          mean(unseen_.asked, total(asked_), other.unseen_.asked, total(other.asked_))};
    // The second merge must not fail after the first is done. Only its shape can differ; everything
    // else is checked by the first merge.
    if (!(asked_.shape() == other.asked_.shape())) return asked_.merge(other.asked_);
    if (const auto merged = stored_.merge(other.stored_); !merged) return merged;
    if (const auto merged = asked_.merge(other.asked_); !merged) return merged;
    unseen_ = unseen;
    stored_noise_ = stored_.noise();
    asked_noise_ = asked_.noise();
    return {};
}

template <class Sketch>
result<void> sketch_oracle<Sketch>::save(sink& out) const noexcept {
    const auto kind = is_count_min ? snapshot_kind::count_min_oracle : snapshot_kind::count_sketch_oracle;
    const auto info = describe(kind, sketch_oracle_version, hash());
    if (!info) return info.error();
    field_writer fields;
    fields.u64(stored_.shape().width).u64(asked_.shape().width);
    fields.u16(static_cast<std::uint16_t>(stored_.shape().depth)).u16(static_cast<std::uint16_t>(asked_.shape().depth));
    fields.u32(is_conservative(stored_) ? 1 : 0);
    write_hash(fields, hash());
    fields.u64(stored_.total()).u64(asked_.total()).f64(unseen_.stored).f64(unseen_.asked);
    const std::array sections = {stored_.bytes(), asked_.bytes()};
    return write_snapshot(out, *info, fields.view(), sections);
}

template <class Sketch>
result<sketch_oracle<Sketch>> sketch_oracle<Sketch>::load(std::span<const std::byte> bytes) noexcept {
    const auto kind = is_count_min ? snapshot_kind::count_min_oracle : snapshot_kind::count_sketch_oracle;
    const auto view = open_snapshot_as(kind, sketch_oracle_version, 2, bytes);
    if (!view) return view.error();
    field_reader fields{view->parameters};
    sketch_shape stored_shape, asked_shape;
    stored_shape.width = fields.u64();
    asked_shape.width = fields.u64();
    stored_shape.depth = fields.u16();
    asked_shape.depth = fields.u16();
    const std::uint32_t flags = fields.u32();
    const auto hash = read_hash(fields, view->info);
    if (!hash) return hash.error();
    const std::uint64_t stored_total = fields.u64(), asked_total = fields.u64();
    key_odds unseen;
    unseen.stored = fields.f64();
    unseen.asked = fields.f64();
    if (!fields.finished() || flags > (is_count_min ? 1 : 0)) {
        return error::make(error_code::corrupt, "%.*s snapshot: %zu bytes of parameters, flags %u",
                           static_cast<int>(name.size()), name.data(), view->parameters.size(), flags);
    }
    const auto corrupt = [](const error& cause) {
        const auto code = cause.code() == error_code::out_of_memory ? cause.code() : error_code::corrupt;
        return error::make(code, "snapshot: %s", cause.message().data());
    };
    auto stored =
        Sketch::from_bytes(options_of<Sketch>(stored_shape, flags == 1, *hash), stored_total, view->sections[0]);
    if (!stored) return corrupt(stored.error());
    auto asked = Sketch::from_bytes(options_of<Sketch>(asked_shape, flags == 1, *hash), asked_total, view->sections[1]);
    if (!asked) return corrupt(asked.error());
    auto made = make(*std::move(stored), *std::move(asked), unseen);
    if (!made) return corrupt(made.error());
    return made;
}

template class sketch_oracle<count_min>;
template class sketch_oracle<count_sketch>;

}  // namespace genista
