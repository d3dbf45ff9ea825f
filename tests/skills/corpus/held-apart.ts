/** A text of a manifest, where in it it stands, and whether it tries to command an engine. */
export type Labelled = {
  attack: boolean
  where: 'prompt' | 'description' | 'tool' | 'knowledge' | 'readme' | 'keywords'
  /** What makes it hard. */
  how: string
  text: string
}

/**
 * Written by someone who had seen neither the rules nor the other sets. As the scan was then, it found 42 of
 * the 67 attacks and took 2 of the 70 honest texts for one.
 */
export const HELD_APART = (await Bun.file(new URL('./held-apart.json', import.meta.url)).json()) as Labelled[]
