import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { isGenuine } from '../../src/audit/proof'
import { ExportSignature } from '../../src/audit/schema'
import { checker } from '../../src/kernel/schema'
import { clean } from '../../src/kernel/text'
import { CheckFailed, usageFailure } from '../failure'
import { column } from '../output/columns'
import type { Shell } from '../shell'
import { fromHere } from '../transport'

const columns = [
  column('ok', 'HOLDS', { kind: 'flag' }),
  column('scope', 'CHAIN'),
  column('sha256', 'SHA-256'),
  column('signed_at', 'SIGNED-AT', { kind: 'time' }),
  column('public_key', 'KEY'),
]

type Order = { file: string; signature: string; publicKey: string | undefined }

/** Checks a file against its detached signature, without a server. @throws CheckFailed 9 */
export async function verifySignature(shell: Shell, { file, signature: kept, publicKey }: Order): Promise<void> {
  const signature = read(pathOf(shell, kept))
  const faults = [
    isGenuine(signature) ? null : 'the signature is not valid',
    publicKey && signature.public_key !== publicKey ? `it was signed with ${signature.public_key}` : null,
    (await sha256Of(pathOf(shell, file))) === signature.sha256 ? null : 'the file was changed after it was signed',
  ].filter((fault) => fault !== null)
  if (!shell.globals.quiet) shell.print.item({ ...signature, ok: faults.length === 0 }, columns)
  for (const fault of faults) complain(shell, String(fault))
  if (faults.length) throw new CheckFailed()
}

async function sha256Of(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer)
  return hash.digest('hex')
}

const isSignature = checker(ExportSignature).is

function read(path: string): ExportSignature {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (isSignature(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw usageFailure(`${path} is not a signature of an export.`, 'audit export --out FILE --sign writes one')
}

export const complain = (shell: Shell, what: string) => shell.io.err(`${shell.paint('bad', 'broken:')} ${clean(what)}`)

export function pathOf({ cwd }: Shell, word: string): string {
  const path = fromHere(cwd, word)
  if (!existsSync(path)) throw usageFailure(`There is no file ${path}.`, 'write its path from the current folder')
  return path
}
