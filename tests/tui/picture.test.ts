import { describe, expect, test } from 'bun:test'
import { redact } from '../../src/kernel/redact'
import { TOPIC_WORDS, type TopicName } from '../../src/operators/schema-stream'
import { paint, picture } from '../../tui/data/store'
import { textOf, widthOf } from '../../tui/draw/line'
import { changes } from '../../tui/screen-reader'
import type { Facts } from '../../tui/screens/overview'
import { type Model, type Row, SCREENS, type TopicData } from '../../tui/state/model'
import { update } from '../../tui/state/update'
import { mockUp } from './support/mock-up'
import { modelOf, NOW, press, typed } from './support/model'
import { DARK, LIGHT, svgOf } from './support/svg'

const SIZES = [
  [80, 24],
  [100, 30],
  [132, 34],
  [200, 60],
] as const

const textsOf = (model: Model) => picture(model).map(textOf)
const seen = (model: Model) => textsOf(model).join('\n')

/** Moments that are drawn differently. */
const MOMENTS: Record<string, (model: Model) => Model> = {
  'with data': (model) => model,
  'before the first answer': (model) => ({ ...model, topics: {}, link: { ...model.link, state: 'connecting' } }),
  'as a viewer': (model) => ({
    ...model,
    topics: Object.fromEntries(
      Object.entries(model.topics).map(([name, { rows, facts, ...topic }]) => {
        const seen = redact({ rows, facts }, TOPIC_WORDS[name as TopicName].members) as TopicData
        return [name, { ...topic, ...seen }]
      }),
    ),
    role: 'viewer',
    canWrite: false,
  }),
  'without a row': (model) => ({
    ...model,
    topics: Object.fromEntries(
      Object.entries(model.topics).map(([name, topic]) => [
        name,
        { ...topic, rows: [], facts: name === 'overview' ? topic.facts : {} },
      ]),
    ),
  }),
  'while the server is away': (model) =>
    update(model, { type: 'lost', problem: 'connection refused', tries: 4, nextTryAt: NOW + 8_000 }).model,
  'with a filter that hides all': (model) => press(model, '/', ...typed('nothing-has-this'), 'enter').model,
  'with help': (model) => press(model, '?').model,
  'with the palette': (model) => press(model, ':', ...typed('credits')).model,
}

describe.each(SIZES)('at %d x %d', (columns, rows) => {
  describe.each(Object.keys(MOMENTS))('%s', (moment) => {
    test.each(SCREENS)('%s is exactly as large as the window', (screen) => {
      const lines = picture(MOMENTS[moment]!(modelOf({ screen, columns, rows })))
      expect(lines).toHaveLength(rows)
      expect(lines.map(widthOf).filter((width) => width !== columns)).toEqual([])
    })
  })
})

test.each([120, 121, 122, 123, 124, 125, 132])('at %d columns no screen is cut from the tabs', (columns) => {
  for (const screen of SCREENS) {
    const tabs = textsOf(modelOf({ screen, columns, rows: 34 }))[1]!
    expect(tabs).toMatch(/9 Logs\]? {2}.*\? help $/)
    expect(tabs).not.toContain('…')
  }
})

/** More of everything than the mock-ups have, and longer names. */
function crowded(now: number) {
  const mocked = mockUp(now)
  const facts = mocked.overview.facts as Facts
  const longer = (row: Row) => ({
    ...row,
    key: 'The key of the warehouse in Rotterdam',
    widget: 'A shop for everything',
  })
  const needs = facts.needs.map((need) => ({
    ...need,
    count: need.count + 120,
    about: 'hooks.a-long-name.example'.repeat(3),
  }))
  const rows = Object.entries(mocked).map(([name, topic]) => [name, { ...topic, rows: topic.rows.map(longer) }])
  return { ...Object.fromEntries(rows), overview: { facts: { ...facts, needs }, rows: [] } } as typeof mocked
}

