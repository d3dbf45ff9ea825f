import type { Image } from '../../agent/schema'
import type { ImagePart, Message } from '../../engines'
import type { Outbound } from '../../kernel/outbound'
import type { Run } from '../run'
import { assertUrl, loadImages } from './images'

/**
 * Puts into the run what the engine sees: the images of the prompt, and those of other turns and of tool results in
 * their places. Throws like {@link loadImages}.
 */
export async function showImages(run: Run, outbound: Outbound): Promise<void> {
  const { request, deadline, history } = run
  const first = request.context.length - history.length
  const wanted = request.images.filter(({ turn }) => turn === null || turn >= first)
  const loaded = await loadImages(wanted, outbound, deadline.signal)
  const of = (turn: number | null) => loaded.filter((_, place) => wanted[place]!.turn === turn)
  run.images = of(null)
  run.history = withoutBlank(history.map((turn, at) => withImages(turn, of(first + at))))
  const after = request.after.map((turn, at) => withImages(turn, of(request.context.length + at)))
  if (after.length) run.request = { ...request, after }
}

/** What an engine that sees no images is sent. Their URLs are checked all the same. Throws 400 `url_blocked`. */
export function hideImages(run: Run, outbound: Outbound): void {
  for (const image of run.request.images) assertUrl(image, outbound)
  run.history = withoutBlank(run.history)
}

/** Engines refuse a blank message; a turn that was nothing but an image is blank without it. */
const withoutBlank = (history: readonly Message[]): readonly Message[] =>
  history.filter(({ role, content }) => role !== 'user' || typeof content !== 'string' || content.trim())

function withImages(turn: Message, images: readonly Image[]): Message {
  const parts = images.map((image): ImagePart => ({ type: 'image', ...image }))
  if (images.length && turn.role === 'tool') return { ...turn, images: parts }
  if (!images.length || turn.role !== 'user' || typeof turn.content !== 'string') return turn
  return { ...turn, content: turn.content.trim() ? [...parts, { type: 'text', text: turn.content }] : parts }
}
