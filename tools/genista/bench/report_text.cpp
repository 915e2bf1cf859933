// The tables: for each size rates and bits, look-ups, updates, and ratios of medians. See
// report.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "bench/report.hpp"
#include "bench/subject.hpp"
#include "table.hpp"

namespace genista::tool::bench {
namespace {

// Filters that all others are divided by, beside the floor.
constexpr std::string_view yardsticks[] = {"cuckoo_partial", "blocked_bloom"};

bool several_teams(const size_report& size) {
    return size.what.threads.size() > 1;
}

std::string minimum_and_median(const samples& times) {
    const auto least = times.minimum(), middle = times.median();
    return least && middle ? fmt::format("{} ({})", rounded(*least), rounded(*middle)) : "-";
}

std::string with_speedup(const size_report& size, const samples& of_first, const samples& of_team, std::size_t team) {
    const auto faster = size.speedup(of_first, of_team, team);
    return team > 0 && faster ? fmt::format("{} {:.2f}x", minimum_and_median(of_team), *faster)
                              : minimum_and_median(of_team);
}

std::string rate_table(const size_report& size) {
    table page{{{"filter"},
                {"keys", align::right},
                {"error_rate", align::right},
                {"fpr", align::right},
                {"fpr_interval 99.9 %", align::right},
                {"bits_per_key", align::right},
                {"bits_over_optimal", align::right}}};
    for (const figures& each : size.filters) {
        const auto over = size.bits_over_optimal(each);
        page.add_row({each.name, grouped(size.what.keys), fmt::format("{:.4g}", size.what.error_rate),
                      fmt::format("{:.4g}", each.fpr()),
                      fmt::format("{:.4g} .. {:.4g}", each.fpr_interval.low, each.fpr_interval.high),
                      fmt::format("{:.3f}", size.bits_per_key(each)), over ? fmt::format("{:.3f}", *over) : "-"});
    }
    return page.text();
}

// A first column with this title and, where threads differ, one that counts them; then the others,
// to the right.
table table_of(const size_report& size, const std::string& title, std::span<const operation> operations) {
    std::vector<table::column> columns{{title}};
    if (several_teams(size)) columns.push_back({"threads", align::right});
    for (const operation what : operations) {
        const bool shares = what == operation::mix && size.what.mix_update_percent > 0;
        columns.push_back(
            {shares ? fmt::format("mix {}", mix_name(size.what)) : std::string{name_of(what)}, align::right});
    }
    return table{std::move(columns)};
}

std::vector<std::string> row_of(const size_report& size, const std::string& name, std::size_t team) {
    std::vector<std::string> row{name};
    if (several_teams(size)) row.push_back(std::to_string(size.what.threads[team]));
    return row;
}

std::string lookup_table(const size_report& size) {
    table page = table_of(size, "ns min (median)", lookups);
    const auto teams = size.what.threads.size();
    for (const figures& each : size.filters) {
        for (std::size_t t = 0; t < teams; ++t) {
            auto row = row_of(size, each.name, t);
            for (const operation what : lookups) {
                row.push_back(with_speedup(size, each.of(what), each.of(what, t), t));
            }
            page.add_row(std::move(row));
        }
    }
    for (std::size_t t = 0; t < teams; ++t) {
        auto row = row_of(size, "floor", t);
        for (const operation what : lookups) {
            row.push_back(of_stored_keys(what) ? ""
                                               : with_speedup(size, size.floor.times[0].under(what),
                                                              size.floor.times[t].under(what), t));
        }
        page.add_row(std::move(row));
    }
    return page.text();
}

std::string update_table(const size_report& size) {
    const bool mixes = size.what.mix_update_percent > 0;
    std::vector<operation> columns{alone.begin(), alone.end()};
    if (mixes) columns.push_back(operation::mix);
    table page = table_of(size, "ns min (median)", columns);
    for (const figures& each : size.filters) {
        if (!each.of(operation::insert).median()) continue;  // a churned filter
        for (std::size_t t = 0; t < (mixes ? size.what.threads.size() : 1); ++t) {
            auto row = row_of(size, each.name, t);
            for (const operation what : alone) row.push_back(t == 0 ? minimum_and_median(each.of(what)) : "");
            if (mixes) row.push_back(with_speedup(size, each.of(operation::mix), each.of(operation::mix, t), t));
            page.add_row(std::move(row));
        }
    }
    return page.text();
}

// Medians divided by those that `below` gives for the same operation and threads; rows without any
// are left out.
using divisor = std::function<std::optional<double>(operation, std::size_t team)>;

std::string ratio_table(const size_report& size, std::string_view divided_by, const divisor& below) {
    std::vector<operation> columns{operation::insert};  // no filter to divide by has batches of updates
    columns.insert(columns.end(), lookups.begin(), lookups.end());
    columns.insert(columns.end(), {operation::erase, operation::adapt});
    if (size.what.mix_update_percent > 0) columns.push_back(operation::mix);
    table page = table_of(size, fmt::format("over {}", divided_by), columns);
    for (const figures& each : size.filters) {
        if (each.name == divided_by) continue;
        for (std::size_t t = 0; t < size.what.threads.size(); ++t) {
            auto row = row_of(size, each.name, t);
            for (const operation what : columns) {
                const auto above = each.of(what, t).median(), under = below(what, t);
                row.push_back(above && under ? rounded(*above / *under) : "-");
            }
            page.add_row(std::move(row));
        }
    }
    return page.text();
}

std::string ratio_tables(const size_report& size) {
    std::string text = "Ratios of medians.\n";
    text += ratio_table(size, "floor",
                        [&](operation what, std::size_t t) { return size.floor.times[t].under(what).median(); });
    for (const std::string_view name : yardsticks) {
        const auto found = std::ranges::find(size.filters, name, &figures::name);
        if (found == size.filters.end() || size.filters.size() == 1) continue;
        const auto below = [&](operation what, std::size_t t) { return found->of(what, t).median(); };
        text.append("\n").append(ratio_table(size, name, below));
    }
    return text;
}

std::string size_text(const size_report& size) {
    std::string looked_up;
    for (const std::uint64_t team : size.what.threads) {
        looked_up.append(looked_up.empty() ? "" : " and ").append(grouped(size.what.lookups(team) * team));
    }
    std::string text = fmt::format("{} keys, {} build{} a filter, {} look-ups a round\n\n", grouped(size.what.keys),
                                   size.what.build_rounds(), size.what.build_rounds() == 1 ? "" : "s", looked_up);
    for (const auto& part : {&rate_table, &lookup_table, &update_table}) text.append(part(size)).append("\n");
    text += ratio_tables(size);
    text += fmt::format("\nfloor: one random cache line of {} bytes a look-up, hash included\n",
                        grouped(size.floor.size_bytes));
    for (const figures& each : size.filters) {
        if (!each.oracle_ns) continue;
        text += fmt::format("{}: its oracle takes {} ns a key, not in the figures above\n", each.name,
                            rounded(*each.oracle_ns));
    }
    for (const figures& each : size.filters) {
        if (!each.range_reads_per_update) continue;
        const std::string slots =
            each.slot_reads_per_update ? fmt::format(" and {:.2f} slot reads", *each.slot_reads_per_update) : "";
        text += fmt::format("{}: {:.4f} range reads{} of R an update, {} replacements\n", each.name,
                            *each.range_reads_per_update, slots, grouped(size.what.replacements()));
    }
    return text;
}

}  // namespace

std::string rounded(double number) {
    if (number < 9.995) return fmt::format("{:.2f}", number);
    if (number < 99.95) return fmt::format("{:.1f}", number);
    if (number < 9999.5) return fmt::format("{:.0f}", number);
    if (number < 999.5e3) return fmt::format("{:.0f}k", number / 1e3);
    return fmt::format("{:.{}f}M", number / 1e6, number < 9.95e6 ? 1 : 0);
}

std::string to_text(const report& run) {
    const plan& asked = run.asked;
    std::string text =
        fmt::format("{} hash, seed {}, {} thread{}, {} round{}, batches of {}, {} rate queries\n", name_of(asked.hash),
                    asked.seed, fmt::join(asked.threads, " and "), asked.threads.back() == 1 ? "" : "s", asked.rounds,
                    asked.rounds == 1 ? "" : "s", batch_size, grouped(asked.rate_queries()));
    text +=
        fmt::format("{}, {} cores, {}, {}, {}, huge pages {}\n", run.machine.cpu, run.machine.cores, run.machine.isa,
                    run.machine.compiler, fmt::join(run.machine.caches, " "), run.machine.huge_pages);
    for (const size_report& size : run.sizes) text.append("\n").append(size_text(size));
    return text;
}

}  // namespace genista::tool::bench
