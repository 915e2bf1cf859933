// Each experiment in words, then its figures. See lab_page.hpp.
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
    if (static_cast<std::size_t>(kept) != outcomes.size()) made.warning = "A promise is broken.";
    for (const auto& [id, each] : outcomes) {
        made.sections.push_back({std::string{id}.append(each.kept ? ": kept" : ": BROKEN"),
                                 std::string{"Promised: "}
                                     .append(each.promised)
                                     .append(".\n\nMeasured: ")
                                     .append(each.measured)
                                     .append("."),
                                 {}});
        for (section figures : each.figures) {
            figures.heading = std::string{id}.append(": ").append(figures.heading);
            made.sections.push_back(std::move(figures));
        }
    }
    made.data = std::move(data);
    return made;
}

}  // namespace genista::lab::report
