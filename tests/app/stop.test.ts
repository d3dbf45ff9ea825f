import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config'
import { start } from '../../src/app/start'
import { createLog } from '../../src/kernel/log'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { impatiently } from '../support/impatiently'
import { isListening } from '../support/listening'
import { temporaryFolder } from '../support/temporary-folder'
import { startUpstream } from '../support/upstream'

const root = temporaryFolder('svc-stop-')
const upstream = await startUpstream()
afterAll(() => upstream.stop())

const log = createLog({ level: 'silent', pretty: false, write: () => undefined })

/** A listening server on a clock that the test moves, and how to ask it things. */
async function running(drainSeconds: number | 'auto' = 'auto') {
  const clock = fakeClock()
  const dataDir = mkdtempSync(join(root, 'data-'))
  const config = loadConfig({ dataDir, port: 0, production: false, drainSeconds, engineBaseUrl: upstream.url })
  const app = await start({ config, clock, log })
  const key = readFileSync(join(dataDir, 'dev-key'), 'utf8').trim()
  const ask = (body: object) =>
    fetch(`${app.url}/api/v1/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ mode: 'fast', ...body }),
    })
  const reached = (words: string) => eventually(() => upstream.asked(words))
  const closed = () => eventually(async () => !(await isListening(app.url)))
  return { app, clock, dataDir, ask, reached, closed }
}

const holds = (dataDir: string, state: string): number => {
  const database = new Database(join(dataDir, 'svc.db'), { readonly: true })
  const { n } = database.query('SELECT count(*) AS n FROM holds WHERE state = ?').get(state) as { n: number }
  database.close()
  return n
}

describe('a stop in good order (I32)', () => {
  test('answers what is in flight, refuses new connections at once, and leaves nothing open', async () => {
    const { app, ask, reached, closed, dataDir } = await running()
    const inFlight = ask({ prompt: 'plain one [[held]]' })
    await reached('plain one')
    const stopped = app.stop()
    await closed()
    await expect(ask({ prompt: 'too late' })).rejects.toThrow()
    upstream.release()
    const response = await inFlight
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ content: 'Hello from the scripted upstream.' })
    await stopped
    expect(holds(dataDir, 'open')).toBe(0)
    expect(holds(dataDir, 'settled')).toBe(1)
  })

  test('lets a stream come to its own end within the grace', async () => {
    const { app, ask, reached } = await running()
    const response = await ask({ prompt: 'stream one [[tokens:20]][[slow:10]]', stream: true })
    await reached('stream one')
    const stopped = app.stop()
    const text = await response.text()
    expect(text).toContain('event: done')
    expect(text).not.toContain('event: error')
    await stopped
  })

  test.each([
    ['that never ends', '[[never]]'],
    ['that fell silent', '[[stall]]'],
    ['that has not begun', '[[hang]]'],
  ])('tells a stream %s, five seconds before the grace is over, that the server restarts', async (name, script) => {
    const { app, ask, reached, closed, clock, dataDir } = await running()
    const prompt = `stream ${name} ${script}`
    const request = ask({ prompt, stream: true })
    await reached(prompt)
    const reading = (await impatiently(clock, request)).text()
    const stopped = app.stop()
    await closed()
    clock.advance(20_000)
    const text = await reading
    expect(text.match(/event: error\ndata: .*"code":"service_unavailable"/g)).toHaveLength(1)
    expect(text.trimEnd().split('\n\n').at(-1)).toStartWith('event: error')
    await stopped
    expect(holds(dataDir, 'open')).toBe(0)
  })

  test('is not held up by connections that are idle, and happens once however often it is asked for', async () => {
    const { app, ask } = await running()
    await (await ask({ prompt: 'first' })).text()
    await Promise.all([app.stop(), app.stop(), app.stop()])
    await expect(ask({ prompt: 'afterwards' })).rejects.toThrow()
  })

  test('is announced: health says draining while requests are served, and their connections end with the answer', async () => {
    const { app, ask, clock, closed } = await running(5)
    expect((await fetch(`${app.url}/api/v1/health`)).status).toBe(200)
    const stopped = app.stop()
    const health = await fetch(`${app.url}/api/v1/health`)
    expect(health.status).toBe(503)
    expect(health.headers.get('retry-after')).toBe('5')
    expect(await health.json()).toMatchObject({ status: 'draining', version: expect.any(String) })
    clock.advance(4_999)
    const answer = await ask({ prompt: 'within the notice' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('connection')).toBe('close')
    clock.advance(1)
    await closed()
    await stopped
  })

  test.each([
    ['the notice', 300, 0],
    ['the grace', 0, 1_000],
    ['the farewell', 0, 21_000],
  ])(
    'in a hurry %s is cut short: what runs is told and ended, and nothing stays open',
    async (part, notice, passed) => {
      const { app, ask, reached, clock, dataDir } = await running(notice)
      const hurry = new AbortController()
      const request = ask({ prompt: `hurried in ${part} [[never]]`, stream: true })
      await reached(`hurried in ${part}`)
      const reading = (await request).text()
      const stopped = app.stop(hurry.signal)
      clock.advance(passed)
      hurry.abort()
      expect((await reading).match(/event: error\ndata: .*"code":"service_unavailable"/g)).toHaveLength(1)
      await impatiently(clock, stopped)
      expect(holds(dataDir, 'open')).toBe(0)
    },
  )
})
