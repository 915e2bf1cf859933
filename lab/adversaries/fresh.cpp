// The plainest adversary: it asks for a new key every time. Ordinary filters withstand it too. It
// is the yardstick for the others, and it measures the rate that the stored keys make.
#include "lab/adversaries/attacks.hpp"
#include "lab/adversaries/hunter.hpp"

namespace genista::lab {

void ask_fresh(arena& at, const budget& may_spend) {
    hunter me{at, may_spend};
    while (!me.spent()) at.guess(me.absent_key());
}

}  // namespace genista::lab
