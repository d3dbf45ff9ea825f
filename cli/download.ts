import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { replyFailure } from './failure'
import type { Shell } from './shell'
import { fromHere } from './transport'

/** The body of a response, streamed. @throws CommandFailed for an error status */
export async function piecesOf(response: Response): Promise<AsyncIterable<Uint8Array>> {
  if (!response.ok || !response.body) throw replyFailure(response.status, await response.text())
  return response.body as unknown as AsyncIterable<Uint8Array>
}

/** Writes the pieces to stdout, or to a file that only its owner can read. */
export async function deliver(shell: Shell, pieces: AsyncIterable<Uint8Array>, out?: string): Promise<void> {
  if (out) return save(fromHere(shell.cwd, out), pieces)
  // Byte for byte: an export may be signed, and a file that stdout becomes is opened like any other.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const piece of pieces) shell.io.raw(decoder.decode(piece, { stream: true }))
}

async function save(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file = createWriteStream(path, { mode: 0o600 })
  for await (const piece of pieces) if (!file.write(piece)) await once(file, 'drain')
  file.end()
  await finished(file)
}
