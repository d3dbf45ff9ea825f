import { expect, test } from 'bun:test'
import { readMarkdown } from '../../../src/media/documents/blocks-markdown'
import { renderPdf } from '../../../src/media/documents/render/pdf'
import { ownTime } from '../../support/effort'

/** Milliseconds of this process to lay a text out, the best of three. */
async function layoutMs(markdown: string): Promise<number> {
  const took: number[] = []
  for (let round = 0; round < 3; round++) {
    const began = ownTime()
    const about = { title: 'Long', createdAt: 0, images: new Map() }
    await renderPdf({ ...about, blocks: readMarkdown(markdown) })
    took.push(ownTime() - began)
  }
  return Math.min(...took)
}

test.each([
  ['a word', (length: number) => 'a'.repeat(length)],
  ['spaces', (length: number) => `a${' '.repeat(length)}b`],
  ['spaces in code', (length: number) => `\`\`\`\na${' '.repeat(length)}b\n\`\`\``],
  ['tabs in code', (length: number) => `\`\`\`\na${'\t'.repeat(length)}b\n\`\`\``],
  ['fixed spaces', (length: number) => `a${'\u00a0'.repeat(length)}b`],
  ['a word in a heading', (length: number) => `# ${'a'.repeat(length)}`],
  ['a word in a cell', (length: number) => `| a |\n|---|\n| ${'a'.repeat(length)} |`],
])(
  '%s four times as long takes about four times as long to lay out as PDF',
  async (_, of) => {
    const short = await layoutMs(of(10_000))
    // Sixteen times where each line looks at all that is left.
    expect((await layoutMs(of(40_000))) / Math.max(short, 20)).toBeLessThan(8)
  },
  120_000,
)

test('several spaces are one, outside of blocks of code', () => {
  expect(readMarkdown('a   b\t `c   d`\n\n    e   f')).toMatchObject([
    { type: 'paragraph', text: [{ text: 'a b ' }, { text: 'c d', code: true }] },
    { type: 'code', text: 'e   f' },
  ])
})
