import { readFileSync } from 'node:fs'
import { unreadable, usageFailure } from './failure'
import type { Shell } from './shell'
import { fromHere } from './transport'

type Request = { label: string; fromFile: string | undefined; instead: string }

/** Reads a secret from a file, from stdin or typed without echo; never from a flag's value (dx 2.3). */
export async function readSecretInput(shell: Shell, { label, fromFile, instead }: Request): Promise<string> {
  const secret = await read(shell, label, fromFile, instead)
  if (!secret) throw usageFailure(`The ${label} is empty.`, instead)
  return secret
}

async function read(shell: Shell, label: string, fromFile: string | undefined, instead: string): Promise<string> {
  if (fromFile === undefined) return shell.prompt.secret(label, instead)
  if (fromFile === '-') return (await shell.io.readStdin()).trim()
  try {
    return readFileSync(fromHere(shell.cwd, fromFile), 'utf8').trim()
  } catch (error) {
    throw unreadable(fromFile, error)
  }
}
