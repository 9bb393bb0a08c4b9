export const COMPLETION_SCRIPTS: { readonly [shell: string]: string } = {
  bash: `_hopgate() {
  local -a words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  mapfile -t COMPREPLY < <(hopgate complete -- "\${words[@]}" 2>/dev/null | cut -f1)
}
complete -o default -F _hopgate hopgate
`,
  zsh: `#compdef hopgate
_hopgate() {
  local -a found
  local line
  for line in "\${(@f)$(hopgate complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#found )); then _describe hopgate found; else _files; fi
}
if [[ $funcstack[1] == _hopgate ]]; then _hopgate "$@"; else compdef _hopgate hopgate; fi
`,
  fish: `function __hopgate_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (hopgate complete -- $words[2..] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c hopgate -f -a '(__hopgate_complete)'
`,
};
