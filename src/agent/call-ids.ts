import { crc32Base62, randomBase62 } from '../kernel/crypto'

const RANDOM_CHARS = 18
const CALL_ID = /^call_[0-9A-Za-z]{24}$/

/**
 * A new id for a tool call, which tells the mode of its run to whoever knows the modes: a client that runs the tool
 * loop sends it back, to any process and with nothing stored, and the run goes on in that mode (contract 4).
 */
export function newCallId(mode: string): string {
  const random = randomBase62(RANDOM_CHARS)
  return `call_${random}${crc32Base62(random + mode)}`
}

/** The mode of the run that made a call; null for an id that is not ours. Any caller may name a mode, so none is kept secret. */
export function modeOfCall(id: string, modes: readonly string[]): string | null {
  if (!CALL_ID.test(id)) return null
  const random = id.slice('call_'.length, -6)
  return modes.find((mode) => id.endsWith(crc32Base62(random + mode))) ?? null
}
