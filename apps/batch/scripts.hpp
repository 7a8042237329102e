#pragma once
/// Scripts and command lines that hand a job's tasks to an engine.

#include <string>
#include <vector>

#include "apps/batch/commands.hpp"
#include "apps/batch/job.hpp"

namespace sightline::apps::batch {

/// A word for a shell, in quotation marks if it needs them.
std::string shell_word(const std::string& text);
/// The command of a task, to which `--task N` is added.
std::vector<std::string> task_words(const Job& job, const SubmitArguments& arguments);
/// The command that merges into the output, for a shell.
std::string merge_line(const Job& job, const SubmitArguments& arguments);

/// Refuses names that a script cannot hold: control characters, which end its lines, and what the engine
/// excludes. Throws Error (usage) with the reason.
void check_names(const Job& job, const SubmitArguments& arguments);

/// Numbers [first, end) of the tasks, counted from `first`, as sbatch takes them: "0-3,7%2". Empty if there
/// are none.
/// @param most  tasks at a time; 0: no limit
std::string array_of(const std::vector<std::size_t>& tasks, std::size_t first, std::size_t end, int most);
/// The user's options for sbatch as words of a command line: "-A name" and "--account name" are two.
std::vector<std::string> sbatch_words(const std::vector<std::string>& options);
/// Options of an array of tasks, the user's last.
std::vector<std::string> array_words(const Job& job, const SubmitArguments& arguments);
/// The script of an array whose first task has a number.
std::string slurm_script(const Job& job, const SubmitArguments& arguments, std::size_t first);

/// A script for `--engine print`.
std::string script_to_print(const Job& job, const SubmitArguments& arguments,
                            const std::vector<std::size_t>& tasks);

/// Hands the tasks to Slurm. Throws Error (failed).
void submit_to_slurm(const Job& job, const SubmitArguments& arguments, const std::vector<std::size_t>& tasks);

/// Starts a program, by its path or by $PATH, with standard input (-1: as it is), output and error.
/// Throws Error (failed).
pid_t start_program(const std::vector<std::string>& words, int input, int output, int error);

}  // namespace sightline::apps::batch
