// SQLite only: no database is opened.
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig, SETTINGS } from '../../src/app/config'
import { ConfigError, resolveSettings } from '../../src/kernel/config'
import { temporaryFolder } from '../support/temporary-folder'

const folder = temporaryFolder('svc-config-')

function problemsOf(read: () => unknown): string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}
const ofVariable = (name: string, word: string) => problemsOf(() => resolveSettings(SETTINGS, { [name]: word }, {}))
const ofMember = (name: string, value: unknown) => problemsOf(() => resolveSettings(SETTINGS, {}, { [name]: value }))

const WORDS = ['banana', '-1', '7.5', '1e99', '{"x":1}', '[]', '{"a":', ' ', 'x'.repeat(5_000)]
const VALUES = [7.5, -1, 1e99, 'banana', '', 'x'.repeat(5_000), { x: 1 }, [1], null, true]

/** What a schema says of itself, and what a newcomer cannot read. */
const UNREADABLE =
  /schema|pattern|propert|keyword|\bconst\b|anyOf|[\^$*\\]|right form|accepted form|undefined|NaN|\[object/
/** What may be written there instead. */
const CURE =
  /; it must be .+|\. Use .+ or .+|; its members are .+, .+|"\w+" is missing|; at (most|least) \d+|; the (smallest|largest) value is|is empty/

describe.each(Object.entries(SETTINGS))('a wrong %s', (name, { env, about }) => {
  const notices = [
    ...WORDS.map((word) => [env, ofVariable(env, word)] as const),
    ...VALUES.map((value) => [`"${name}" in svc.server.json`, ofMember(name, value)] as const),
  ].flatMap(([place, problems]) => problems.map((problem) => [place, problem] as const))

  test('is named, with what may be written there, in words that need no schema', () => {
    expect(notices.length).toBeGreaterThan(0)
    for (const [place, problem] of notices) {
      expect(problem).toStartWith(place)
      expect(problem).toEndWith(` ${about}`)
      const own = problem.slice(0, -about.length)
      expect(own).toMatch(CURE)
      expect(own.replaceAll(/"[^"]*"/g, '')).not.toMatch(UNREADABLE)
      expect(own.length).toBeLessThan(450)
    }
  })
})

test.each([
  ['SVC_PORT', 'banana', 'SVC_PORT is "banana"; it must be a whole number between 0 and 65535.'],
  ['SVC_PORT', '70000', 'SVC_PORT is 70000; it must be between 0 and 65535.'],
  ['SVC_LOG_LEVEL', 'loud', 'SVC_LOG_LEVEL is "loud". Use debug, info, warn, error or silent.'],
  ['SVC_DRAIN_S', 'long', 'SVC_DRAIN_S is "long"; it must be "auto" or a whole number.'],
  ['SVC_ROLES', 'all', 'SVC_ROLES is "all"; it must be one or more of api, jobs, deliveries, browser, separated by'],
  ['SVC_DATABASE_URL', 'mysql://root:pw@h/d', 'SVC_DATABASE_URL is set to a value that is not shown; it must be'],
  ['SVC_TIERS', '{"gold":{}}', 'SVC_TIERS has no member "gold"; its members are free, starter, pro, enterprise.'],
  ['SVC_TIERS', '{"free":{"rpm":"x"}}', 'SVC_TIERS: "free.rpm" is "x"; it must be a whole number between 1 and'],
  ['SVC_TIERS', '{"free":{"rpms":1}}', 'SVC_TIERS: "free" has no member "rpms"; its members are rpm, tpm, '],
  ['SVC_TIERS', '{"free":', 'SVC_TIERS is not valid JSON; it must be an object'],
  [
    'SVC_ENGINES',
    '{"upstreams":{"a":{"kind":"gpt"}},"models":{}}',
    'SVC_ENGINES: "upstreams.a.kind" is set to a value that is not shown. Use compat, ',
  ],
])('%s=%s says: %s', (name, word, says) => {
  const [first, ...others] = ofVariable(name, word)
  expect(first).toStartWith(says)
  expect([first, ...others].join()).not.toContain('pw@')
})

test('an unknown member of the file gets a suggestion', () => {
  expect(ofMember('prot', 1)).toEqual(['"prot" in svc.server.json is not a setting. Did you mean "port"?'])
  expect(ofMember('colours', 1)).toEqual([
    '"colours" in svc.server.json is not a setting. svc-admin config list shows all.',
  ])
})

test.each([
  ['{"port": 3400', 'is not valid JSON'],
  ['[1]', 'must contain an object with settings, for example {"port": 3400}'],
  ['', 'is not valid JSON'],
])('a file that is %j says so', (text, says) => {
  const path = join(folder, 'svc.server.json')
  writeFileSync(path, text)
  const [problem, ...others] = problemsOf(() => loadConfig({ configFile: path, userEnv: {} }))
  expect(problem).toStartWith(path)
  expect(problem).toContain(says)
  expect(others).toEqual([])
})
