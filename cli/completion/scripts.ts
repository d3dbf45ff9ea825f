/** Asks for candidates a line each, `word<TAB>about`; a shell that got none completes names of files. */
const ASK = 'svc-admin __complete --'

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const
export type ShellName = (typeof SHELLS)[number]

/** What each shell loads. */
export const SCRIPTS: Readonly<Record<ShellName, string>> = {
  bash: `# svc-admin for bash: source <(svc-admin completion bash)
_svc_admin() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$(printf '%q' "\${line%%$'\\t'*}")")
  done < <(${ASK} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _svc_admin svc-admin ./svc-admin
`,
  zsh: `#compdef svc-admin
# svc-admin for zsh: a file _svc-admin in a folder of $fpath
_svc_admin() {
  local line word
  local -a found
  while IFS= read -r line; do
    word=\${line%%$'\\t'*}
    found+=("\${word//:/\\\\:}:\${line#*$'\\t'}")
  done < <(${ASK} "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe 'svc-admin' found; else _files; fi
}
if [ "$funcstack[1]" = "_svc-admin" ]; then _svc_admin "$@"; else compdef _svc_admin svc-admin; fi
`,
  fish: `# svc-admin for fish: svc-admin completion fish | source
function __svc_admin
  set -l words (commandline -opc) (commandline -ct)
  ${ASK} $words[2..-1] 2>/dev/null
end
complete -c svc-admin -a '(__svc_admin)'
`,
  powershell: `# svc-admin for PowerShell: svc-admin completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName svc-admin -ScriptBlock {
  param($typed, $line, $cursor)
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($typed -eq '') { $words += '' }
  ${ASK} @words 2>$null | ForEach-Object {
    $word, $about = $_ -split "\`t", 2
    if (-not $about) { $about = $word }
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
  }
}
`,
}
