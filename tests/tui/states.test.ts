import { afterAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { MockUp } from './support/mock-up'
import { operatorKey } from './support/pty'
import { startScripted } from './support/scripted-server'

// SQLite only: there is no database behind it.
const key = operatorKey()
const server = startScripted({ slow: true })
const pty = await key.dashboard(server.url, ['--screen', 'jobs'])
afterAll(async () => {
  await pty.close()
  await server.stop()
  key.remove()
})

const withRows = (topics: MockUp, rows: (topic: string) => MockUp['jobs']['rows']): MockUp =>
  Object.fromEntries(Object.entries(topics).map(([name, topic]) => [name, { ...topic, rows: rows(name) }])) as MockUp

/** The server as it is from now on, seen by the next connection. */
function become(manner: Parameters<typeof server.become>[0]): void {
  server.become(manner)
  pty.type('r')
}

/**
 * The states between which a dashboard changes, one after the other in one terminal; the window that is too small is in
 * `pty.test.ts`.
 */
test('each state says what it is and what to do', async () => {
  await pty.shows('· · ·')
  expect(pty.text()).toContain('STATUS    ID           TYPE')

  become({ change: (topics) => withRows(topics, () => []) })
  await pty.shows('No jobs yet. Research and video requests appear here.')
  await pty.shows('Try: svc-admin try --mode research "…"')
  await pty.press('3', 'Add a webhook: press n, or svc-admin webhooks create --url …')
  await pty.press('n', ': webhooks create --url ▌')
  await pty.press('\u001b', 'No deliveries yet.')
  await pty.press('4', 'Nobody is waiting. 37 visitors are with the AI.', /shop-help +real person, agent/)
  await pty.press('5', 'Nothing to review.')

  const decided = (topics: MockUp) => withRows(topics, (name) => topics[name as 'jobs'].rows.map(approved))
  become({ change: decided })
  await pty.shows('Nothing to review. Last decision 1d 2h ago: inventory-check approved.')

  become({})
  await pty.press('2', 'job_7QkX0a')
  await pty.press('/status:none\r', 'No row matches `status:none`. 8 rows without the filter. Esc clears it.')
  await pty.press('\u001b', 'job_7QkX0a')

  become({ failed: ['jobs'], change: (topics) => failing(topics, ['engines']) })
  await pty.shows('[not answering]')
  await pty.press('1', '! engines: no answer; last known values')
  expect(pty.text()).toContain('REQUESTS 412/min')

  const three = (topics: MockUp) => ({ ...topics, jobs: { facts: {}, rows: topics.jobs.rows.slice(0, 3) } })
  become({ hello: { role: 'reviewer' }, change: three })
  await pty.press('2', '3 of 118')
  await pty.press('c', 'The role reviewer cannot cancel. Ask someone with the role admin.')

  become({ change: (topics) => ({ ...topics, jobs: { facts: {}, rows: [{ id: 'job_broken' }] } }) })
  await pty.shows('The screen jobs cannot be drawn.')
  expect(readdirSync(join(key.folder, '.local', 'state', 'svc-admin')).join()).toMatch(/crash-\d+\.log/)
  await pty.press('1', 'NEEDS A PERSON')

  become({ hello: { version: '9.9.9' } })
  await pty.shows('The server has version 9.9.9, this program 0.1.0.')

  become({ mute: true })
  await pty.shows('● polling 2s')
  await pty.shows('the live stream is blocked')
  await pty.press('2', 'job_7QkX0a')
  expect(pty.scrolled()).toBe(false)
  expect(await pty.quit()).toBe(0)
}, 120_000)

const approved = (row: MockUp['jobs']['rows'][number]) => ({ ...row, status: 'approved' })
const failing = (topics: MockUp, names: string[]): MockUp => ({
  ...topics,
  overview: { ...topics.overview, facts: { ...topics.overview.facts, failing: names } },
})
