import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { finished } from 'node:stream/promises'
import { CheckFailed, replyFailure, unreadable, usageFailure } from './failure'
import { formatOf, mayAsk } from './globals'
import type { Column } from './output/columns'
import { jsonIn } from './output/json'
import type { Shell } from './shell'
import { fromHere } from './transport'

/** Reads a text file, or stdin for `-`. @throws CommandFailed 2 */
export async function readTextFile(shell: Shell, file: string): Promise<string> {
  if (file === '-') return shell.io.readStdin()
  try {
    return readFileSync(fromHere(shell.cwd, file), 'utf8')
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** Parses a file of JSON, JSONC, YAML or TOML. Stdin may be JSON or YAML. @throws CommandFailed 2 */
export async function readValueFile(shell: Shell, file: string): Promise<unknown> {
  const text = await readTextFile(shell, file)
  if (!text.trim()) throw usageFailure(`${file === '-' ? 'The input from stdin' : file} is empty.`)
  const ending = extname(file)
  try {
    return exactly(text, valueIn(text, file, ending))
  } catch (error) {
    throw usageFailure(`${file} cannot be read as ${ending.slice(1) || 'json'}: ${(error as Error).message}`)
  }
}

function valueIn(text: string, file: string, ending: string): unknown {
  if (ending === '.yaml' || ending === '.yml') return Bun.YAML.parse(text)
  if (ending === '.toml') return Bun.TOML.parse(text)
  // Text that starts like JSON is parsed as JSON, so that errors are reported for JSON.
  return file === '-' ? (/^\s*[[{/]/.test(text) ? Bun.JSONC.parse(text) : Bun.YAML.parse(text)) : Bun.JSONC.parse(text)
}

/** A file, or the files of a folder that {@link readValueFile} reads, by name. */
export function valueFilesIn({ cwd }: Shell, from: string): string[] {
  const path = fromHere(cwd, from)
  if (from === '-' || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [from]
  const files = readdirSync(path).filter((name) => /\.(jsonc?|ya?ml|toml)$/.test(name))
  return files.sort().map((name) => join(from, name))
}

/** Returns `value`, parsed from `text`, if all its whole numbers kept their digits. Throws otherwise. */
export function exactly<Value>(text: string, value: Value): Value {
  if (typeof value === 'number') {
    if (!Number.isInteger(value) || Number.isSafeInteger(value) || text.includes(String(value))) return value
    throw new Error(`the whole number that is read as ${value} has too many digits to be exact; put it in quotes`)
  }
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) exactly(text, part)
  return value
}

type Cases<Case, Row> = {
  file: string
  /** Prints all rows instead of the ones with another result. */
  every: boolean | undefined
  /** Parses a line, which is an empty object unless it is an object. @throws CommandFailed 2 for an invalid one */
  read(fields: Record<string, unknown>, line: number): Case
  judge(one: Case): Promise<Row>
  columns: readonly Column[]
  /** Name of a case: `text`. */
  what: string
}

/**
 * Compares the result of each case of a JSON Lines file with the expected one, and prints what differs. Skips empty
 * lines and lines starting with #. @throws CommandFailed 2 for a file without cases
 * @throws CheckFailed if a result differs
 */
export async function testCases<Case, Row extends { ok: boolean }>(
  shell: Shell,
  { file, every, read, judge, columns, what }: Cases<Case, Row>,
): Promise<void> {
  const lines = (await readTextFile(shell, file)).split('\n')
  const cases = lines.flatMap((text, index) => {
    const fields = jsonIn(text)
    const isObject = typeof fields === 'object' && fields !== null
    return /^\s*(#|$)/.test(text) ? [] : [read(isObject ? (fields as Record<string, unknown>) : {}, index + 1)]
  })
  if (!cases.length) throw usageFailure(`${file} contains no cases.`, 'write one JSON object per line')
  const rows: Row[] = []
  for (const one of cases) rows.push(await judge(one))
  const missed = rows.filter(({ ok }) => !ok)
  shell.print.list(every ? rows : missed, columns, `Every ${what} got the expected result.`)
  shell.note(`${rows.length - missed.length} of ${rows.length} ${what}s as expected.`)
  if (missed.length) throw new CheckFailed()
}

/** The format of an exported file for `-o`: CSV unless it names JSON. @throws CommandFailed 2 for any other */
export function fileFormat({ globals }: Shell, command: string): 'csv' | 'jsonl' {
  const format = formatOf(globals)
  if (format === 'jsonl' || format === 'json') return 'jsonl'
  if (format === 'csv' || format === 'table') return 'csv'
  throw usageFailure(`${command} writes csv or jsonl, not ${format}.`, '-o jsonl')
}

/** The body of a response, streamed. @throws CommandFailed for an error status */
export async function piecesOf(response: Response): Promise<AsyncIterable<Uint8Array>> {
  if (!response.ok || !response.body) throw replyFailure(response.status, await response.text())
  return response.body as unknown as AsyncIterable<Uint8Array>
}

/** Writes the pieces to stdout, or to a file that only its owner can read. */
export async function deliver(shell: Shell, pieces: AsyncIterable<Uint8Array>, out?: string): Promise<void> {
  if (out) {
    const file = createWriteStream(fromHere(shell.cwd, out), { mode: 0o600 })
    for await (const piece of pieces) if (!file.write(piece)) await once(file, 'drain')
    file.end()
    return finished(file)
  }
  // Unchanged bytes: an export may be signed, and stdout may become a file.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const piece of pieces) shell.io.raw(decoder.decode(piece, { stream: true }))
}

/**
 * A text written by the user: the argument, else piped stdin, else the content that `$EDITOR` saved.
 * @throws CommandFailed 2 for an empty text
 */
export async function writtenText(shell: Shell, given: string | undefined, what: string): Promise<string> {
  const text = given ?? (shell.io.inIsTty ? edited(shell, what) : await shell.io.readStdin())
  if (!text.trim()) throw usageFailure(`The ${what} is empty.`, 'write it as an argument, pipe it in, or set EDITOR')
  return text.trim()
}

function edited({ env, globals, io }: Shell, what: string): string {
  const editor = env.VISUAL || env.EDITOR
  if (!editor || !mayAsk(globals, io, env))
    throw usageFailure(`There is no ${what}.`, 'write it as an argument, pipe it in, or set EDITOR')
  const folder = mkdtempSync(join(tmpdir(), 'svc-text-'))
  const file = join(folder, `${what}.txt`)
  try {
    writeFileSync(file, '', { mode: 0o600 })
    // An editor may have its own arguments, as in "code --wait".
    const streams = { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' } as const
    const { exitCode } = Bun.spawnSync(['sh', '-c', `${editor} "$1"`, 'sh', file], streams)
    if (exitCode !== 0) throw usageFailure(`${editor} ended with ${exitCode}. Nothing was sent.`)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
