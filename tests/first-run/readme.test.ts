import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { allCommands } from '../../cli/registry'
import packageJson from '../../package.json'
import { SETTINGS } from '../../src/app/config'
import { createWorld } from '../support/world'
import { GUIDES, README } from './readme'

const commands = await allCommands()
/** What newcomers read first. */
const PAGES = ['README.md', 'docs/running.md', 'docs/clients.md', 'docs/tour.md', 'docs/guide.md']
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

const declared = new Map<string, { default: unknown }>(Object.values(SETTINGS).map((setting) => [setting.env, setting]))

/** The nouns of docs/api.md that may be missing from a release. */
const NOUNS =
  'images video audio voice code documents research jobs artifacts webhooks events hooks workflows iframes browser channels completions chat models tools skills evi conversations memory usage billing settings orgs audit keys health benchmarks rate-limits routing-preferences guardrail-policies auth invitations'.split(
    ' ',
  )

describe('the README', () => {
  test('is short', () => {
    const lines = README.split('\n')
    expect(lines.length).toBeLessThanOrEqual(160)
    expect(lines.filter((line) => line.length > 320)).toEqual([])
    expect(README).not.toMatch(/!\[[^\]]*\]\(https?:|shields\.io/)
  })

  test('names settings that exist, with the defaults they have', () => {
    const rows = [...PAGES.matchAll(/^\| `(SVC_\w+)` \| (.+?) \|/gm)].map(([, name, shown]) => [name!, shown!] as const)
    expect(rows.length).toBeGreaterThan(9)
    for (const [name, shown] of rows) {
      const value = declared.get(name)?.default
      expect(value, name).toBeDefined()
      if (shown.startsWith('`')) expect(shown, name).toBe(`\`${value}\``)
      else expect([{}, ''], name).toContainEqual(value as string)
    }
    const named = new Set(PAGES.match(/\bSVC_[A-Z_]+[A-Z]\b/g))
    const others = new Set(['SVC_TEST_POSTGRES_URL', 'SVC_API_KEY', 'SVC_ALLOW_JS_CONFIG'])
    expect([...named].filter((name) => !declared.has(name) && !others.has(name))).toEqual([])
  })

  test('names the first word of every command, and no other', () => {
    const [, table = ''] = /^\| To \| Nouns \|\n([\s\S]+?)\n\n/m.exec(readFileSync('docs/operating.md', 'utf8')) ?? []
    const named = [...table.matchAll(/`([a-z]+)`/g)].map(([, noun]) => noun!)
    expect(named.sort()).toEqual([...new Set(commands.map(({ path }) => path.split(' ')[0]!))].sort())
  })

  test('names no command that is not there, and no guide does', () => {
    const pages = [PAGES, ...GUIDES.map(({ typed, check }) => typed + check)].join('\n')
    const typed = [...pages.matchAll(/\.\/svc-admin ([a-z]+)(?: ([a-z-]+))?/g)].map(([, noun, verb]) => [
      noun!,
      `${noun} ${verb}`,
    ])
    const paths = new Set(commands.map(({ path }) => path))
    expect(typed.filter((words) => !words.some((path) => paths.has(path)))).toEqual([])
  })

  test('has eighteen guides', () => {
    expect(GUIDES.map(({ file }) => file)).toHaveLength(18)
  })

  test('says what is not there yet: every noun of the API that no route has, and no other', async () => {
    const world = await createWorld()
    const [, text = ''] = /^\*\*Not there yet\*\*: ([\s\S]+?)\n\n/m.exec(README) ?? []
    const there = new Set(world.app.api.routes.map(({ path }) => path.split('/')[3]))
    const wanted = NOUNS.filter((noun) => !there.has(noun)).sort()
    expect([...text.matchAll(/`\/([a-z-]+)`/g)].map(([, noun]) => noun!).sort()).toEqual(wanted)
  })

  test('names scripts that exist', () => {
    const scripts = [...README.matchAll(/`?bun run ([\w:]+)/g)].map(([, name]) => name!)
    expect(scripts.filter((name) => !(name in packageJson.scripts))).toEqual([])
  })
})
