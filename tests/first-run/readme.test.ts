import { describe, expect, test } from 'bun:test'
import { commands } from '../../cli/registry'
import packageJson from '../../package.json'
import { SETTINGS } from '../../src/app/config'
import { README } from './readme'

const declared = new Map<string, { default: unknown }>(Object.values(SETTINGS).map((setting) => [setting.env, setting]))

describe('the README', () => {
  test('is short', () => {
    const lines = README.split('\n')
    expect(lines.length).toBeLessThan(345)
    expect(lines.filter((line) => line.length > 560)).toEqual([])
    expect(README).not.toMatch(/!\[|shields\.io/)
  })

  test('names settings that exist, with the defaults they have', () => {
    const rows = [...README.matchAll(/^\| `(SVC_\w+)` \| (.+?) \|/gm)].map(
      ([, name, shown]) => [name!, shown!] as const,
    )
    expect(rows.length).toBeGreaterThan(9)
    for (const [name, shown] of rows) {
      const value = declared.get(name)?.default
      expect(value, name).toBeDefined()
      if (shown.startsWith('`')) expect(shown, name).toBe(`\`${value}\``)
      else expect([{}, ''], name).toContainEqual(value as string)
    }
    const named = new Set(README.match(/\bSVC_[A-Z_]+[A-Z]\b/g))
    const unknown = [...named].filter((name) => !declared.has(name) && name !== 'SVC_TEST_POSTGRES_URL')
    expect(unknown).toEqual([])
  })

  test('names commands that exist, and all of them', () => {
    const paths = commands.map(({ path }) => path)
    const rows = [...README.matchAll(/^\| `svc-admin (\w+)` \| (.+?) \|$/gm)]
    const listed = rows.flatMap(([, noun, about]) => {
      const verbs = [...about!.matchAll(/`([a-z][\w-]*)`/g)].map(([, verb]) => `${noun} ${verb}`)
      return paths.includes(noun!) ? [noun!] : verbs
    })
    const helpers = ['commands', 'help', 'version']
    expect(listed.sort()).toEqual(paths.filter((path) => !helpers.includes(path)).sort())
  })

  test('names scripts that exist', () => {
    const scripts = [...README.matchAll(/`?bun run ([\w:]+)/g)].map(([, name]) => name!)
    expect(scripts.filter((name) => !(name in packageJson.scripts))).toEqual([])
  })
})
