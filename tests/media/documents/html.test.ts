import { describe, expect, test } from 'bun:test'
import { readMarkdown } from '../../../src/media/documents/blocks-markdown'
import { type Block, plain } from '../../../src/media/documents/blocks-model'
import { outlineOf } from '../../../src/media/documents/outline'

/** What each block says, with the type of those that are no paragraph. */
function wordsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if (block.type === 'paragraph') return [plain(block.text)]
    if (block.type === 'heading') return [`h${block.level} ${plain(block.text)}`]
    if (block.type === 'quote') return wordsOf(block.blocks).map((line) => `> ${line}`)
    if (block.type === 'list') return block.items.flatMap((item) => wordsOf(item).map((line) => `- ${line}`))
    if (block.type === 'table') return [block.header, ...block.rows].map((row) => row.map(plain).join('|'))
    if (block.type === 'image') return [`image ${block.source} ${block.alt}`]
    return [block.type === 'code' ? `code ${block.text}` : block.type]
  })
}

describe('HTML in the Markdown of a document', () => {
  test.each([
    ['raised and lowered signs', 'H<sub>2</sub>O, 10<sup>-3</sup>, the 4<sup>th</sup>', 'H₂O, 10⁻³, the 4th'],
    ['a raised sum', '2<sup>a+b</sup>', '2^(a+b)'],
    ['tags that mark', '<b>bold</b> <u>under</u> <kbd>Ctrl</kbd>', 'bold under Ctrl'],
    ['a comment in a line', 'Seen <!-- unseen -->here', 'Seen here'],
    ['a tag that nothing ends', 'The <b> tag and the <div> tag', 'The <b> tag and the <div> tag'],
    ['a tag in code', 'Write `H<sub>2</sub>O`', 'Write H<sub>2</sub>O'],
    ['a link', 'See <a href="https://a.example/b">this</a>', 'See this'],
  ])('%s', (_, markdown, words) => expect(wordsOf(readMarkdown(markdown))).toEqual([words]))

  test('links and marks keep their look', () => {
    const [block] = readMarkdown('<b>a</b> <a href="https://a.example/">b</a> <a href="javascript:c()">c</a>')
    expect(block).toEqual({
      type: 'paragraph',
      text: [{ text: 'a', bold: true }, { text: ' ' }, { text: 'b', link: 'https://a.example/' }, { text: ' c' }],
    })
  })

  test('a table is a table, and a cell over several is followed by empty ones', () => {
    const table =
      '<table>\n<tr><th colspan="2">Head</th></tr>\n<tr><td rowspan=2>Left</td><td>R1|x</td></tr>\n\n<tr><td>R2</td></tr>\n</table>'
    expect(wordsOf(readMarkdown(table))).toEqual(['Head|', 'Left|R1|x', '|R2'])
  })

  test('a list in a cell has a line for each entry', () => {
    const row = '| Task | Steps |\n|---|---|\n| Clean | First: <ul><li>sweep</li><li>mop</li></ul> |'
    const table = '<table><tr><td><p>Cook</p><p>it</p></td><td><ol><li>boil</li><li>stir</li></ol></td></tr></table>'
    expect(wordsOf(readMarkdown(row))).toEqual(['Task|Steps', 'Clean|First:\n• sweep\n• mop'])
    expect(wordsOf(readMarkdown(table))).toEqual(['Cook\nit|• boil\n• stir'])
  })

  test('wrappers are left out, headings and lists are such', () => {
    const text =
      '<div align="center">\n<h3>Crew</h3>\n</div>\n<p align="center"><img src="art_1" alt="logo"></p>\n\n<details><summary>More</summary>\n\nInside.\n\n</details>\n\n<ul>\n  <li>One</li>\n  <li>Two</li>\n</ul>\n\n<!-- a\n\nb -->\nEnd'
    expect(wordsOf(readMarkdown(text))).toEqual([
      'h3 Crew',
      'image art_1 logo',
      'More',
      'Inside.',
      '- One',
      '- Two',
      'End',
    ])
  })

  test('code stays as it is', () => {
    const code = '<table>\n<tr><td>a</td></tr>\n</table>\n<!-- b -->\n[^1]: c'
    expect(wordsOf(readMarkdown(`\`\`\`html\n${code}\n\`\`\``))).toEqual([`code ${code}`])
  })

  test('what nothing ends is read in linear time', () => {
    const start = performance.now()
    readMarkdown(`${'<table>\n<!-- x\n'.repeat(4_000)}\n${'<b>'.repeat(4_000)}`)
    expect(performance.now() - start).toBeLessThan(4_000)
  }, 20_000)
})

test.each(['Pay $5 and $10 for two, or US$3 = A$5.', '=SUM($A$1:$B$2), $HOME/bin:$PATH, $a_b/$c_d', '$x^2$'])(
  'signs of money stay as they are: %j',
  (text) => expect(wordsOf(readMarkdown(text))).toEqual([text]),
)

test('a footnote has a number where it is named, and stands below the text', () => {
  const text = 'First[^b], second[^a], none[^c].\n\n[^a]: Note of *a*.\n[^b]: Note of b,\n    which goes on.\n\nLast.'
  const wanted = ['First¹, second², none[^c].', 'Last.', 'rule', '¹ Note of b, which goes on.', '² Note of a.']
  expect(wordsOf(readMarkdown(text))).toEqual(wanted)
  expect(wordsOf(readMarkdown(outlineOf(`# Title\n\n${text}`).markdown)).slice(1)).toEqual(wanted)
})

test('a remark names its kind', () => {
  expect(wordsOf(readMarkdown('> [!WARNING]\n> Mind the step.'))).toEqual(['> Warning\nMind the step.'])
})

describe('lines of a text that has no heading for them', () => {
  test('a sentence that leads to a list keeps its colon', () => {
    const text = '# Supper\n\nInline values of this are now shown:\n\n- one\n\nEnd.'
    expect(outlineOf(text).markdown).toBe(text)
  })

  test('where headings are marked, nothing else becomes one', () => {
    const text = '# Supper\n\nFor four\n\n## Steps\n\nStir it:\n\n1. slowly'
    expect(outlineOf(text).markdown).toBe(text)
  })

  test('a line that ends like a Chinese sentence is not a heading', () => {
    expect(outlineOf('报告\n\n这是第一段。\n\n这是第二段。').markdown).toBe('# 报告\n\n这是第一段。\n\n这是第二段。')
  })
})
