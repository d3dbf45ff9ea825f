import { describe, expect, test } from 'bun:test'
import { readMarkdown } from '../../../src/media/documents/blocks-markdown'
import { plain } from '../../../src/media/documents/blocks-model'
import { outlineOf } from '../../../src/media/documents/outline'
import { titleOf } from '../../../src/media/documents/outline-reading'

describe('a document by rules, without a language model', () => {
  test('is the prompt itself where that is laid out, whatever fence it has', () => {
    const text = '# Tides\n\n```js\nconst a = 1\n```\n\n| Port | Height |\n|---|---|\n| Dover | 6 |'
    const { markdown } = outlineOf(text)
    for (const part of ['```js\nconst a = 1\n```', '| Port | Height |\n|---|---|\n| Dover | 6 |']) {
      expect(markdown).toContain(part)
    }
  })

  test.each([
    ['Create a PDF report about solar energy', 'Solar energy'],
    ['Make a report with sections Intro and Costs about moving to the cloud', 'Moving to the cloud'],
    ['Write a letter titled "Hello World"', 'Hello World'],
    ['a presentation on the history of tea', 'History of tea'],
    ['Create a bar chart of sales: Q1 10, Q2 20', 'Sales'],
    ['Turn this into a spreadsheet', 'Document'],
    ['PDF about solar energy', 'Solar energy'],
    ['Presentation skills for managers', 'Presentation skills for managers'],
    ['The new ferry of Vessby', 'The new ferry of Vessby'],
    ['# Report of the harbour master\n\nAll was well.', 'Report of the harbour master'],
    ['# Make or buy #\n\nIt depends.', 'Make or buy'],
    ['Report: Harvest 2026/27\n\nIt was good.', 'Report: Harvest 2026/27'],
    ['Draft budget 2026\n\n| a | b |\n|---|---|\n| 1 | 2 |', 'Draft budget 2026'],
    ['Notes for the crew\n\nA ship named Ida came.', 'Notes for the crew'],
    ['Make a report of this:\nColour: red', 'Document'],
    ['Write it down\n\nA diary is good.', 'Write it down'],
    ['Draft of the report\n\nIt is short.', 'Draft of the report'],
    ['Build a table for the garden\n\nYou need six planks and some screws.', 'Build a table for the garden'],
    ['Build a table of the harvest\n\nApples: 4\nPears: 7', 'Harvest'],
  ])('%s is called %s', (instruction, title) => {
    expect(titleOf(instruction)).toBe(title)
  })

  test.each([
    [
      'CSV',
      'Make a table of this:\nName,Amount\nA,10\nB,20',
      '| Name | Amount |\n| --- | --: |\n| A | 10 |\n| B | 20 |',
    ],
    ['JSON', 'Make a table of this:\n[{"a": 1, "b": "x|y"}]', '| a | b |\n| --: | --- |\n| 1 | x\\|y |'],
    [
      'labels',
      'Make a report of this:\nColour: red\nSize: 12',
      '|   | Value |\n| --- | --- |\n| Colour | red |\n| Size | 12 |',
    ],
    ['sums of a sentence', 'Make a report of this:\nWe paid $5 and $10.', 'We paid $5 and $10.'],
    ['pairs', 'Report on sales: North 10, South 20', '|   | Value |\n| --- | --: |\n| North | 10 |\n| South | 20 |'],
    ['JSON alone', '[{"a": "0042"}, {"b": 3.50}]', '| a | b |\n| --: | --: |\n| 0042 |   |\n|   | 3.50 |'],
    [
      'JSON in an object',
      '{"rows": [{"a": 12345678901234567891}], "n": 1}',
      '| a |\n| --: |\n| 12345678901234567891 |',
    ],
    ['JSON by line', '{"a": "x"}\n{"a": "y"}', '| a |\n| --- |\n| x |\n| y |'],
    ['lists in JSON', 'Make a table of this:\n[["a", "b"], ["x", null]]', '| a | b |\n| --- | --- |\n| x |   |'],
    ['one record of JSON', '{"name": "Ada", "zip": "00420"}', '| name | zip |\n| --- | --: |\n| Ada | 00420 |'],
    ['values of JSON', '["apples", "pears"]', '| Value |\n| --- |\n| apples |\n| pears |'],
    ['JSON within objects', '{"data": {"rows": [{"a": 1}, {"a": 2}]}}', '| a |\n| --: |\n| 1 |\n| 2 |'],
    ['JSON below a title', 'People\n\n[{"a": "x"}]', '# People\n\n| a |\n| --- |\n| x |'],
    ['a heading that begins like a request', 'Write it down\n\nIt helps.', '# Write it down\n\nIt helps.'],
    [
      'a heading about furniture',
      'Build a table for the garden\n\nYou need planks, and screws.\n\nCut them.',
      '# Build a table for the garden\n\nYou need planks, and screws.\n\nCut them.',
    ],
    [
      'rows below a request',
      'Make a table of sales\n\nNorth 10, South 20',
      '|   | Value |\n| --- | --: |\n| North | 10 |\n| South | 20 |',
    ],
    ['a request about what follows', 'Make a chart of the following\n\nIt went well.', 'It went well.'],
    ['a title', 'Presentation skills\n\nSpeak slowly.', '# Presentation skills\n\nSpeak slowly.'],
    [
      'a text with code',
      'Reset of the scale\n\nType this.\n\n```\nscale --zero\n```\n\nThen wait.',
      '# Reset of the scale\n\nType this.\n\n```\nscale --zero\n```\n\nThen wait.',
    ],
    ['a text', 'Make a PDF of this:\n\nFacts\n\nIt is so. And so.', '## Facts\n\nIt is so. And so.'],
    ['Markdown', '# Mine\n\n- *one*\n- two', '# Mine\n\n- *one*\n- two'],
    [
      'a sentence with numbers',
      'Make a PDF of this:\n\nIn 2024 we had 3 people, and in 2025 there were 12.',
      'In 2024 we had 3 people, and in 2025 there were 12.',
    ],
    [
      'a wrapped sentence',
      'Make a PDF of this:\n\nWe have tea, milk\nand honey, too.',
      'We have tea, milk\nand honey, too.',
    ],
  ])('%s stays what it is', (_, prompt, markdown) => {
    expect(outlineOf(prompt).markdown).toBe(markdown)
  })

  test.each([
    ['rows', 'name,joined\nAda,2026-03-04\nBo,2026-04-01', 'Document'],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |', 'Document'],
    ['members before it', '---\ntitle: "Plan of May"\nauthor: Ada\n---\n\nThe text of it.', 'Plan of May'],
  ])('is called by no line of its data: %s', (_, prompt, title) => expect(outlineOf(prompt).title).toBe(title))

  test('shows no members before a text, and its tasks with their boxes', () => {
    const [list, ...others] = readMarkdown('---\ntitle: T\ntags:\n  - a\n---\n- [x] done\n- [ ] open\n- [a] no task')
    expect(others).toEqual([])
    const items =
      list?.type === 'list' ? list.items.map(([first]) => first?.type === 'paragraph' && plain(first.text)) : []
    expect(items).toEqual(['☑ done', '☐ open', '[a] no task'])
    expect(readMarkdown('---\n\nA rule first.')).toHaveLength(2)
  })

  test('draws a chart when one is asked for, of the kind that is named', () => {
    const { markdown } = outlineOf('Make a pie chart of this:\nName,Amount\nA,10\nB,20')
    expect(markdown).toContain('```chart\ntype: pie\n')
    expect(markdown).toEndWith('Name,Amount\nA,10\nB,20\n```')
  })

  test('keeps a long text whole, whatever is in it', () => {
    const text = 'One sentence of many words that goes on. '.repeat(200).trim()
    expect(outlineOf(text).markdown).toBe(text)
    const fenced = `Make a document of this:\n\nBefore.\n\n\`\`\`js\nx\n\`\`\`\n\n${text}`
    expect(outlineOf(fenced).markdown).toBe(`Before.\n\n\`\`\`js\nx\n\`\`\`\n\n${text}`)
  })
})

test('stars between digits are a product', () => {
  expect(readMarkdown('2*3*4 and *2*')).toMatchObject([{ text: [{ text: '2*3*4 and ' }, { text: '2', italic: true }] }])
})
