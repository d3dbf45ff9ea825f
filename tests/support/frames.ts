/** One server-sent event as a strict reader takes it; `data` parsed, or the text `[DONE]`. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into frames of every shape
export type Frame = { event: string | null; data: any }

/**
 * Reads a finished stream by the letter of contract 3: frames of an optional `event:` line and one `data:`
 * line, one space after the colon, an empty line between. Comments are skipped; anything else throws.
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

/** The text a reader has put together from the tokens of a native stream. */
export const joinTokens = (frames: Frame[]): string =>
  frames.flatMap(({ event, data }) => (event === 'token' ? [data.token as string] : [])).join('')

/** The same of a chat stream. */
export const joinDeltas = (frames: Frame[]): string =>
  frames.flatMap(({ data }) => (data === '[DONE]' ? [] : [data.choices?.[0]?.delta?.content ?? ''])).join('')
