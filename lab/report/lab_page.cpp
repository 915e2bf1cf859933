// A table of all promises, then each experiment with its figures. See lab_page.hpp.
#include "lab/report/lab_page.hpp"

#include <algorithm>

namespace genista::lab::report {

page lab_page(std::span<const named_outcome> outcomes, nlohmann::ordered_json data) {
    page made;
    made.title = outcomes.size() == 1 ? outcomes.front().id : "Promises and measurements";
    made.highlight = "cuckooing";
    const auto kept = std::count_if(outcomes.begin(), outcomes.end(), [](const auto& each) { return each.made.kept; });
    made.lead = std::to_string(kept)
                    .append(" of ")
                    .append(std::to_string(outcomes.size()))
                    .append(outcomes.size() == 1 ? " promise" : " promises")
                    .append(" kept.");
    if (static_cast<std::size_t>(kept) != outcomes.size()) made.warning = "A promise is broken: see the table.";
    section all{"What was promised and what was measured", "", {}};
    table rows;
    rows.columns = {{"experiment"}, {"promised"}, {"measured"}, {"kept"}};
    for (const auto& [id, each] : outcomes) {
        rows.rows.push_back({id, each.promised, each.measured, each.kept ? "kept" : "BROKEN"});
    }
    all.figures.emplace_back(std::move(rows));
    made.sections.push_back(std::move(all));
    for (const auto& [id, each] : outcomes) {
        for (section figures : each.figures) {
            figures.heading = std::string{id}.append(": ").append(figures.heading);
            made.sections.push_back(std::move(figures));
        }
    }
    made.data = std::move(data);
    return made;
}

}  // namespace genista::lab::report
