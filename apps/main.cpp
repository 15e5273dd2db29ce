#include "apps/commands.hpp"

int main(int argc, char** argv) { return quarksmith::apps::run_command_line(argc, argv); }
