// Stages, games and verdicts. See attack_matrix.hpp.
#include "lab/games/attack_matrix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "lab/adversaries/adversary.hpp"
#include "lab/games/contenders.hpp"
#include "lab/workloads/parallel.hpp"

namespace genista::lab {
namespace {

constexpr std::array verdict_names{std::pair{verdict::holds, "holds"}, std::pair{verdict::loses, "loses"},
                                   std::pair{verdict::denies, "denies a stored key"},
                                   std::pair{verdict::cannot_play, "cannot play"}};

struct spending {
    std::uint64_t queries;  // of all games of a cell together
    std::uint64_t games;
};
constexpr spending quick_spending{2'000'000, 2};
constexpr spending full_spending{40'000'000, 4};
// Adversaries check their budget between moves, and some moves are long. Beyond this many times the
// effort they are stopped.
constexpr std::uint64_t most_overspending = 4;

// A filter that is full before the attack is over may be made this many times larger than the
// stage.
constexpr std::uint64_t most_room = 4;

// Thrown when the budget of this game is used up.
struct effort_spent {};

// An arena that ends the game when the effort is spent (I2).
class limited_arena final : public arena {
  public:
    limited_arena(arena& inner, std::uint64_t most_effort) : inner_{inner}, most_{effort() + most_effort} {}

    [[nodiscard]] std::string_view filter_name() const noexcept override { return inner_.filter_name(); }
    [[nodiscard]] double rate() const noexcept override { return inner_.rate(); }
    [[nodiscard]] std::uint64_t bins() const noexcept override { return inner_.bins(); }
    reply query(std::uint64_t key) override { return still().query(key); }
    hunt query_run(std::uint64_t first, std::uint64_t most) override { return still().query_run(first, most); }
    reply guess(std::uint64_t key) override { return still().guess(key); }
    unsigned insert(std::uint64_t key) override { return still().insert(key); }
    unsigned erase(std::uint64_t key) override { return still().erase(key); }
    void fill(std::uint64_t keys) override { still().fill(keys); }
    [[nodiscard]] bool is_member(std::uint64_t key) const override { return inner_.is_member(key); }
    [[nodiscard]] std::uint64_t size() const noexcept override { return inner_.size(); }
    void grow() override {
        move([&] { still().grow(); });
    }
    void save() override {
        move([&] { still().save(); });
    }
    void restart() override {
        move([&] { still().restart(); });
    }
    [[nodiscard]] const score& counted() const noexcept override { return inner_.counted(); }

    // Why the filter could not make a move; empty if it could. Adversaries may treat a refusal as
    // the end of the game.
    [[nodiscard]] const std::string& refused() const noexcept { return refused_; }

  private:
    [[nodiscard]] std::uint64_t effort() const noexcept {
        const score& seen = inner_.counted();
        return seen.negatives + change_effort * (seen.operations - seen.negatives) + moves_;
    }
    arena& still() {
        if (effort() > most_) throw effort_spent{};
        return inner_;
    }
    // Growing, saving and loading touch every key.
    template <class Move>
    void move(Move make) {
        moves_ += inner_.size() + 1;
        try {
            make();
        } catch (const std::runtime_error& why) {
            refused_ = why.what();
            throw;
        }
    }

