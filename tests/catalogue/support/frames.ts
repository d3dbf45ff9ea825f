type Frame = { event: string | null; data: string }

/**
 * A parser that forgives nothing: each frame is at most one `event:` line, then exactly one `data:` line,
 * each with one space after its colon, then a blank line; comments stand alone. Throws on anything else.
 */
function parseFrames(text: string): Frame[] {
  if (text !== '' && !text.endsWith('\n\n'))
    throw new Error(`the stream ends inside a frame: …${JSON.stringify(text.slice(-80))}`)
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block): Frame[] => {
      if (/^:[^\n\r]*$/.test(block)) return []
      const match = /^(?:event: ([a-z_]+)\n)?data: ([^\n\r]*)$/.exec(block)
      if (!match) throw new Error(`not a frame: ${JSON.stringify(block.slice(0, 200))}`)
      return [{ event: match[1] ?? null, data: match[2]! }]
    })
}

// biome-ignore lint/suspicious/noExplicitAny: each event has a shape of its own
export type NativeFrame = { event: string; data: any }

/** The native stream (docs/api.md 3): `meta` first, one end, and that last. Throws where it is otherwise. */
export function parseNative(text: string): NativeFrame[] {
  const frames = parseFrames(text).map(({ event, data }) => ({ event: event ?? '', data: JSON.parse(data) }))
  const names = frames.map(({ event }) => event)
  const ends = names.filter((name) => name === 'done' || name === 'error')
  if (names[0] !== 'meta' || ends.length !== 1 || names.at(-1) !== ends[0] || names.lastIndexOf('meta') !== 0) {
    throw new Error(`frames in the wrong order: ${names.join(' ').slice(0, 300)}`)
  }
  return frames
}

// biome-ignore lint/suspicious/noExplicitAny: chunks of several shapes
export type Chunk = any

/** The chat stream (docs/api.md 4): unnamed frames of JSON, `[DONE]` last and only there, one id throughout. */
export function parseChat(text: string): Chunk[] {
  const frames = parseFrames(text)
  if (frames.some(({ event }) => event !== null)) throw new Error('a chat stream has named events')
  if (frames.at(-1)?.data !== '[DONE]') throw new Error('a chat stream must end with [DONE]')
  const chunks = frames.slice(0, -1).map(({ data }) => JSON.parse(data) as Chunk)
  const ids = new Set(chunks.filter(({ error }) => !error).map(({ id, created }) => `${id} ${created}`))
  if (ids.size > 1) throw new Error(`several ids in one stream: ${[...ids].join(', ')}`)
  return chunks
}

export const textOfNative = (frames: readonly NativeFrame[]): string =>
  frames
    .filter(({ event }) => event === 'token')
    .map(({ data }) => data.token as string)
    .join('')

export const textOfChat = (chunks: readonly Chunk[]): string =>
  chunks.map(({ choices }) => (choices?.[0]?.delta?.content as string | undefined) ?? '').join('')
