#include "apps/batch/scripts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"

namespace sightline::apps::batch {
namespace {

namespace fs = std::filesystem;

bool is_plain(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("/._-=,:+@").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::string command_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string replaced(const std::string& text, char what, std::string_view by) {
  std::string result;
  for (const char c : text) result += c == what ? std::string(by) : std::string(1, c);
  return result;
}

// Slurm ends the words of its lines at blanks, and lines at #; a backslash escapes any character.
std::string slurm_word(const std::string& text) {
  if (is_plain(text)) return text;
  std::string result;
  for (const char c : text)
    result += std::string_view(" \t\\\"'#").find(c) != std::string_view::npos ? std::string{'\\', c}
                                                                              : std::string(1, c);
  return result;
}

std::string kubernetes_job(const Job& job, const SubmitArguments& a) {
  std::vector<std::string> command = task_words(job, a);
  command.front() = "sightline";
  std::string words;
  // Kubernetes replaces $(NAME), and $$ by $. A JSON string is one of YAML.
  for (const std::string& word : command) words += json_string(replaced(word, '$', "$$")) + ", ";
  words += "'--task', '$(JOB_COMPLETION_INDEX)'";
  const std::string inputs = job.plan().folder;
  const bool are_apart = inputs != job.folder().string();
  return fmt::format(
      "# Mount the job's folder and the inputs under the names that they have here.\n"
      "apiVersion: batch/v1\n"
      "kind: Job\n"
      "metadata:\n"
      "  generateName: sightline-\n"
      "spec:\n"
      "  completionMode: Indexed\n"
      "  completions: {}\n"
      "  parallelism: {}\n"
      "  backoffLimitPerIndex: {}\n"
      "  podFailurePolicy:\n"
      "    rules:\n"
      "    - action: FailIndex\n"
      "      onExitCodes:\n"
      "        operator: In\n"
      "        values: [2, 3, 4, 5]\n"
      "    - action: Ignore\n"
      "      onPodConditions:\n"
      "      - type: DisruptionTarget\n"
      "  template:\n"
      "    spec:\n"
      "      restartPolicy: Never\n"
      "      containers:\n"
      "      - name: sightline\n"
      "        image: {}\n"
      "        command: [{}]\n"
      "        workingDir: {}\n"
      "        volumeMounts:\n"
      "        - name: shared\n"
      "          mountPath: {}\n"
      "{}"
      "      volumes:\n"
      "      - name: shared\n"
      "        persistentVolumeClaim:\n"
      "          claimName: shared\n"
      "{}",
      job.tasks().size(), a.workers > 0 ? a.workers : 8, a.retries, json_string(a.image), words,
      json_string(inputs), json_string(job.folder().string()),
      are_apart ? fmt::format("        - name: inputs\n"
                              "          mountPath: {}\n"
                              "          readOnly: true\n",
                              json_string(inputs))
                : "",
      are_apart ? "      - name: inputs\n"
                  "        persistentVolumeClaim:\n"
                  "          claimName: inputs\n"
                : "");
}

std::string parallel_line(const Job& job, const SubmitArguments& a) {
  // GNU parallel replaces {} and {...}, and passes its words to a shell again, so they are quoted twice.
  std::vector<std::string> words;
  for (const std::string& word : task_words(job, a)) words.push_back(replaced(shell_word(word), '{', "{''"));
  return fmt::format("seq 0 {} | parallel --retries {}{} {} --task {{}}\n", job.tasks().size() - 1,
                     a.retries + 1, a.workers > 0 ? fmt::format(" --jobs {}", a.workers) : "",
                     command_line(words));
}

[[noreturn]] void refuse_name(const std::string& name, const std::string& reason) {
  throw Error(ExitCode::usage, "'" + name + "' " + reason, "choose another name, or use --engine local");
}

}  // namespace

std::string shell_word(const std::string& text) {
  return is_plain(text) ? text : "'" + replaced(text, '\'', "'\\''") + "'";
}

std::vector<std::string> task_words(const Job& job, const SubmitArguments& a) {
  std::vector<std::string> words{fs::canonical("/proc/self/exe").string(), "batch", "work",
                                 job.folder().string()};
  words.insert(words.end(), a.schedule.begin(), a.schedule.end());
  return words;
}

std::string merge_line(const Job& job, const SubmitArguments& a) {
  return command_line({fs::canonical("/proc/self/exe").string(), "batch", "merge", job.folder().string(),
                       "--overwrite", "--output", fs::absolute(a.output).string()});
}

void check_names(const Job& job, const SubmitArguments& a) {
  std::vector<std::string> names = task_words(job, a);
  names.insert(names.end(), {job.plan().folder, a.output, a.image});
  names.insert(names.end(), a.options.begin(), a.options.end());
  for (const std::string& name : names) {
    if (std::ranges::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
      refuse_name(name, "contains a line end or another control character, which a script cannot hold");
  }
  const std::string folder = job.folder().string();
  const bool is_for_slurm = a.engine == "slurm" || a.script == "slurm";
  if (is_for_slurm && folder.find('\\') != std::string::npos)
    refuse_name(folder, "contains a backslash, after which Slurm does not number the files of messages");
  if (is_for_slurm || a.script != "kubernetes") return;
  for (const std::string& name : {folder, job.plan().folder}) {
    if (!utf8_code_points(name)) refuse_name(name, "is not UTF-8, and YAML is");
    if (name == "/" || name.find(':') != std::string::npos)
      refuse_name(name, "cannot be mounted: Kubernetes takes neither / nor names with a colon");
  }
}

std::string array_of(const std::vector<std::size_t>& tasks, std::size_t first, std::size_t end, int most) {
  std::string text;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i] < first || tasks[i] >= end) continue;
    std::size_t last = i;
    while (last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1 && tasks[last + 1] < end) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(tasks[i] - first);
    if (last > i) text += '-' + std::to_string(tasks[last] - first);
    i = last;
  }
  return text.empty() || most == 0 ? text : text + '%' + std::to_string(most);
}

