# Completion for bash: the program itself says what may come next.
_sightline() {
  local typed="${COMP_LINE:0:COMP_POINT}" begun="" word line before
  local -a words
  # By spaces alone: bash would take "--name=value" apart. What is quoted with spaces in it is a file's name, which
  # bash completes itself.
  read -ra words <<<"$typed"
  [[ "$typed" =~ [[:space:]]$ ]] && words+=("")
  begun="${words[-1]}"
  # Bash replaces what follows the last of these characters only.
  before=""
  case "$begun" in
    *[=:]*)
      word="${begun##*[=:]}"
      before="${begun%"$word"}"
      ;;
  esac
  COMPREPLY=()
  compopt +o default +o filenames 2>/dev/null
  while IFS= read -r line; do
    if [[ "$line" == ":files" ]]; then
      compopt -o default 2>/dev/null
      # Beside other choices, files must be listed here; alone, bash lists them better.
      if [[ ${#COMPREPLY[@]} -gt 0 && -n "${begun#"$before"}" ]]; then
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${begun#"$before"}")
      fi
      continue
    fi
    line="${line%%$'\t'*}"
    COMPREPLY+=("${line#"$before"}")
  done < <("${words[0]/#\~/$HOME}" complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _sightline -o default sightline
