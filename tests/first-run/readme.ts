import { readFileSync } from 'node:fs'

/** A fenced block of the README that says `run=NAME`: what readers are told to type, or to save under that name. */
export type Block = { name: string; text: string }

export const README = readFileSync('README.md', 'utf8')

/** The marked blocks in the order of reading. */
export const BLOCKS: readonly Block[] = [...README.matchAll(/^```\w+ run=(\S+)\n([\s\S]*?)^```$/gm)].map(
  ([, name, text]) => ({ name: name!, text: text! }),
)

export function blockOf(name: string): string {
  const found = BLOCKS.find((block) => block.name === name)
  if (!found) throw new Error(`README.md has no block run=${name}`)
  return found.text
}
