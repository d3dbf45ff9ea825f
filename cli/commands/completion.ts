import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Command, commandsOf, resourceOf, verbOf } from '../command'
import { usageFailure } from '../failure'
import { type Environment, GLOBAL_FLAGS, type Globals } from '../globals'
import { FORMATS } from '../output/print'
import { namedCommand } from '../parse'
import { childrenOf, kebab, plainWords } from '../program'
import { createShell, type Io, type World } from '../shell'
import bash from '../texts/completion-bash.txt' with { type: 'text' }
import fish from '../texts/completion-fish.txt' with { type: 'text' }
import powershell from '../texts/completion-powershell.txt' with { type: 'text' }
import zsh from '../texts/completion-zsh.txt' with { type: 'text' }
import { type Flag, type Flags, flag, oneOf } from '../words'

const command = commandsOf('', { apis: ['host'], exits: [] })

/** A word that fits at the cursor, and its description. */
type Candidate = { word: string; about: string }

/** What may follow on a command line: known words, and the command that lists values of the next argument. */
type Next = { candidates: Candidate[]; listed: Command | null }

const known = (all: Candidate[], typed: string): Next => ({
  candidates: all.filter(({ word }) => word.startsWith(typed)),
  listed: null,
})

/** Maximum wait for names from a server. After it, completion continues without names. */
const PATIENCE_MS = 150
const MAX_NAMES = 50
const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

type ShellName = (typeof SHELLS)[number]

/**
 * The script that each shell loads. It calls `svc-admin __complete --` for candidates, one per line: `word<TAB>about`.
 * Without any, the shell completes file names.
 */
const SCRIPTS: Readonly<Record<ShellName, string>> = { bash, zsh, fish, powershell }

export const completion = command`completion (writes): Print the shell script that completes commands with Tab
  Shells: ${SHELLS.join(', ')}. Completes commands, flags and their values, and the ids of a running server. --install writes the script to the folder where the shell looks for it.
  $ completion bash --install
  $ completion zsh > ~/.zfunc/_svc-admin`({
  args: { shell: oneOf(SHELLS, `one of ${SHELLS.join(', ')}`) },
  flags: { install: flag("write the script to the shell's usual folder, and print the path") },
  async run(shell, { shell: name, install }) {
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

/** The folder where each shell looks for completions by itself. Null if the shell has none. */
function placeOf(shell: ShellName, { HOME, XDG_DATA_HOME, XDG_CONFIG_HOME }: Environment): string | null {
  if (!HOME) return null
  if (shell === 'bash')
    return join(XDG_DATA_HOME ?? join(HOME, '.local/share'), 'bash-completion/completions/svc-admin')
  if (shell === 'fish') return join(XDG_CONFIG_HOME ?? join(HOME, '.config'), 'fish/completions/svc-admin.fish')
  return shell === 'zsh' ? join(HOME, '.zfunc/_svc-admin') : null
}

/**
 * Prints the candidates at the cursor, one per line: `word<TAB>about` (docs/operating.md 2.20). Never fails and never
 * asks a question, because the typed words may be half a command.
 */
export async function complete(words: readonly string[], commands: readonly Command[], world: World): Promise<void> {
  const { candidates, listed } = nextOf(words, commands)
  const names = listed ? await namesOf(listed, commands, world) : []
  const typed = words.at(-1) ?? ''
  for (const { word, about } of [...candidates, ...names.filter((name) => name.word.startsWith(typed))])
    world.io.out(`${word}\t${about}`)
}

/** The first page of a noun's list from a running server. */
async function namesOf(list: Command, commands: readonly Command[], world: World): Promise<Candidate[]> {
  const lines: string[] = []
  const io: Io = { ...world.io, out: (line) => lines.push(line), raw: () => undefined, err: () => undefined }
  const globals = { output: 'jsonl', quiet: true, noInput: true } as Globals
  // A command that must not open the data folder runs only against a server.
  const request: Command = { ...list, offline: false }
  const shell = createShell({ ...world, io }, globals, request, commands)
  const given = Object.fromEntries(Object.keys(list.args).map((name) => [name, undefined]))
  await Promise.race([list.run(shell, given).catch(() => undefined), world.clock.sleep(PATIENCE_MS, world.signal)])
  return lines.slice(0, MAX_NAMES).flatMap((line) => {
    const { id, slug, name, title } = JSON.parse(line) as Record<string, unknown>
    const word = slug ?? id
    const about = [name, title].find((one) => typeof one === 'string') ?? ''
    return typeof word === 'string' ? [{ word, about } as Candidate] : []
  })
}

/**
 * Finds candidates for the last word (which may be empty) from all words up to the cursor, without the program's name.
 * Pure: contacts no server (docs/operating.md 2.20).
 */
export function nextOf(words: readonly string[], commands: readonly Command[]): Next {
  const before = words.slice(0, -1)
  const typed = words.at(-1) ?? ''
  const plain = plainWords(before).map((at) => before[at]!)
  const path = namedCommand(plain, commands)
  const command = commands.find((one) => one.path === path.join(' ')) ?? null
  const resource = commands.some((one) => resourceOf(one) === path[0]) ? path[0] : null
  const flags: Flags = { ...command?.flags, ...GLOBAL_FLAGS }
  const last = before.at(-1)
  const [, waiting] =
    Object.entries(flags).find(([name, { short }]) => last === `--${kebab(name)}` || last === `-${short}`) ?? []
  const formats = [...FORMATS, ...(command?.formats ?? [])]
  const fields = (command?.columns ?? []).map(({ field, header }) => ({ word: field, about: header }))
  if (waiting === (GLOBAL_FLAGS.fields as Flag)) return known(fields, typed)
  if (waiting?.value !== undefined) {
    const values = waiting === (GLOBAL_FLAGS.output as Flag) ? formats : (waiting.words ?? [])
    return known(
      values.map((word) => ({ word, about: '' })),
      typed,
    )
  }
  if (typed.startsWith('-'))
    return known(
      Object.entries(flags).map(([name, { about }]) => ({ word: `--${kebab(name)}`, about })),
      typed,
    )
  if (!command) {
    const inside = (word: string) => commands.filter((one) => resourceOf(one) === word)
    const verbs = resource && inside(resource).map((one) => ({ word: verbOf(one), about: one.summary }))
    const tops = childrenOf(null, commands).map((word) => {
      const single = commands.find((one) => one.path === word)
      return { word, about: single?.summary ?? inside(word).map(verbOf).join(', ') }
    })
    return known(verbs || tops, typed)
  }
  // Arguments that are already typed.
  const given = Math.max(0, plain.length - path.length)
  const args = Object.values(command.args)
  if (!args.some(({ variadic }) => variadic) && given >= args.length) return known([], typed)
  const listed = commands.find((one) => one.path === `${resourceOf(command)} list`) ?? null
  return { candidates: [], listed: given === 0 ? listed : null }
}
