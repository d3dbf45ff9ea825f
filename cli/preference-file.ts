import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { ENGINES, findEngine } from '../src/engines/schema'
import { unreadable, usageFailure } from './failure'
import { casesOf } from './json-lines'
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

/** Parses a file of JSON, JSONC, YAML or TOML; stdin may be JSON or YAML. @throws CommandFailed 2 */
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

/** A value read from a text, all of whose whole numbers kept their digits. Throws for one that did not. */
export function exactly<Value>(text: string, value: Value): Value {
  if (typeof value === 'number') {
    if (!Number.isInteger(value) || Number.isSafeInteger(value) || text.includes(String(value))) return value
    throw new Error(`the whole number that is read as ${value} has too many digits to be exact; put it in quotes`)
  }
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) exactly(text, part)
  return value
}

/** One prompt of a regression file, and the expected route. */
export type RoutingCase = { line: number; prompt: string; expected_mode: string; expected_engine: string | null }

/** @throws CommandFailed 2 for a file with an invalid line, or without any cases */
export const readCases = async (shell: Shell, file: string): Promise<RoutingCase[]> =>
  casesOf(await readTextFile(shell, file), file, (fields, line) => readCase(fields, line, file))

function readCase(fields: Record<string, unknown>, line: number, file: string): RoutingCase {
  const { prompt, expected_mode, expected_engine = null } = fields
  if (typeof prompt !== 'string' || typeof expected_mode !== 'string' || !isTextOrNull(expected_engine)) {
    throw usageFailure(`Line ${line} of ${file} is not {"prompt":"…","expected_mode":"…"}.`)
  }
  if (!MODES.includes(expected_mode)) {
    throw usageFailure(`Line ${line} of ${file} expects the mode "${expected_mode}". Use ${MODES.join(', ')}.`)
  }
  if (expected_engine !== null && !findEngine(expected_engine)) {
    throw usageFailure(
      `Line ${line} of ${file} expects the engine "${expected_engine}", which does not exist.`,
      'svc-admin engines list',
    )
  }
  return { line, prompt, expected_mode, expected_engine }
}

/** The modes that a prompt can be routed to. */
const MODES = ENGINES.map(({ mode }) => mode).filter((mode) => mode !== 'auto')

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string'