std::vector<std::string> sbatch_words(const std::vector<std::string>& options) {
  std::vector<std::string> words;
  const auto add = [&](std::string word) {
    // As in a script, where Slurm removes quotation marks.
    const std::size_t begin = word.starts_with("--") ? word.find('=') + 1 : 0;
    const char mark = begin < word.size() ? word[begin] : '\0';
    if ((mark == '"' || mark == '\'') && word.size() > begin + 1 && word.back() == mark)
      word = word.substr(0, begin) + word.substr(begin + 1, word.size() - begin - 2);
    words.push_back(std::move(word));
  };
  for (const std::string& option : options) {
    const std::size_t blank = option.find(' ');
    const bool are_two = option.starts_with('-') && blank != std::string::npos && blank < option.find('=') &&
                         (option.starts_with("--") || blank == 2);
    if (are_two) add(option.substr(0, blank));
    const std::size_t value = are_two ? option.find_first_not_of(' ', blank) : 0;
    if (value != std::string::npos) add(option.substr(value));
  }
  return words;
}

std::vector<std::string> array_words(const Job& job, const SubmitArguments& a) {
  const std::string log = replaced((job.folder() / "log").string(), '%', "%%") + "/%A_%a.txt";
  std::vector<std::string> words{"--job-name=sightline", "--output=" + log, "--open-mode=append",
                                 "--requeue"};
  const std::vector<std::string> more = sbatch_words(a.options);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string slurm_script(const Job& job, const SubmitArguments& a, std::size_t first) {
  return fmt::format(
      "# Another try, on another node if there is one, but for wrong usage, inputs, models and devices.\n"
      "{} --task \"$((SLURM_ARRAY_TASK_ID + {}))\"\n"
      "code=$?\n"
      "if {{ [ \"$code\" -eq 1 ] || [ \"$code\" -gt 5 ]; }} && [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {} ]; "
      "then\n"
      "  scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}\" && sleep 60\n"
      "fi\n"
      "exit \"$code\"\n",
      command_line(task_words(job, a)), first, a.retries);
}

std::string script_to_print(const Job& job, const SubmitArguments& a, const std::vector<std::size_t>& tasks) {
  check_names(job, a);
  if (a.script == "kubernetes") return kubernetes_job(job, a);
  std::string text;
  if (a.script == "parallel") {
    text = parallel_line(job, a);
  } else {
    text = "#!/bin/bash\n#SBATCH --array=" + array_of(tasks, 0, job.tasks().size(), a.workers) + '\n';
    for (const std::string& word : array_words(job, a)) text += "#SBATCH " + slurm_word(word) + '\n';
    text += slurm_script(job, a, 0);
  }
  return a.output.empty() ? text : text + "# then: " + merge_line(job, a) + '\n';
}

}  // namespace sightline::apps::batch
