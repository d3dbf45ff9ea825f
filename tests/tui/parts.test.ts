import { describe, expect, test } from 'bun:test'
import { queryOf } from '../../tui/data/connection'
import { helpLines } from '../../tui/draw/boxes'
import { listBody } from '../../tui/draw/list'
import { KEYMAP, meaningOf } from '../../tui/keymap'
import { LISTS } from '../../tui/screens'
import { overview } from '../../tui/screens/overview'
import { SCREENS, topicRequestOf } from '../../tui/state/model'
import { chosenRow, shownRows } from '../../tui/state/rows'
import { update } from '../../tui/state/update'
import { mockUp } from './support/mock-up'
import { modelOf, NOW, press, typed } from './support/model'

describe('parts of a screen', () => {
  test('Tab goes through them: details and chats are scrolled, and a part of the overview is opened', () => {
    const details = press(modelOf({ screen: 'jobs' }), 'tab', 'down', 'down').model
    expect({ scroll: details.scroll, id: chosenRow(details)!.id }).toEqual({ scroll: 2, id: 'job_7Qm2Zs' })
    expect(press(details, 'tab', 'down').model).toMatchObject({ pane: 0, scroll: 0 })
    expect(press(modelOf({ screen: 'takeovers' }), 'tab', 'up').model.scroll).toBe(1)
    expect(press(modelOf({ columns: 132, rows: 34 }), 'tab', 'tab', 'enter').model.screen).toBe('deliveries')
    expect(press(modelOf(), 'tab', 'enter').model.screen).toBe('takeovers')
  })
  test('w breaks long lines or cuts them', () => {
    expect(press(modelOf({ screen: 'logs' }), 'w').model.wrap).toBe(false)
  })
})

test.each(SCREENS)(
  'at 80 columns the help of %s cuts no text, and names no key that means something else there',
  (screen) => {
    const model = modelOf({ screen })
    const text = helpLines(model).map((spans) => spans.map((span) => span.text).join(''))
    expect(text.length).toBeLessThanOrEqual(model.rows - 5)
    const shown = text.join('\n')
    for (const { about } of KEYMAP.screens[screen] ?? []) expect(shown).toContain(about)
    for (const { about, keys, does } of KEYMAP.global) {
      if (keys.some((key) => meaningOf(KEYMAP, screen, key)?.does === does)) expect(shown).toContain(about)
      else expect(shown).not.toContain(about)
    }
  },
)

test.each(['keys', 'logs', 'audit', 'deliveries'] as const)(
  'the list of %s has room for its names beside the details',
  (screen) => {
    const [view, model] = [LISTS[screen]!, modelOf({ screen, columns: 120, rows: 30 })]
    const grows = view.columns.find((column) => column.grows)!
    const lines = listBody(view, model, 120, 27).map(
      (spans) =>
        spans
          .map(({ text }) => text)
          .join('')
          .split('│')[0]!,
    )
    for (const row of shownRows(model).slice(0, 3))
      expect(lines.join('\n')).toContain(grows.cell(row, model).text.slice(0, 11))
  },
)

test('the overview counts the nodes of a cluster, and says which role no node has', () => {
  const health = (nodes: object) => {
    const data = mockUp(NOW)
    Object.assign((data.overview.facts as { status: { nodes: object } }).status.nodes, nodes)
    return overview(modelOf({ data }), 100, 30)[0]!
      .map(({ text }) => text)
      .join('')
  }
  expect(health({})).not.toContain('node')
  expect(health({ count: 3 })).toContain('3 nodes')
  expect(health({ count: 3, unserved: ['jobs'] })).toContain('no node runs jobs')
})

test('a job that was cancelled is told apart from one that failed', () => {
  const model = modelOf({ screen: 'jobs' })
  const cells = (error: string) =>
    LISTS.jobs!.columns.map((column) => column.cell({ ...model.topics.jobs!.rows[0]!, status: 'failed', error }, model))
  expect(cells('cancelled')[0]).toMatchObject({ text: 'cancelled', tone: 'dim' })
  expect(cells('cancelled').some(({ tone }) => tone === 'bad')).toBe(false)
  expect(cells('boom')[0]).toMatchObject({ text: '✗ failed', tone: 'bad' })
})

test('a long list is asked for whole while a filter looks through it, and as it was afterwards', () => {
  const short = modelOf({ screen: 'jobs' })
  const [row] = short.topics.jobs!.rows
  const rows = Array.from({ length: 200 }, (_, at) => ({ ...row!, id: `job_${at}` }))
  const long = { ...short, topics: { ...short.topics, jobs: { ...short.topics.jobs!, rows } } }
  const stored = press(long, '/', ...typed('status:failed'), 'enter')
  const again = { type: 'reconnect' } as const
  expect(stored.effects).toContainEqual(again)
  expect(queryOf(topicRequestOf(stored.model))).toBe('topics=overview,jobs&most=2000')
  const cleared = press(stored.model, 'esc')
  expect(cleared.effects).toContainEqual(again)
  expect(queryOf(topicRequestOf(cleared.model))).toBe('topics=overview,jobs')
  expect(press(short, '/', ...typed('status:failed'), 'enter').effects).not.toContainEqual(again)
})

describe('one of a few', () => {
  test('o shows the keys of one owner; those that are revoked are hidden until their status is asked for', () => {
    const model = modelOf({ screen: 'keys' })
    expect(shownRows(model).map(({ id }) => id)).not.toContain('leaked')
    const picked = press(model, 'o', 'down', 'enter').model
    expect(picked.lists.keys.filter).toBe('owner:"org Acme"')
    expect(shownRows(picked)).toHaveLength(5)
    expect(press(picked, 'o', 'enter').model.lists.keys.filter).toBe('')
    const revoked = press(model, '/', ...typed('status:revoked'), 'enter').model
    expect(shownRows(revoked).map(({ id }) => id)).toEqual(['leaked'])
  })
  test('p goes on with another profile while the server is away, and pauses while it is not', () => {
    const lost = update(modelOf(), { type: 'lost', problem: 'gone', tries: 1, nextTryAt: NOW }).model
    expect(press(lost, 'p', 'enter').effects).toEqual([{ type: 'profile', name: 'staging' }])
    expect(press(modelOf(), 'p').model.paused).toBe(true)
    expect(press({ ...lost, where: { ...lost.where, profiles: [] } }, 'p').model.messages.at(-1)?.text).toContain(
      'no other profile',
    )
  })
})

describe('an open review', () => {
  const opened = () => press(modelOf({ screen: 'submissions' }), 'enter').model
  test('k asks the checks again, h the record, u puts old beside new, and q goes back', () => {
    const argvOf = (key: string) => (press(opened(), key).effects[0] as unknown as { argv: string[] }).argv
    expect(argvOf('k')).toEqual(['submissions', 'checks', 'sub_1', '--rerun'])
    expect(argvOf('h')).toEqual(['audit', 'list', '--entity', 'sub_1'])
    expect(press(opened(), 'd', 'u').model.review).toMatchObject({ part: 'diff', split: true })
    expect(press(opened(), 'q')).toMatchObject({ model: { review: null }, effects: [] })
  })
})
