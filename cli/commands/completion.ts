import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineCommand } from '../command'
import { usageFailure } from '../failure'
import type { Environment } from '../globals'
import { argument, flag } from '../words'

/** Asks for candidates a line each, `word<TAB>about`; a shell that got none completes names of files. */
const ASK = 'svc-admin __complete --'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

type ShellName = (typeof SHELLS)[number]

/** What each shell loads. */
const SCRIPTS: Readonly<Record<ShellName, string>> = {
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

export const completion = defineCommand({
  path: 'completion',
  summary: 'Print the shell script that completes commands with Tab',
  about: `Shells: ${SHELLS.join(', ')}. Completes commands, flags and their values, and the ids of a running server. --install writes the script to the folder where the shell looks for it.`,
  examples: ['completion bash --install', 'completion zsh > ~/.zfunc/_svc-admin'],
  apis: ['host'],
  impact: 'write',
  args: { shell: argument(`one of ${SHELLS.join(', ')}`) },
  flags: { install: flag("write the script to the shell's usual folder, and print the path") },
  async run(shell, { shell: name, install }) {
    if (!isShell(name)) throw usageFailure(`There is no script for "${name}". Shells: ${SHELLS.join(', ')}.`)
    const script = SCRIPTS[name]
    if (!install) return shell.io.raw(script)
    const path = placeOf(name, shell.env)
    if (!path) throw usageFailure(`There is no usual folder for ${name} scripts here.`, `svc-admin completion ${name}`)
    if (shell.planned(`write ${path}`)) return
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, script)
    shell.io.out(path)
    shell.note(
      name === 'zsh' ? `New shells complete commands if ${dirname(path)} is in fpath.` : 'New shells complete.',
    )
  },
})

const isShell = (word: string): word is ShellName => SHELLS.some((name) => name === word)

/** Where each shell looks by itself; null where it has no such place. */
function placeOf(shell: ShellName, { HOME, XDG_DATA_HOME, XDG_CONFIG_HOME }: Environment): string | null {
  if (!HOME) return null
  if (shell === 'bash')
    return join(XDG_DATA_HOME ?? join(HOME, '.local/share'), 'bash-completion/completions/svc-admin')
  if (shell === 'fish') return join(XDG_CONFIG_HOME ?? join(HOME, '.config'), 'fish/completions/svc-admin.fish')
  return shell === 'zsh' ? join(HOME, '.zfunc/_svc-admin') : null
}
