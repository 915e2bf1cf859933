// Cells, colours and words of the attack matrix. See report_page.hpp.
#include "lab/report/report_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "lab/adversaries/adversary.hpp"
#include "lab/report/text.hpp"

namespace genista::lab::report {
namespace {

constexpr int heat_steps = 6;  // of heat, between ε and certainty

// 0 where the filter holds. Where it loses, by the logarithm of the win rate, from ε to 1; never
// the colour of a hold.
double heat_of(const matrix_cell& cell) {
    if (cell.said == verdict::cannot_play) return std::nan("");
    if (cell.said == verdict::holds) return 0;
    if (cell.said == verdict::denies) return 1;
    const double share = std::log(cell.rate() / matrix_rate) / std::log(1 / matrix_rate);
    return std::clamp(share, 1.0 / heat_steps, 1.0);
}

// 8,102 as it is, 81,020 as 81 k.
std::string short_count(std::uint64_t count) {
    if (count < 10'000) return count_text(count);
    const bool millions = count >= 999'500;
    return amount_text(static_cast<double>(count) / (millions ? 1e6 : 1e3)) + no_break + (millions ? "M" : "k");
}

std::string short_share(double share) {
    if (share == 0) return "0" + no_break + "%";
    return (share >= 0.1 ? fixed_text(100 * share, 0) : amount_text(100 * share)) + no_break + "%";
}

// "0.3–0.5 %"
std::string short_interval(const interval& within) {
    const auto number = [](double share) {
        const double percent = 100 * share;
        if (percent == 0 || percent == 100) return fixed_text(percent, 0);
        if (percent > 99) return fixed_text(std::floor(10 * percent) / 10, 1);  // below 100
        return fixed_text(percent, percent >= 9.95 ? 0 : percent >= 0.995 ? 1 : 2);
    };
    return number(within.low) + "\xE2\x80\x93" + number(within.high) + no_break + "%";
}

std::string detail_of(const matrix_cell& cell) {
    std::string text = cell.filter + " against " + cell.adversary + ": " + std::string{to_string(cell.said)};
    if (!cell.why.empty()) text += " (" + cell.why + ")";
    text += ".";
    if (cell.seen.guesses > 0) {
        text += " " + count_text(cell.seen.right_guesses) + " of " + count_text(cell.seen.guesses) +
                (cell.seen.guesses == 1 ? " claim was right." : " claims were right.");
    } else if (cell.seen.negatives > 0) {
        text += " It never found an opportunity and made no claim.";
    }
    if (cell.seen.negatives > 0) {
        text += " Let through: " + count_text(cell.seen.false_positives) + " of all " +
                count_text(cell.seen.negatives) + " queries of absent keys.";
    }
    if (cell.seen.false_negatives > 0) text += " DENIED STORED KEYS: " + count_text(cell.seen.false_negatives) + ".";
    if (cell.trials() > 0) {
        text += " 95" + no_break + "% interval " + short_interval(cell.within()) +
                ", \xCE\xB5 = " + share_text(cell.promised) + "; " + count_text(cell.games) +
                (cell.games == 1 ? " game" : " games") + " on " + count_text(cell.keys) + " keys.";
    }
    return text;
}

heat_cell drawn_cell(const matrix_cell& cell) {
    heat_cell out;
    out.detail = detail_of(cell);
    out.heat = heat_of(cell);
    if (cell.said == verdict::cannot_play) {
        out.text = "cannot play";
        return out;
    }
    out.text = short_share(cell.rate());
    out.note = short_interval(cell.within()) + "\n" + short_count(cell.hits()) + " of " + short_count(cell.trials());
    if (!cell.is_about_guesses()) out.note += "\nof all asked";
    if (cell.said == verdict::denies) {
        out.alarming = true;
        out.text = "DENIES";
    }
    return out;
}

const matrix_cell* find_cell(std::span<const matrix_cell> cells, std::string_view adversary, std::string_view filter) {
    const auto found = std::ranges::find_if(
        cells, [&](const matrix_cell& each) { return each.adversary == adversary && each.filter == filter; });
    return found == cells.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(std::span<const matrix_cell> cells, std::string matrix_cell::*name) {
    std::vector<std::string> names;
    for (const matrix_cell& each : cells) {
        if (std::ranges::find(names, each.*name) == names.end()) names.push_back(each.*name);
    }
    return names;
}

std::vector<heat_mark> legend() {
    std::vector<heat_mark> marks{{0, "holds: no more than \xCE\xB5 explains"}};
    for (int step = 1; step <= heat_steps; ++step) {
        const double heat = static_cast<double>(step) / heat_steps;
        const double percent = 100 * std::pow(matrix_rate, 1 - heat);
        const std::string share = fixed_text(percent, percent < 1.5 || percent > 5 ? 0 : 1) + no_break + "%";
        marks.push_back({heat, step == 1 ? "loses: about " + share : share});
    }
    marks.push_back({std::nan(""), "cannot play"});
    return marks;
}

}  // namespace

std::string listed(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
        out += names[i];
    }
    return out;
}

heat_map matrix_figure(std::span<const matrix_cell> cells) {
    heat_map map;
    map.title = "How often an adversary is right";
    map.caption =
        "A row an adversary, a column a filter that promises \xCE\xB5 = 2^-8 (0.39 %). The number is the share of its "
        "claims that were right, which are false positives that it predicted. Below it are the 95 % interval and the "
        "counts. Where it made no claim, or its claims are within \xCE\xB5 and its queries are not, all its queries of "
        "absent keys count. Colours follow the logarithm of the share.";
    map.corner = "adversary";
    map.columns = names_of(cells, &matrix_cell::filter);
    for (const std::string& name : names_of(cells, &matrix_cell::adversary)) {
        const adversary* const by = find_adversary(name);
        heat_row row{name, by == nullptr ? std::string{} : std::string{by->idea}, {}};
        for (const std::string& filter : map.columns) {
            const matrix_cell* const cell = find_cell(cells, name, filter);
            row.cells.push_back(cell == nullptr ? heat_cell{} : drawn_cell(*cell));
        }
        map.rows.push_back(std::move(row));
    }
    map.legend = legend();
    return map;
}

std::vector<filter_record> records_of(std::span<const matrix_cell> cells) {
    std::vector<filter_record> records;
    for (const std::string& name : names_of(cells, &matrix_cell::filter)) {
        filter_record record;
        record.filter = name;
        for (const matrix_cell& each : cells) {
            if (each.filter != name) continue;
            switch (each.said) {
                case verdict::holds:
                    ++record.holds;
                    break;
                case verdict::loses:
                    record.lost_to.push_back(each.adversary);
                    if (record.worst == nullptr || each.rate() > record.worst->rate()) record.worst = &each;
                    break;
                case verdict::denies:
                    record.denied.push_back(each.adversary);
                    break;
                case verdict::cannot_play:
                    record.could_not.push_back(each.adversary);
                    break;
            }
        }
        records.push_back(std::move(record));
    }
    return records;
}

table record_table(std::span<const matrix_cell> cells) {
    table out{
        "What each filter withstands",
        {{"filter"}, {"holds", true}, {"loses", true}, {"cannot play", true}, {"worst"}, {"loses to", false, true}},
        {}};
    for (const filter_record& each : records_of(cells)) {
        std::string lost = listed(each.lost_to);
        if (!each.denied.empty())
            lost.insert(0, "DENIES STORED KEYS against " + listed(each.denied) + (lost.empty() ? "" : "; "));
        out.rows.push_back({each.filter, count_text(each.holds), count_text(each.lost_to.size() + each.denied.size()),
                            count_text(each.could_not.size()),
                            each.worst == nullptr ? std::string{not_measured}
                                                  : short_share(each.worst->rate()) + " to " + each.worst->adversary,
                            lost.empty() ? "none" : lost});
    }
    return out;
}

table trust_table(std::span<const matrix_cell> cells) {
    struct situation {
        const char* name;
        std::vector<std::string_view> adversaries;  // none: all
    };
    const std::array<situation, 3> all{situation{"every key asked is a new one", {"fresh", "fresh-crowded"}},
                                       situation{"keys repeat", {"repeat-one", "pool-replay", "rounds"}},
                                       situation{"an attacker sees the answers", {}}};
    table out{"What to trust a filter with",
              {{"if", false, true}, {"these hold", false, true}, {"these lose", false, true}},
              {}};
    for (const situation& each : all) {
        std::vector<matrix_cell> these;
        for (const matrix_cell& cell : cells) {
            if (each.adversaries.empty() ||
                std::ranges::find(each.adversaries, cell.adversary) != each.adversaries.end())
                these.push_back(cell);
        }
        std::vector<std::string> hold, lose;
        for (const filter_record& record : records_of(these)) {
            if (record.unbeaten()) hold.push_back(record.filter);
            if (!record.lost_to.empty() || !record.denied.empty()) lose.push_back(record.filter);
        }
        if (!these.empty())
            out.rows.push_back({each.name, hold.empty() ? "none" : listed(hold), lose.empty() ? "none" : listed(lose)});
    }
    return out;
}

}  // namespace genista::lab::report
