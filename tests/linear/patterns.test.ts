import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { BOUNDED, MADE_LATER } from './bounded'
import { type Pattern, written } from './patterns'

/** A pattern that says nothing for so long is taken for one that never ends. */
const SILENT_MS = 60_000
/** The most that a pattern may take for the longest text it is given. */
const MAX_MS = 40

let literals: Pattern[] = []
let made: { file: string; line: number }[] = []
let atLoad: Pattern[] = []

beforeAll(async () => {
  ;({ literals, made } = await written())
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'made-run.ts')], {
    stdout: 'pipe',
    env: { ...process.env, NODE_ENV: 'test' },
  })
  atLoad = await new Response(child.stdout).json()
}, 60_000)

/** What the measuring process says of each pattern; its silence is an answer too, and ends it. */
async function measured<Found>(patterns: readonly (Pick<Pattern, 'source' | 'flags'> & { chars?: number })[]) {
  const found: (Found | 'never ends')[] = []
  while (found.length < patterns.length) {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'measure-run.ts')], {
      stdin: 'pipe',
      stdout: 'pipe',
    })
    child.stdin.write(JSON.stringify(patterns.slice(found.length)))
    child.stdin.end()
    let timer = setTimeout(() => child.kill('SIGKILL'), SILENT_MS)
    let text = ''
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer)
      timer = setTimeout(() => child.kill('SIGKILL'), SILENT_MS)
      const lines = (text + chunk).split('\n')
      text = lines.pop()!
      found.push(...lines.map((line) => JSON.parse(line) as Found))
    }
    clearTimeout(timer)
    if ((await child.exited) !== 0) found.push('never ends')
  }
  return found
}

const boundOf = ({ file, source }: Pattern) => BOUNDED.find((one) => one.file === file && source.startsWith(one.begins))
const shown = ({ file, line, source, flags }: Pattern) => `${file}:${line} /${source.slice(0, 80)}/${flags}`

describe('a regular expression of the server', () => {
  test('takes time linear in the text, or its text is short', async () => {
    const all = [...new Map([...literals, ...atLoad].map((one) => [`${one.source}/${one.flags}`, one])).values()]
    const free = all.filter((one) => !boundOf(one))
    expect(free.length).toBeGreaterThan(1_000)
    const found = await measured<string | null>(free)
    expect(free.flatMap((one, at) => (found[at] ? [`${shown(one)} on ${found[at]}`] : []))).toEqual([])
  }, 300_000)

  test.each(['\\s+$', '^(?:a+)+$', '["“][^"”]{2,}["”]', '\\bsort\\b.*\\bwords\\b', '^-+|-+$'])(
    'such as /%s/ would be seen',
    async (source) => {
      expect(await measured<string | null>([{ source, flags: '' }])).not.toEqual([null])
    },
    60_000,
  )

  test('whose text is short is quick on a text of that length', async () => {
    const all = [...literals, ...atLoad].flatMap((one) => {
      const bound = boundOf(one)
      return bound ? [{ ...one, ...bound }] : []
    })
    expect(
      BOUNDED.filter((one) => !all.some(({ file, begins }) => file === one.file && begins === one.begins)),
    ).toEqual([])
    const found = await measured<number>(all)
    const slow = all.flatMap((one, at) => (Number(found[at]) <= MAX_MS ? [] : [`${shown(one)}: ${found[at]} ms`]))
    expect(slow).toEqual([])
  }, 60_000)

  test('that is made while the server runs is known, with why its time is linear', () => {
    const loaded = new Set(atLoad.map(({ file, line }) => `${file}:${line}`))
    const later = made.filter(({ file, line }) => !loaded.has(`${file}:${line}`) && !loaded.has(`${file}:${line + 1}`))
    const counted = Object.fromEntries(
      Map.groupBy(later, ({ file }) => file)
        .entries()
        .map(([file, own]) => [file, own.length]),
    )
    expect(counted).toEqual(Object.fromEntries(MADE_LATER.map(({ file, times }) => [file, times])))
  })
})
