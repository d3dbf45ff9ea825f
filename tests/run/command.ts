/**
 * `bun run bench NAME`, `bun run prove NAME`, `bun run make NAME`, each with options: what takes longer than the test
 * commands have time for, and what writes files of the repository. Each runs on the compiled product, in a temporary
 * folder of its own, and ends with the exit code of its first command that fails.
 */
import { tmpdir } from 'node:os'
import { COMMANDS } from '../commands'
import { makeScratch } from '../support/scratch'

const [kind = '', ...rest] = process.argv.slice(2)
const known = COMMANDS[kind]!
const name = kind === 'bench' && (rest[0] ?? '-').startsWith('-') ? 'budgets' : rest.shift()
const command = known[name ?? '']
if (!command) {
  const lines = Object.entries(known).map(([each, { what }]) => `  bun run ${kind} ${each.padEnd(10)} ${what}`)
  process.stderr.write(`${['Say which of these you want:', ...lines].join('\n')}\n`)
  process.exit(1)
}
const env = { ...process.env, TMPDIR: makeScratch(tmpdir()), ...command.env }
for (const words of [['src/app/set-up.ts'], ...command.runs.map((run) => [...run, ...rest])]) {
  const child = Bun.spawn([process.execPath, ...words], { env, stdio: ['inherit', 'inherit', 'inherit'] })
  if ((await child.exited) !== 0) process.exit(child.exitCode ?? 1)
}
