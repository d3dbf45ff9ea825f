import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import packageJson from '../package.json'
import { COMMANDS } from './commands'
import { generatedPages } from './first-run/generated'
import {
  anchorsOf,
  bareCodes,
  type Citation,
  elsewhereCited,
  labelsCited,
  linksOf,
  pathsOf,
  SECTIONED,
  sectionsCited,
  sentencesOf,
  slugsOf,
  type Text,
  wordsIn,
} from './support/citations'

const read = async (pattern: string): Promise<Text[]> => {
  const files = await Array.fromAsync(new Bun.Glob(pattern).scan('.'))
  return Promise.all(files.sort().map(async (file) => ({ file, text: await Bun.file(file).text() })))
}

const pages = (await Promise.all(['docs/*.md', 'docs/guides/*.md', 'docs/deploy/*.md'].map(read))).flat()
const page = (file: string): string => pages.find((one) => one.file === file)?.text ?? ''
const readme = await read('README.md')
const sources = (await Promise.all(['{src,cli,tui,tests}/**/*.{ts,tsx}', 'drizzle/*.ts'].map(read))).flat()
/** Without those whose citations are examples. */
const citing = sources.filter(({ file }) => !/^tests\/(docs\.test|support\/citations)\.ts$/.test(file))

const MAX_WORDS = 25
/** Words that readers stumble over, where the field has its own. */
const STILTED =
  /\b(?:whoever|whatever comes|anew|reckons?|stands? (?:in|at|beside|between)|that (?:is|are) none|goes on|mends?)\b/i
/** Two screens. */
const MAX_LINES = 60

const show = ({ file, cited }: Citation): string => `${file}: ${cited}`
const promises = new Set(anchorsOf(page('docs/promises.md')))
const rows = new Set(anchorsOf(page('docs/attacks.md')))
const labels = citing.flatMap(labelsCited)

describe('what is cited', () => {
  test('is there: every section', () => {
    const sections = new Set(SECTIONED.flatMap((file) => anchorsOf(page(file)).map((anchor) => `${file} ${anchor}`)))
    const cited = [...citing, ...pages, ...readme].flatMap(sectionsCited)
    expect(cited.length).toBeGreaterThan(500)
    expect(cited.filter(({ cited }) => !sections.has(cited)).map(show)).toEqual([])
    const tested = new Set(cited.flatMap(({ file, cited }) => (file.startsWith('tests/') ? [cited] : [])))
    const traps = Array.from({ length: 30 }, (_, at) => `docs/api.md 33.6.${at + 1}`)
    expect(traps.filter((row) => !sections.has(row) || !tested.has(row))).toEqual([])
  })

  test('is there: every promise and every row of the attack catalogue', () => {
    expect(labels.length).toBeGreaterThan(300)
    expect(labels.filter(({ cited }) => !promises.has(cited) && !rows.has(cited)).map(show)).toEqual([])
  })

  test('is in this repository', () => {
    expect([...citing, ...pages, ...readme].flatMap(elsewhereCited).map(show)).toEqual([])
  })

  test('has the file before its code', () => {
    expect(citing.flatMap(bareCodes).map(show)).toEqual([])
  })
})

