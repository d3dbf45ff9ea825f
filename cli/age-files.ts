import { readFileSync } from 'node:fs'
import { unreadable, usageFailure } from './failure'
import { readSecretInput } from './secret-input'
import type { Shell } from './shell'
import { fromHere } from './transport'

const SECRET = /^AGE-SECRET-KEY-/
const RECIPIENT = /^age1[0-9a-z]+$/

/** The age recipients of words that are some, or files of them. @throws CommandFailed 2 */
export function recipientsOf(shell: Shell, words: readonly string[]): string[] {
  return words.flatMap((word) => (RECIPIENT.test(word) ? [word] : recipientsIn(word, readRecipients(shell, word))))
}

function recipientsIn(file: string, lines: readonly string[]): readonly string[] {
  if (lines.some((line) => SECRET.test(line)))
    throw usageFailure(
      `${file} contains an identity, which is secret; --encrypt-to needs recipients.`,
      `age-keygen -y ${file} > recipients.txt`,
    )
  if (lines.length && lines.every((line) => RECIPIENT.test(line))) return lines
  throw usageFailure(`${file} is not a file of age recipients with one per line (age1…).`, 'age-keygen prints one')
}

function readRecipients({ cwd }: Shell, word: string): string[] {
  if (SECRET.test(word)) throw usageFailure('--encrypt-to needs a recipient (age1…); this is a secret identity.')
  try {
    return linesOf(readFileSync(fromHere(cwd, word), 'utf8'))
  } catch (error) {
    throw unreadable(word, error)
  }
}

/** The identities in a file that age-keygen wrote. Their words are in no message. @throws CommandFailed 2 */
export async function identitiesOf(shell: Shell, fromFile: string): Promise<string[]> {
  const instead = 'add --identity FILE, a file that age-keygen wrote'
  const lines = linesOf(await readSecretInput(shell, { label: 'identity', fromFile, instead }))
  const { Decrypter } = await import('age-encryption')
  try {
    for (const line of lines) new Decrypter().addIdentity(line)
    if (lines.length) return lines
  } catch {
    // Said below; what the library says would repeat the secret.
  }
  throw usageFailure(`${fromFile} does not contain a readable age identity (AGE-SECRET-KEY-1…).`, instead)
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'))