    arena& inner_;
    std::uint64_t moves_ = 0;
    std::uint64_t most_;
    std::string refused_;
};

// Shorter fingerprints give the cuckoo family a larger ε: the fewest bits that promise at most
// matrix_rate.
unsigned fingerprint_bits_for(std::string_view filter) {
    constexpr unsigned least = 4, most = 20;
    contender_plan plan{.keys = few_bins.capacity, .rate = matrix_rate};
    for (plan.fingerprint_bits = least; plan.fingerprint_bits < most; ++plan.fingerprint_bits) {
        try {
            if (make_empty_contender(filter, plan)->rate() <= matrix_rate) break;
        } catch (const std::runtime_error&) {  // too few bits for this filter: the next one
        }
    }
    return plan.fingerprint_bits;
}

// FNV-1a: the chance of a cell comes from the names, so that other cells change nothing (I1).
std::uint64_t seed_of(std::uint64_t seed, std::string_view adversary, std::uint64_t game) {
    std::uint64_t mixed = 0xcbf29ce484222325;
    const auto mix = [&](std::uint64_t byte) { mixed = (mixed ^ byte) * 0x100000001b3; };
    for (const char c : adversary) mix(static_cast<unsigned char>(c));
    for (unsigned shift = 0; shift < 64; shift += 8) mix((seed >> shift) & 0xff);
    mix(game);
    return mixed;
}

// Only a filter that promises its rate beyond its capacity can be overfull; the others are made for
// all the keys.
std::uint64_t capacity_on(const stage& plays_on, std::string_view filter) {
    return takes_more_than_capacity(filter) ? plays_on.capacity : std::max(plays_on.capacity, plays_on.keys);
}

void play_game(matrix_cell& cell, const adversary& by, const spending& may_spend, contender_plan plan) {
    plan.keys = cell.capacity;
    plan.grows = by.plays_on.capacity > few_bins.capacity;
    const std::unique_ptr<arena> at = make_empty_contender(cell.filter, plan);
    at->fill(by.plays_on.keys);
    cell.promised = std::max(cell.promised, at->rate());
    const std::uint64_t effort = may_spend.queries / may_spend.games;
    limited_arena limited{*at, most_overspending * effort};
    try {
        by.play(limited, {.queries = effort, .seed = plan.seed, .progress = [](double) {}});
    } catch (const effort_spent&) {  // judged by what it has
    } catch (const std::runtime_error&) {
        cell.seen += at->counted();
        throw;
    }
    cell.seen += at->counted();
    ++cell.games;
    cell.why = limited.refused();
}

[[nodiscard]] bool loses_guesses(const matrix_cell& cell) noexcept {
    return cell.seen.right_guesses > most_plausible_hits(cell.seen.guesses, cell.promised);
}
[[nodiscard]] bool loses_queries(const matrix_cell& cell) noexcept {
    return cell.seen.false_positives > most_plausible_hits(cell.seen.negatives, cell.promised);
}

void judge_cell(matrix_cell& cell) {
    if (cell.seen.false_negatives > 0) {
        cell.said = verdict::denies;
    } else if (loses_guesses(cell) || loses_queries(cell)) {
        cell.said = verdict::loses;
    } else if (!cell.why.empty()) {
        cell.said = verdict::cannot_play;
    } else if (cell.seen.negatives == 0) {
        cell.why = "it never came to ask";
    } else {
        cell.said = verdict::holds;
    }
}

matrix_cell play_cell(const adversary& by, std::string_view filter, unsigned fingerprint_bits,
                      const matrix_options& options) {
    const spending may_spend = options.quick ? quick_spending : full_spending;
    for (std::uint64_t room = 1;; room *= 2) {
        matrix_cell cell{.adversary = std::string{by.name},
                         .filter = std::string{filter},
                         .keys = by.plays_on.keys,
                         .capacity = room * capacity_on(by.plays_on, filter)};
        bool stopped = false;  // in the middle of the attack, by the filter
        try {
            for (std::uint64_t game = 0; game < may_spend.games && cell.why.empty(); ++game) {
                play_game(cell, by, may_spend,
                          {.fingerprint_bits = fingerprint_bits,
                           .rate = matrix_rate,
                           .seed = seed_of(options.seed, by.name, game)});
            }
        } catch (const std::runtime_error& refused) {
            cell.why = refused.what();
            stopped = true;
        }
        judge_cell(cell);
        if (!stopped || cell.said != verdict::cannot_play || room >= most_room) return cell;
    }
}

}  // namespace

std::string_view to_string(verdict said) noexcept {
    for (const auto& [value, name] : verdict_names) {
        if (value == said) return name;
    }
    return "";
}

bool matrix_cell::is_about_guesses() const noexcept {
    return seen.guesses > 0 && (loses_guesses(*this) || !loses_queries(*this));
}

double matrix_cell::rate() const noexcept {
    if (trials() == 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(hits()) / static_cast<double>(trials());
}

result<std::vector<matrix_cell>> play_matrix(const matrix_options& options) {
    std::vector<const adversary*> rows;
    for (const std::string& name : options.adversaries) {
        rows.push_back(find_adversary(name));
        if (rows.back() == nullptr) {
            return error::make(error_code::invalid_argument, "'%.60s' is no adversary of the lab", name.c_str());
        }
    }
    if (rows.empty()) {
        for (const adversary& each : all_adversaries()) rows.push_back(&each);
    }
    const std::vector<std::string> known = all_contenders();
    for (const std::string& name : options.filters) {
        if (std::ranges::find(known, name) == known.end()) {
            return error::make(error_code::invalid_argument, "'%.60s' is no filter that can be attacked", name.c_str());
        }
    }
    const std::vector<std::string>& columns = options.filters.empty() ? known : options.filters;
    std::vector<unsigned> fingerprint_bits;
    for (const std::string& name : columns) fingerprint_bits.push_back(fingerprint_bits_for(name));

    std::vector<matrix_cell> cells(rows.size() * columns.size());
    const auto play = [&](std::size_t i) {
        const std::size_t column = i % columns.size();
        cells[i] = play_cell(*rows[i / columns.size()], columns[column], fingerprint_bits[column], options);
    };
    if (options.on_all_processors) {
        parallel(cells.size(), play, options.progress);
    } else {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            play(i);
            options.progress(static_cast<double>(i + 1) / static_cast<double>(cells.size()));
        }
    }
    return cells;
}

nlohmann::ordered_json to_json(const std::vector<matrix_cell>& cells) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const matrix_cell& each : cells) {
        nlohmann::ordered_json row{{"adversary", each.adversary},
                                   {"filter", each.filter},
                                   {"verdict", to_string(each.said)},
                                   {"why", each.why},
                                   {"promised", each.promised},
                                   {"rate", each.rate()},
                                   {"low", each.within().low},
                                   {"high", each.within().high},
                                   {"keys", each.keys},
                                   {"capacity", each.capacity},
                                   {"games", each.games},
                                   {"guesses", each.seen.guesses},
                                   {"right", each.seen.right_guesses},
                                   {"negatives", each.seen.negatives},
                                   {"false_positives", each.seen.false_positives},
                                   {"false_negatives", each.seen.false_negatives},
                                   {"operations", each.seen.operations},
                                   {"range_reads", each.seen.reads}};
        if (each.trials() == 0) row["rate"] = row["low"] = row["high"] = nullptr;
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<matrix_cell> matrix_from_json(const nlohmann::ordered_json& rows) {
    std::vector<matrix_cell> cells;
    for (const auto& row : rows) {
        matrix_cell cell{.adversary = row.at("adversary").get<std::string>(),
                         .filter = row.at("filter").get<std::string>(),
                         .keys = row.at("keys").get<std::uint64_t>(),
                         .capacity = row.at("capacity").get<std::uint64_t>(),
                         .games = row.at("games").get<std::uint64_t>(),
                         .promised = row.at("promised").get<double>(),
                         .seen = {.negatives = row.at("negatives").get<std::uint64_t>(),
                                  .false_positives = row.at("false_positives").get<std::uint64_t>(),
                                  .guesses = row.at("guesses").get<std::uint64_t>(),
                                  .right_guesses = row.at("right").get<std::uint64_t>(),
                                  .false_negatives = row.at("false_negatives").get<std::uint64_t>(),
                                  .operations = row.at("operations").get<std::uint64_t>(),
                                  .reads = row.at("range_reads").get<std::uint64_t>()},
                         .why = row.at("why").get<std::string>()};
        judge_cell(cell);
        cells.push_back(std::move(cell));
    }
    return cells;
}

}  // namespace genista::lab
