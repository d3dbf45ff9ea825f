import { AppError } from '../kernel/errors'
import { parseUntrustedJson } from '../kernel/json'
import { nextTurn } from '../kernel/turns'
import type { Tool } from './tool'
import { compileInTurn, isSlow, validatorOf } from './validation'

/** Arguments above this size are refused before they are parsed. */
const MAX_ARGUMENT_BYTES = 256 * 1024

type Arguments = Record<string, unknown>
type Read = { fits: true; args: Arguments } | { fits: false; args: Arguments | null; problem: string }

/**
 * Parses an engine's arguments (JSON text) and checks them against the tool's input schema. `problem` is a sentence
 * for the engine. An engine may ask for 16 calls at once, so schema compilation and slow checks each wait for their
 * own turn of the event loop (I28).
 */
export async function readArguments(tool: Tool, text: string): Promise<Read> {
  await compileInTurn(tool.inputSchema)
  if (isSlow(tool.inputSchema)) await nextTurn()
  return readNow(tool, text)
}

function readNow(tool: Tool, text: string): Read {
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_ARGUMENT_BYTES) {
    return unfit(null, `The arguments have ${bytes} bytes; at most ${MAX_ARGUMENT_BYTES} are allowed.`)
  }
  const value = parse(text)
  if (value instanceof AppError)
    return unfit(null, `${value.message.replace('The body', 'The arguments')} Write them again.`)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return unfit(null, 'The arguments must be one JSON object. Write them again.')
  }
  const args = value as Arguments
  const problem = validatorOf(tool.inputSchema)(args)
  return problem
    ? unfit(args, `${problem} Correct the arguments of ${tool.name} and call it again.`)
    : { fits: true, args }
}

const unfit = (args: Arguments | null, problem: string): Read => ({ fits: false, args, problem })

function parse(text: string): unknown {
  try {
    return parseUntrustedJson(Buffer.from(mended(text)))
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

const FENCE_BEGIN = /^```(?:json)?\s*\n/

/** Repairs only unambiguous damage: empty text becomes `{}`, and a Markdown fence around all of it is removed. */
function mended(text: string): string {
  if (text.trim() === '') return '{}'
  const whole = text.trim()
  const begin = FENCE_BEGIN.exec(whole)?.[0].length
  if (begin === undefined || !whole.endsWith('```')) return text
  const inner = whole.slice(begin, -3)
  return inner.slice(inner.trimEnd().length).includes('\n') ? inner.trimEnd() : text
}
