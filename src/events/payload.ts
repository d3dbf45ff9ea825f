import { payloadTooLarge } from './errors'

const MOST_KB = 64

/** Throws 413 for more than an event may carry (contract 11.2). */
export function assertPayload(payload: unknown, member = 'payload'): void {
  if (Buffer.byteLength(JSON.stringify(payload)) > MOST_KB * 1024) throw payloadTooLarge(MOST_KB, member)
}