describe('the pages', () => {
  test('say everything once', () => {
    const twice = pages.flatMap(({ file, text }) =>
      anchorsOf(text)
        .filter((anchor, at, anchors) => anchors.indexOf(anchor) < at)
        .map((cited) => show({ file, cited })),
    )
    expect(twice).toEqual([])
  })

  test('have the promises without a gap, each with a test or the reason why there is none', () => {
    expect([...promises].sort()).toEqual(Array.from({ length: 45 }, (_, at) => `I${at + 1}`).sort())
    const parts = page('docs/promises.md').split(/^### /m).slice(1)
    expect(parts.filter((part) => !/Test: `tests\/|not\s+there\s+yet|yet\./.test(part))).toEqual([])
  })

  test('have no row that nothing cites', () => {
    const cited = new Set(labels.map(({ cited }) => cited))
    const isNone = (row: string) => new RegExp(`^\\| ${row} \\|.*there is none`, 'm').test(page('docs/attacks.md'))
    expect([...rows].filter((row) => !cited.has(row) && !isNone(row))).toEqual([])
  })

  test('link to what is there', () => {
    const broken = [...pages, ...readme].flatMap(({ file, text }) =>
      linksOf(text)
        .filter((target) => {
          const [path, slug] = target.split('#')
          const linked = path ? normalize(join(dirname(file), path)) : file
          if (!existsSync(linked)) return true
          return slug !== undefined && !slugsOf(page(linked) || readme[0]!.text).includes(slug)
        })
        .map((cited) => show({ file, cited })),
    )
    expect(broken).toEqual([])
  })

  test('of the reference are what `bun run generate:docs` makes of the code', async () => {
    const made = await generatedPages()
    const written = await read('docs/reference/*.md')
    expect(written.map(({ file }) => file)).toEqual(Object.keys(made).sort())
    for (const { file, text } of written) expect(text, file).toBe(made[file]!)
  })

  test('name files, folders and scripts that exist', () => {
    const paths = pages.flatMap(({ file, text }) => pathsOf(text).map((cited) => ({ file, cited })))
    expect(paths.length).toBeGreaterThan(60)
    expect(paths.filter(({ cited }) => !existsSync(cited)).map(show)).toEqual([])
    const scripts = pages.flatMap(({ text }) => [...text.matchAll(/`bun run ([\w:]+)/g)].map(([, name]) => name!))
    expect(scripts.filter((name) => !(name in packageJson.scripts))).toEqual([])
    const commands = pages.flatMap(({ text }) => [...text.matchAll(/`bun run (bench|prove|make) (\w+)/g)])
    expect(commands.filter(([, kind, name]) => !(name! in COMMANDS[kind!]!)).map(([named]) => named)).toEqual([])
  })

  test('name functions of the code, where they say how to write some', () => {
    const code = sources.map(({ text }) => text).join('\n')
    const named = [...page('docs/README.md').matchAll(/`([a-z]+[A-Z]\w+)\b[^`]*`/g)].map(([, name]) => name!)
    expect(named.length).toBeGreaterThan(15)
    expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([])
  })

  test('have lines of 120 characters at most, tables aside', () => {
    const lines = pages.flatMap(({ text }) => text.split('\n'))
    expect(lines.filter((line) => line.length > 120 && !line.startsWith('|'))).toEqual([])
  })

  test(`have sentences of ${MAX_WORDS} words at most, and the map parts of two screens at most`, () => {
    const long = [...pages, ...readme]
      .flatMap(({ text }) => sentencesOf(text))
      .filter((sentence) => wordsIn(sentence) > MAX_WORDS)
    expect(long).toEqual([])
    expect(
      page('docs/README.md')
        .split(/^## /m)
        .filter((part) => part.split('\n').length > MAX_LINES),
    ).toEqual([])
  })
})

test('the pages, the README and SECURITY are in plain words', async () => {
  const all = [...pages, ...readme, ...(await read('docs/reference/*.md')), ...(await read('SECURITY.md'))]
  const stilted = all.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, at) => (STILTED.test(line) ? [`${file}:${at + 1} ${line}`] : [])),
  )
  expect(stilted).toEqual([])
})

describe('a citation', () => {
  const cite = (text: string, file = 'src/a.ts') => ({
    sections: sectionsCited({ file, text }).map(({ cited }) => cited),
    labels: labelsCited({ file, text }).map(({ cited }) => cited),
    elsewhere: elsewhereCited({ file, text }).map(({ cited }) => cited),
    bare: bareCodes({ file, text }).map(({ cited }) => cited),
  })

  test('is found in a comment, across its lines and in lists', () => {
    const text = '/**\n * Bounded (docs/api.md\n * 12, 13; docs/operating.md 2.9, docs/promises.md I28).\n */'
    expect(cite(text).sections).toEqual(['docs/api.md 12', 'docs/api.md 13', 'docs/operating.md 2.9'])
    expect(cite('const a = 1 // as I7 and G13 want').labels).toEqual(['I7', 'G13'])
    expect(cite('/** (I28, B5–B11, I-5) */').labels).toEqual(['I28', 'B5', 'B11', 'I-5'])
    expect(cite('/** (docs/promises.md I7, I8; docs/attacks.md B5–B11, G13) */').bare).toEqual([])
    expect(cite('/** Once (I7); see docs/attacks.md\n * B4 and G2. */').bare).toEqual(['I7'])
  })

  test('is found in the names and tables of tests', () => {
    const text = "test('A8 a key', f)\nconst row = { id: 'B14' }\ntest('is once (I8, I9)', g)"
    expect(cite(text, 'tests/a.test.ts').labels).toEqual(['A8', 'B14', 'I8', 'I9'])
  })

  test('is not what only looks like one', () => {
    expect(cite("const a = { id: 'H2' } // the key `A55`, f-I28, 'gpt-4'").labels).toEqual([])
  })

  test('of a document that is not here is found', () => {
    expect(cite('/** (reliability 0.7), stack.md 2, spec 4, contract 1.5 */').elsewhere).toHaveLength(4)
    expect(cite('/** how far the reliability of 3 engines goes */').elsewhere).toEqual([])
  })
})

test('comments are in plain words', () => {
  const comments = sources
    .filter(({ file }) => !/^(?:src\/training|tests|drizzle)\//.test(file))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm)].map(([comment]) => `${file}: ${comment}`),
    )
  expect(comments.length).toBeGreaterThan(3_000)
  expect(comments.filter((comment) => STILTED.test(comment) && !/stands? in for/.test(comment))).toEqual([])
})

test('a comment describes what follows it', () => {
  const before = sources.filter(({ text }) => /^ *(?:\/\*\*.*| \*)\*\/\n *\/\*\*/m.test(text))
  expect(before.map(({ file }) => file)).toEqual([])
})
