import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { keepsItsPromises } from '../catalogue/support/oracle'
import { head, open } from '../catalogue/support/raw'
import { startEdge } from '../catalogue/support/target'
import { eventually } from '../support/eventually'

const target = await startEdge()
const { send } = target
const AUTH = `Authorization: Bearer ${target.people.secrets.k1}`
const MAX_MB = 600
/** What a process may keep of an attack once it is over. */
const KEEPS_MB = 150

/** Ordinary requests while the attack goes on: how long it goes on. */
const SMALL = 60

const rssMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${target.pid}/status`, 'utf8'))![1]) / 1024

/** Until what an attack took is given back. */
const settled = () => eventually(rssMb, (mb) => mb < baseline + KEEPS_MB, 60_000)

/** The most memory it held while something was done to it, beginning with what it holds in peace. */
async function peakDuring(attack: () => Promise<void>): Promise<number> {
  await settled()
  let peak = rssMb()
  const watch = setInterval(() => {
    peak = Math.max(peak, rssMb())
  }, 10)
  try {
    await attack()
  } finally {
    clearInterval(watch)
  }
  return peak
}

const baseline = rssMb()

const post = (body: string) =>
  `${head('POST /api/v1/completions HTTP/1.1', AUTH, 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)}\r\n\r\n`
const large = JSON.stringify({ prompt: 'x y '.repeat(5_000_000) })

describe('I29 memory under attack', () => {
  test('24 bodies of 20 MB at once: some are read, the others get a Retry-After', async () => {
    const statuses = new Set<number>()
    const peak = await peakDuring(async () => {
      const replies = await Promise.all(Array.from({ length: 24 }, () => send('POST', 'completions', { body: large })))
      for (const { status } of replies) statuses.add(status)
    })
    expect([...statuses].filter((status) => status !== 400 && status !== 503)).toEqual([])
    expect(statuses.has(400)).toBe(true)
    expect(peak).toBeLessThan(MAX_MB)
    expect((await send('POST', 'completions', { body: large })).status).toBe(400)
  }, 180_000)

  test('24 bodies of 20 MB with a key that opens nothing are not read at all', async () => {
    const peak = await peakDuring(async () => {
      const replies = await Promise.all(
        Array.from({ length: 24 }, () => send('POST', 'completions', { key: 'nobody', body: large })),
      )
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]))
    })
    expect(peak).toBeLessThan(MAX_MB)
  }, 180_000)

  test('40 bodies that stop a byte before their end do not keep small requests out', async () => {
    const sockets = await Promise.all(Array.from({ length: 40 }, () => open(target.port)))
    const peak = await peakDuring(async () => {
      for (const socket of sockets) {
        socket.write(post(large))
        socket.write(large.slice(0, -1))
      }
      for (let n = 0; n < SMALL; n++) {
        expect((await send('POST', 'completions', { body: { prompt: `small ${n}` } })).status).toBe(200)
      }
    })
    for (const socket of sockets) socket.destroy()
    expect(peak).toBeLessThan(MAX_MB)
    // What they had claimed of the budget is given back.
    const again = () => send('POST', 'completions', { body: large })
    await eventually(again, ({ status }) => status === 400)
  }, 180_000)

  test('P3 100 readers who never read, before an engine that never ends', async () => {
    const body = JSON.stringify({ prompt: '[[never]]', mode: 'fast', stream: true, conversation_id: null })
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open(target.port)))
    const peak = await peakDuring(async () => {
      for (const socket of sockets) {
        socket.pause()
        socket.write(post(body) + body)
      }
      const request = () => target.upstream.calls.filter(({ prompt }) => prompt.includes('[[never]]')).length
      await eventually(request, (count) => count === sockets.length)
      // An engine that never ends has its time to fill what nobody empties.
      for (let n = 0; n < SMALL; n++) await send('POST', 'completions', { body: { prompt: `beside ${n}` } })
    })
    for (const socket of sockets) socket.destroy()
    expect(peak).toBeLessThan(MAX_MB)
  }, 180_000)

  test('what an attack took is given back', async () => {
    await settled()
  }, 180_000)
})

keepsItsPromises(target, { faults: true })
