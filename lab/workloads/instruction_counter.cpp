// The trap flag and its signal. See instruction_counter.hpp.
#include "lab/workloads/instruction_counter.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <csignal>
#define GENISTA_LAB_SINGLE_STEPS 1
#endif

namespace genista::lab {
namespace {

// Plain numbers: the handler runs in the thread that is being counted, between two of its
// instructions.
volatile std::uint64_t counted_steps = 0;
volatile std::uint64_t resumed = 0;
std::uint64_t steps_of_a_pair = 0;  // the steps of resume() and pause() themselves

#if defined(GENISTA_LAB_SINGLE_STEPS)

struct sigaction handler_before {};

void one_step(int) {
    counted_steps = counted_steps + 1;
}

#endif

}  // namespace

#if defined(GENISTA_LAB_SINGLE_STEPS)

// The flags register can only be set through the stack; the 128 bytes below the stack pointer
// belong to the function.
[[gnu::noinline]] void instruction_counter::resume() noexcept {
    resumed = resumed + 1;
    asm volatile(
        "lea -128(%%rsp), %%rsp\n\t"
        "pushfq\n\t"
        "orq $0x100, (%%rsp)\n\t"
        "popfq\n\t"
        "lea 128(%%rsp), %%rsp" ::
            : "memory", "cc");
}

[[gnu::noinline]] void instruction_counter::pause() noexcept {
    asm volatile(
        "lea -128(%%rsp), %%rsp\n\t"
        "pushfq\n\t"
        "andq $-0x101, (%%rsp)\n\t"
        "popfq\n\t"
        "lea 128(%%rsp), %%rsp" ::
            : "memory", "cc");
}

instruction_counter::instruction_counter() noexcept {
    struct sigaction ours {};
    ours.sa_handler = one_step;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGTRAP, &ours, &handler_before);
    steps_of_a_pair = 0;
    steps_of_a_pair = of([] {});
}

instruction_counter::~instruction_counter() {
    sigaction(SIGTRAP, &handler_before, nullptr);
}

#else

void instruction_counter::resume() noexcept {}
void instruction_counter::pause() noexcept {}
instruction_counter::instruction_counter() noexcept = default;
instruction_counter::~instruction_counter() = default;

#endif

void instruction_counter::clear() noexcept {
    counted_steps = 0;
    resumed = 0;
}

std::uint64_t instruction_counter::counted() noexcept {
    return counted_steps - resumed * steps_of_a_pair;
}

bool instruction_counter::available() noexcept {
    instruction_counter counter;
    volatile int sum = 0;
    const std::uint64_t hundred = counter.of([&] {
        for (int i = 0; i < 100; ++i) sum = sum + i;
    });
    return hundred >= 100 && hundred < 10'000;
}

}  // namespace genista::lab
