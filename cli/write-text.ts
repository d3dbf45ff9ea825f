import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usageFailure } from './failure'
import { mayAsk } from './globals'
import type { Shell } from './shell'

/**
 * A text that somebody writes: the argument, else stdin when something is piped in, else what `$EDITOR` leaves.
 * @throws CommandFailed 2 where there is none
 */
export async function writtenText(shell: Shell, given: string | undefined, what: string): Promise<string> {
  const text = given ?? (shell.io.inIsTty ? edited(shell, what) : await shell.io.readStdin())
  if (!text.trim()) throw usageFailure(`The ${what} is empty.`, `write it as an argument, pipe it in, or set EDITOR`)
  return text.trim()
}

function edited(shell: Shell, what: string): string {
  const editor = shell.env.VISUAL || shell.env.EDITOR
  if (!editor || !mayAsk(shell.globals, shell.io, shell.env))
    throw usageFailure(`There is no ${what}.`, 'write it as an argument, pipe it in, or set EDITOR')
  const folder = mkdtempSync(join(tmpdir(), 'svc-text-'))
  const file = join(folder, `${what}.txt`)
  try {
    writeFileSync(file, '', { mode: 0o600 })
    // An editor may have arguments of its own, as in "code --wait".
    const { exitCode } = Bun.spawnSync(['sh', '-c', `${editor} "$1"`, 'sh', file], {
      stdin: 'inherit',
      stdout: 'inherit',
      stderr: 'inherit',
    })
    if (exitCode !== 0) throw usageFailure(`${editor} ended with ${exitCode}. Nothing was sent.`)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
