import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineCommand } from '../command'
import { SCRIPTS, SHELLS, type ShellName } from '../completion/scripts'
import { usageFailure } from '../failure'
import type { Environment } from '../globals'
import { argument, flag } from '../words'

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
