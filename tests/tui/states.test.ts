import { afterAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { MockUp } from './support/mock-up'
import { openPty, operatorKey } from './support/pty'
import { startScripted } from './support/scripted-server'

// SQLite only: there is no database behind it.
const key = operatorKey()
const server = startScripted({ slow: true })
const pty = await openPty(['dashboard', '--url', server.url, '--key-file', key.file, '--screen', 'jobs'], {
  cwd: key.folder,
  env: { HOME: key.folder },
})
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
  pty.type('3')
  await pty.shows('Add a webhook: press n, or svc-admin webhooks create --url …')
  pty.type('n')
  await pty.shows(': webhooks create --url ▌')
  pty.type('\u001b')
  await pty.shows('No deliveries yet.')
  pty.type('4')
  await pty.shows('Nobody is waiting. 37 visitors are with the AI.')
  await pty.shows(/shop-help +real person, agent/)
  pty.type('5')
  await pty.shows('Nothing to review.')

  const decided = (topics: MockUp) => withRows(topics, (name) => topics[name as 'jobs'].rows.map(approved))
  become({ change: decided })
  await pty.shows('Nothing to review. Last decision 1d 2h ago: inventory-check approved.')

  become({})
  pty.type('2')
  await pty.shows('job_7QkX0a')
  pty.type('/status:none\r')
  await pty.shows('No row matches `status:none`. 8 rows without the filter. Esc clears it.')
  pty.type('\u001b')
  await pty.shows('job_7QkX0a')

  become({ failed: ['jobs'], change: (topics) => failing(topics, ['engines']) })
  await pty.shows('[not answering]')
  pty.type('1')
  await pty.shows('! engines: no answer; last known values')
  expect(pty.text()).toContain('REQUESTS 412/min')

  const three = (topics: MockUp) => ({ ...topics, jobs: { facts: {}, rows: topics.jobs.rows.slice(0, 3) } })
  become({ hello: { role: 'reviewer' }, change: three })
  pty.type('2')
  await pty.shows('3 of 118')
  pty.type('c')
  await pty.shows('The role reviewer cannot cancel. Ask someone with the role admin.')

  become({ change: (topics) => ({ ...topics, jobs: { facts: {}, rows: [{ id: 'job_broken' }] } }) })
  await pty.shows('The screen jobs cannot be drawn.')
  expect(readdirSync(join(key.folder, '.local', 'state', 'svc-admin')).join()).toMatch(/crash-\d+\.log/)
  pty.type('1')
  await pty.shows('NEEDS A PERSON')

  become({ hello: { version: '9.9.9' } })
  await pty.shows('The server has version 9.9.9, this program 0.1.0.')

  become({ mute: true })
  await pty.shows('● polling 2s')
  await pty.shows('the live stream is blocked')
  pty.type('2')
  await pty.shows('job_7QkX0a')
  expect(pty.scrolled()).toBe(false)
  pty.type('q')
  expect(await pty.exited).toBe(0)
}, 120_000)

const approved = (row: MockUp['jobs']['rows'][number]) => ({ ...row, status: 'approved' })
const failing = (topics: MockUp, names: string[]): MockUp => ({
  ...topics,
  overview: { ...topics.overview, facts: { ...topics.overview.facts, failing: names } },
})
