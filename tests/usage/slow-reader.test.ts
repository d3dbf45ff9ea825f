import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import type { Socket } from 'node:net'
import { usageRecords } from '../../src/usage/table'
import { head, open } from '../catalogue/support/raw'
import { eventually } from '../support/eventually'
import { createWorld, type Person } from '../support/world'

const world = await createWorld()
const { api, container } = world.app
const { store } = container
api.listen({ port: 0, hostname: '127.0.0.1' })
afterAll(() => api.stop(true))

/** Rows of 2 KB, 47 MB together: far more than the sockets of both sides take by themselves. */
const ROWS = 20_000
const ENDPOINT = '/completions'.padEnd(2_000, '-')
const PAGE = 1_000
const AT_ONCE = 1_000
/** Looked at 5 ms apart, so often in a row nothing has moved. */
const STILL = 60

const ada = await world.person()
await seed(ada)

async function seed({ userId }: Person): Promise<void> {
  const row = { owner: `user:${userId}` as const, user_id: userId, api_key_id: null, endpoint: ENDPOINT }
  const words = { mode: 'auto', resolved_mode: 'fast', model: 'svc-1-flash', status: 200, cached: false }
  const sums = { prompt_tokens: 1, completion_tokens: 1, cost_micro: 1, latency_ms: 1, ttft_ms: null }
  const now = world.clock.now()
  const call = { ...row, ...words, ...sums, fallback_used: false }
  for (let first = 0; first < ROWS; first += AT_ONCE) {
    const rows = Array.from({ length: AT_ONCE }, (_, n) => ({
      ...call,
      at: now - 60_000 - first - n,
      request_id: `req_${first + n}`,
    }))
    await store.write((tx) => tx.insert(tx.of(usageRecords)).values(rows))
  }
}

/** Asks for the export over a socket of its own, and counts the pages that are read for it. */
async function ask() {
  const pages = spyOn(store.read, 'select')
  const read = () => pages.mock.calls.filter(([fields]) => fields && 'request_id' in fields).length
  const socket = await open(api.server!.port!)
  const request = head('GET /api/v1/usage/export?format=jsonl HTTP/1.1', `Authorization: Bearer ${ada.key}`)
  socket.write(`${request}\r\nConnection: close\r\n\r\n`)
  return { socket, read, [Symbol.dispose]: () => pages.mockRestore() }
}

/** The first bytes of the answer, and nothing more until it is resumed. */
const stalled = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    socket.once('data', (chunk) => {
      socket.pause()
      resolve(chunk.toString())
    })
  })

/** Waits until no page is read any more, and answers how many were. */
async function atRest(read: () => number): Promise<number> {
  let [last, still] = [-1, 0]
  await eventually(() => {
    still = read() === last ? still + 1 : 0
    last = read()
    return still >= STILL
  })
  return last
}

/** What the chunks of an answer add up to; throws when the last one is missing. */
function bodyOf(answer: string): string {
  let [body, at] = ['', answer.indexOf('\r\n\r\n') + 4]
  for (;;) {
    const from = answer.indexOf('\r\n', at) + 2
    const length = Number.parseInt(answer.slice(at, from), 16)
    if (Number.isNaN(length)) throw new Error('the answer was cut')
    if (length === 0) return body
    body += answer.slice(from, from + length)
    at = from + length + 2
  }
}

const isLogged = () => world.logged.some((line) => line.includes('"path":"/api/v1/usage/export"'))

describe('a reader of an export, over a socket (Q5)', () => {
  test('who stalls keeps the server from reading on, and gets the whole file later', async () => {
    using reader = await ask()
    let text = await stalled(reader.socket)
    expect(await atRest(reader.read)).toBeLessThan(ROWS / PAGE / 2)
    expect(isLogged()).toBe(false)
    expect((await world.send('GET', 'health')).status).toBe(200)
    reader.socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    const closed = new Promise((resolve) => reader.socket.once('close', resolve))
    reader.socket.resume()
    await closed
    const lines = bodyOf(text).trimEnd().split('\n')
    const wanted = Array.from({ length: ROWS }, (_, n) => `req_${n}`)
    expect(lines.map((line) => JSON.parse(line).request_id)).toEqual(wanted)
  }, 60_000)

  test('who leaves ends it: nothing is read for them any more', async () => {
    world.logged.length = 0
    using reader = await ask()
    await stalled(reader.socket)
    reader.socket.destroy()
    await eventually(isLogged)
    expect(await atRest(reader.read)).toBeLessThan(ROWS / PAGE)
  }, 60_000)
})
