/** One server-sent event; `data` is parsed JSON or the text `[DONE]`. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into frames of every shape
export type Frame = { event: string | null; data: any }

/**
 * Parses a finished stream strictly by docs/api.md 3: an optional `event:` line, one `data:` line, one space after the
 * colon, an empty line between frames. Comments are skipped; anything else throws.
 */
export function readFrames(text: string): Frame[] {
  if (!text.endsWith('\n\n')) throw new Error(`the stream ends within a frame: ${JSON.stringify(text.slice(-80))}`)
  return text
    .slice(0, -2)
    .split('\n\n')
    .flatMap((frame) => (frame.startsWith(':') ? [] : [readFrame(frame)]))
}

function readFrame(text: string): Frame {
  const found = /^(?:event: ([a-z_]+)\n)?data: ([^\n\r]+)$/.exec(text)
  if (!found) throw new Error(`not a frame: ${JSON.stringify(text.slice(0, 200))}`)
  const [, event, data] = found
  return { event: event ?? null, data: data === '[DONE]' ? data : JSON.parse(data!) }
}

export const eventNames = (frames: Frame[]): (string | null)[] => frames.map(({ event }) => event)

/** The text that the token events of a native stream add up to. */
export const joinTokens = (frames: Frame[]): string =>
  frames.flatMap(({ event, data }) => (event === 'token' ? [data.token as string] : [])).join('')

/** The text that the deltas of a chat stream add up to. */
export const joinDeltas = (frames: Frame[]): string =>
  frames.flatMap(({ data }) => (data === '[DONE]' ? [] : [data.choices?.[0]?.delta?.content ?? ''])).join('')
