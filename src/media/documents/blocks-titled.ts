import { xmlText } from '../../kernel/text'
import { type Block, plain } from './blocks-model'

/** The title that a text begins with, or else this one, and what stands below it. */
export function titled(blocks: readonly Block[], otherwise: string): { title: string; body: readonly Block[] } {
  const [first] = blocks
  const isTitled = first?.type === 'heading' && first.level === 1
  const title = (isTitled && plain(first.text).trim()) || xmlText(otherwise)
  return { title, body: isTitled ? blocks.slice(1) : blocks }
}
