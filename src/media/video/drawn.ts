import type { Draft, Source } from '../../files'
import type { About } from '../../files/schema'
import type { Filmmaker } from './filmmaker'
import { ENGINE, type Wish } from './order'
import { FRAMES } from './schema'

type Around = Parameters<Filmmaker>[1] & { receive(bytes: Source, mimeType: string): Promise<Draft> }

/** What pictures that are drawn here say of themselves too. */
export const LOCAL = 'svc-local-vector'

/** Draws a video in a process, and keeps its clip and its poster. */
export async function drawnBy(film: Filmmaker, wish: Wish, { receive, ...watch }: Around) {
  const { id, mode, prompt, style, seconds, aspectRatio } = wish
  const [width, height] = FRAMES[aspectRatio]
  const { mp4, poster } = await film({ prompt, style, width, height, seconds }, watch)
  const shared = { engine: LOCAL, model: ENGINE, width, height, prompt: mode === 'video' ? prompt : null }
  const clip: About = { type: 'video', filename: `${id}.mp4`, durationSeconds: seconds, ...shared }
  const still: About = { type: 'image', filename: `${id}.png`, ...shared }
  return {
    clip: { draft: await receive(mp4, 'video/mp4'), about: clip },
    still: { draft: await receive(poster, 'image/png'), about: still },
  }
}
