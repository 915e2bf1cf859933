// daisy_hosts_bench: the host list: daisy filters over a trained score model, the model's bytes
// included, beside filters without an oracle.
//
//     build/release/bin/daisy_hosts_bench
//
// lab/experiments/daisy_hosts.hpp says what is measured. Exit status 1 if a stored host was denied.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

#include "lab/experiments/daisy_hosts.hpp"
#include "machine.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace {

using namespace genista;

// The filters without an oracle, at each target.
std::string rivals_text(const lab::hosts_outcome& made) {
    using tool::align, tool::grouped;
    tool::table rows{{{"target", align::right}, {"rival"}, {"bytes", align::right}, {"rate/target", align::right}}};
    for (const lab::hosts_target& target : made.targets) {
        for (const lab::hosts_count& each : target.rivals) {
            rows.add_row({fmt::format("1/{:g}", 1 / target.rate), std::string{each.filter}, grouped(each.filter_bytes),
                          fmt::format("{:.2f}", each.rate() / target.rate)});
        }
    }
    return rows.text();
}

std::string to_text(const lab::hosts_outcome& made) {
    using tool::align, tool::grouped;
    std::string page =
        fmt::format("{} hosts: trained on {} blocked and {} popular ones; {} others stored, {} others asked for\n",
                    made.is_real ? "real" : "made-up", grouped(made.trained_stored), grouped(made.trained_asked),
                    grouped(made.stored), grouped(made.asked));
    for (const score_choice& each : made.choices) {
        page += fmt::format(
            "model of {} weights: n-grams up to {}, step {:g}, shrinkage {:g}, {} epochs, {} of 1024 clipped; {:.3f} "
            "bits\n",
            grouped(each.weights), each.settings.longest_ngram, each.settings.step, each.settings.shrinkage,
            each.settings.epochs, each.settings.clipped, each.bits_a_key);
    }
    page += "\n" + rivals_text(made) + "\n";
    tool::table rows{{{"target", align::right},
                      {"model", align::right},
                      {"filter"},
                      {"filter bytes", align::right},
                      {"total", align::right},
                      {"rate/target", align::right},
                      {"of the smallest rival", align::right},
                      {"of the smallest at its rate", align::right},
                      {"which is"},
                      {"with", align::right},
                      {"rate/target", align::right}}};
    for (const lab::hosts_row& row : made.rows) {
        const lab::hosts_count &at_target = lab::smallest(made.target(row.target)->rivals),
                               &at_rate = lab::smallest(row.at_its_rate);
        const auto share_of = [&row](const lab::hosts_count& rival) {
            return fmt::format("{:.2f}",
                               static_cast<double>(row.total_bytes()) / static_cast<double>(rival.filter_bytes));
        };
        rows.add_row({fmt::format("1/{:g}", 1 / row.target),
                      grouped(row.model_bytes) + (row.is_chosen_size ? " (auto)" : ""), std::string{row.filter},
                      grouped(row.filter_bytes), grouped(row.total_bytes()),
                      fmt::format("{:.2f}", row.rate() / row.target), share_of(at_target), share_of(at_rate),
                      std::string{at_rate.filter}, grouped(at_rate.filter_bytes),
                      fmt::format("{:.2f}", at_rate.rate() / row.target)});
    }
    return page + rows.text();
}

}  // namespace

int main(int argument_count, char** arguments) {
    lab::run_options options;
    CLI::App app{"daisy filters over a score model of host names, beside filters without an oracle",
                 "daisy_hosts_bench"};
    app.add_option("--data", options.data_directory, "folder with sets/hosts-block-vs-popular.tsv.gz")
        ->type_name("DIR");
    app.add_flag("--quick", options.quick, "the smallest model alone");
    app.add_option("--seed", options.seed, "all randomness comes from it")->capture_default_str();
    return bench::run_program(app, argument_count, arguments, [&]() -> bench::findings {
        tool::progress bar{"hosts"};
        options.progress = [&bar](double share) { bar.update(share); };
        const auto made = lab::measure_hosts(options);
        if (!made) throw std::runtime_error{std::string{made.error().message()}};
        nlohmann::ordered_json document = to_json(tool::this_machine());
        document["hosts"] = made->json();
        bench::findings found{.text = to_text(*made), .json = document, .faults = {}};
        if (made->false_negatives() > 0)
            found.faults.push_back(fmt::format("{} stored hosts were denied", made->false_negatives()));
        return found;
    });
}
