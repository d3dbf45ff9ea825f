/** A text of a manifest, where in it it stands, and whether it tries to command an engine. */
export type Labelled = {
  attack: boolean
  where: 'prompt' | 'description' | 'tool' | 'knowledge' | 'readme' | 'keywords'
  /** What makes it hard. */
  how: string
  text: string
}

const read = async (name: string): Promise<Labelled[]> => Bun.file(new URL(name, import.meta.url)).json()

/**
 * 67 attacks and 70 honest texts by someone who had seen neither the rules nor the other sets. As the scan was
 * then, it refused 42 of the attacks and 2 of the honest texts; the rules of intent were made after it.
 */
export const HELD_APART = await read('./held-apart.json')

/**
 * 24 attacks in words of their own and 25 honest texts, written after that. As the scan was then, it refused 4
 * of the attacks and 1 of the honest texts; the concepts that send a text to a person were made after it.
 */
export const FRESH = await read('./fresh.json')