/** A text that was cut goes on at once, or a rule follows it: it can be read as one with what stands beside it. */
const RUN_TOGETHER = /(?<![0-9a-f]{4})…[^\s…"─│]|[^\s─]│/u

describe.each([80, 100, 120, 132, 160, 200])('at %d columns nothing runs together', (columns) => {
  test.each(SCREENS)('on %s', (screen) => {
    for (const data of [mockUp(NOW), crowded(NOW)])
      expect(textsOf(modelOf({ screen, columns, rows: 40, data })).filter((row) => RUN_TOGETHER.test(row))).toEqual([])
  })
})

test('the overview says what its signs count', () => {
  expect(seen(modelOf())).toContain('jobs ! 2 failed  browser ✓')
  expect(seen(modelOf({ columns: 160, rows: 40 }))).toContain('jobs ! 2 failed   browser ✓')
})

/** Set to make the pictures of the documents anew, to be looked at. */
const WRITES = process.env.SVC_FRAMES === 'write'

test.each([
  ['dashboard', { screen: 'overview', columns: 132, rows: 34 }, 'The overview of the dashboard', DARK],
  ['dashboard-light', { screen: 'overview', columns: 132, rows: 34 }, 'The overview of the dashboard', LIGHT],
  [
    'dashboard-takeovers',
    { screen: 'takeovers', columns: 80, rows: 24 },
    'A visitor who waits, in the dashboard',
    DARK,
  ],
] as const)('the picture %s of the documents is what is drawn', async (name, given, says, look) => {
  const file = new URL(`../../docs/pictures/${name}.svg`, import.meta.url)
  const svg = svgOf(picture(modelOf(given)), given.columns, says, look)
  if (WRITES) await Bun.write(file, svg)
  expect(await Bun.file(file).text()).toBe(svg)
})

describe('what is said', () => {
  test('a window that is too small shows both sizes', () => {
    const lines = textsOf(modelOf({ columns: 72, rows: 20 }))
    expect(lines).toHaveLength(20)
    expect(lines[0]).toContain('Needs 80x24, this is 72x20.')
  })
  test('a filter with a wrong field names the right one; one that hides all says how many there are', () => {
    expect(seen(press(modelOf({ screen: 'jobs' }), '/', ...typed('stauts:x')).model)).toContain('did you mean status?')
    const hidden = press(modelOf({ screen: 'jobs' }), '/', ...typed('status:none'), 'enter').model
    expect(seen(hidden)).toContain('No row matches `status:none`. 8 rows without the filter.')
  })
  test('a failing source reports its error, and the others continue', () => {
    const events = [{ type: 'failed', seq: 2, topic: 'jobs', message: 'timeout', at: '' }] as const
    const { model } = update({ ...modelOf({ screen: 'jobs' }), topics: {} }, { type: 'streamed', events })
    expect(seen(model)).toContain('! timeout')
  })
  test('each state has a sign and a word, so that it needs no colour', () => {
    for (const [screen, words] of Object.entries({
      jobs: ['… queued', '◐ active', '✗ failed', '✓ done'],
      deliveries: ['↻ retry', '✗ failed', '✓ ok'],
      logs: ['429 !', '503 ✗'],
      overview: ['✓ healthy', '! search 2.1s degraded', '– motion not set'],
    })) {
      for (const word of words) expect(seen(modelOf({ screen: screen as 'jobs' }))).toContain(word)
    }
  })
  test('the chosen row is marked and inverse, without colour too', () => {
    const [row] = picture(modelOf({ screen: 'jobs' })).filter((line) => textOf(line).startsWith('▸'))
    expect(row!.every(({ inverse }) => inverse)).toBe(true)
    expect(paint(row!, { color: false, ascii: false })).toContain('\u001b[7m')
  })
  test('no colour code is written where there are no colours', () => {
    for (const screen of SCREENS) {
      const codes = picture(modelOf({ screen })).map((line) => paint(line, { color: false, ascii: false }))
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them
      expect(codes.join('').match(/\u001b\[(?!0m|7m)[^m]*m/g)).toBeNull()
    }
  })
  test('green is no colour of the dashboard', () => {
    const codes = picture(modelOf()).map((line) => paint(line, { color: true, ascii: false }))
    expect(codes.join('')).not.toContain('\u001b[32m')
    expect(codes.join('')).toContain('\u001b[36m')
  })
  test.each(SCREENS)('%s has only ASCII with --ascii, in the same places', (screen) => {
    for (const line of picture(modelOf({ screen }))) {
      const plain = Bun.stripANSI(paint(line, { color: false, ascii: true }))
      expect(plain).toMatch(/^[\x20-\x7e]*$/)
      expect(plain).toHaveLength(80)
    }
  })
})

describe('what others wrote', () => {
  const HOSTILE = '\u001b[2J\u001b]52;c;aGk=\u0007\u001b[31mred\r\n\u202ertl\u0000\u009b1m\u200f日本語'.repeat(20)

  /** The mock-up with every text of it replaced. */
  const hostile = (value: unknown): unknown => {
    if (typeof value === 'string') return /^\d{4}-|^(https?:)/.test(value) ? value : HOSTILE
    if (Array.isArray(value)) return value.map(hostile)
    if (value === null || typeof value !== 'object') return value
    const stored = ['id', 'status', 'type', 'kind', 'takeover_status', 'state', 'health']
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, stored.includes(name) ? one : hostile(one)]),
    )
  }

  test.each(SCREENS)('moves nothing on %s, and hides nothing', (screen) => {
    const data = hostile(mockUp(NOW)) as ReturnType<typeof mockUp>
    for (const columns of [80, 132]) {
      const lines = picture(modelOf({ screen, data, columns }))
      for (const line of lines) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them
        expect(textOf(line)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u200e\u200f]/)
        expect(widthOf(line)).toBe(columns)
      }
    }
  })
})

test('for a screen reader: each change is one sentence', () => {
  const before = modelOf({ screen: 'jobs' })
  const needs = [{ kind: 'visitors', count: 3, about: 'shop-help', since: null }]
  const facts = { ...before.topics.overview!.facts, needs }
  const job = { ...before.topics.jobs!.rows[0]!, id: 'job_new' }
  const order = ['job_new', ...before.topics.jobs!.rows.map(({ id }) => id)]
  const { model } = update(before, {
    type: 'streamed',
    events: [
      { type: 'delta', seq: 2, topic: 'overview', facts, changed: [], at: '' },
      { type: 'delta', seq: 2, topic: 'jobs', changed: [job], order, at: '' },
    ],
  })
  expect(changes(before, model)).toEqual(['New: 3 visitors waiting for a human (shop-help).', '1 new in Jobs.'])
  const lost = update(model, { type: 'lost', problem: 'connection refused', tries: 1, nextTryAt: NOW }).model
  expect(changes(model, lost)).toEqual(['The server stopped answering: connection refused.'])
})
