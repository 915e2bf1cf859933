// genista-lab: `genista lab` and what is below it. genista calls it (tools/genista/main.cpp)
// with its own line, so that it is called `genista-lab lab run ...`. Help and errors say genista,
// which is what the user typed.
#include "commands.hpp"

int main(int argument_count, char** arguments) {
    return genista::tool::run_program(argument_count, arguments, genista::tool::add_lab_commands,
                                      "genista lab run broom-words --quick");
}
