import { describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { eventually } from '../support/eventually'
import { keepsItsPromises } from './support/oracle'
import { head } from './support/raw'
import { startEdge } from './support/target'

const MAX_OF_ONE = 40
const MAX = 100
const PROXY = '127.0.0.9'
const target = await startEdge({
  env: {
    SVC_CONNECTIONS_PER_ADDRESS: String(MAX_OF_ONE),
    SVC_CONNECTIONS: String(MAX),
    SVC_TRUSTED_PROXIES: PROXY,
    SVC_BODY_SECONDS: '600',
  },
})
const STALLED = `${head('POST /api/v1/auth/sessions HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 900')}\r\n\r\n{`
const QUESTION = `${head('GET /api/v1/models HTTP/1.1', `Authorization: Bearer ${target.people.secrets.k1}`)}\r\n\r\n`

const forwarded = (client: string) => STALLED.replace('Host:', `X-Forwarded-For: ${client}\r\nHost:`)

type Opened = { open(): number; answered(): number; text(): string; end(): void }

/** Connections from one address, each of which has sent the same. */
async function from(address: string, count: number, first: string | ((at: number) => string)): Promise<Opened> {
  let text = ''
  const [open, answered] = [new Set<Socket>(), new Set<Socket>()]
  const sockets = Array.from({ length: count }, (_, at) => {
    const socket = connect({ port: target.port, host: '127.0.0.1', localAddress: address })
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      answered.add(socket)
      text += chunk
    })
    socket.on('close', () => open.delete(socket))
    open.add(socket)
    return new Promise<void>((done) => {
      socket.on('close', done)
      socket.once('connect', () => socket.write(typeof first === 'string' ? first : first(at), () => done()))
    })
  })
  await Promise.all(sockets)
  return {
    open: () => open.size,
    answered: () => answered.size,
    text: () => text,
    end: () => {
      for (const socket of open) socket.destroy()
    },
  }
}

const isServed = async () => {
  expect((await target.send('GET', 'health', { as: null })).status).toBe(200)
  expect((await target.send('GET', 'models')).status).toBe(200)
  expect((await target.ops('GET', '/ops/v1/status')).status).toBe(200)
}

describe('C. more connections than one address or all may have', () => {
  test('C19 of 300 stalled requests of one address 40 stay open; everyone else is served', async () => {
    const neighbour = await from('127.0.0.3', 10, STALLED)
    const flood = await from('127.0.0.2', 300, STALLED)
    await isServed()
    expect(await eventually(flood.open, (open) => open <= MAX_OF_ONE)).toBe(MAX_OF_ONE)
    await isServed()
    expect(neighbour.open()).toBe(10)
    for (const { end } of [neighbour, flood]) end()
  })

  test('C19 connections that never send a byte, or half a header, count as well', async () => {
    const flood = [await from('127.0.0.2', 60, 'GET /api/v1/health HTTP/1.1\r\nX-A: '), await from('127.0.0.3', 60, '')]
    for (const { open } of flood) expect(await eventually(open, (left) => left <= MAX_OF_ONE)).toBeGreaterThan(0)
    await isServed()
    for (const { end } of flood) end()
  })

  test('C19 many addresses have so many together', async () => {
    const flood = await Promise.all(['2', '3', '4', '5', '6', '7'].map((at) => from(`127.0.0.${at}`, 35, STALLED)))
    const open = () => flood.reduce((sum, each) => sum + each.open(), 0)
    expect(await eventually(open, (left) => left <= MAX)).toBeGreaterThan(MAX_OF_ONE)
    await isServed()
    for (const { end } of flood) end()
  })

  test('C19 connections on which a request authenticated stay, however many they are', async () => {
    const ours = await from('127.0.0.8', 3 * MAX_OF_ONE, QUESTION)
    await eventually(ours.answered, (count) => count + (3 * MAX_OF_ONE - ours.open()) >= 3 * MAX_OF_ONE)
    const stored = ours.open()
    const flood = await from('127.0.0.8', 100, STALLED)
    await eventually(flood.open, (left) => left <= MAX_OF_ONE)
    await isServed()
    expect(ours.open()).toBe(stored)
    expect(stored).toBeGreaterThan(2 * MAX_OF_ONE)
    for (const { end } of [ours, flood]) end()
  })

  test('C19 a trusted proxy has more connections than one client', async () => {
    const proxied = await from(PROXY, MAX_OF_ONE + 20, (at) => forwarded(`10.0.0.${at}`))
    const flood = await from('127.0.0.2', 100, STALLED)
    await eventually(flood.open, (left) => left <= MAX_OF_ONE)
    await isServed()
    expect(proxied.open()).toBe(MAX_OF_ONE + 20)
    for (const { end } of [proxied, flood]) end()
  })

  test('C19 clients behind a trusted proxy are told apart: one with too many open requests gets 503, others do not', async () => {
    const greedy = await from(PROXY, MAX_OF_ONE + 10, () => forwarded('10.1.0.1'))
    await eventually(greedy.answered, (count) => count === 10)
    const other = await from(PROXY, 1, () => forwarded('10.1.0.2').replace('900', '1'))
    await eventually(other.answered)
    greedy.end()
    // What its requests counted is given back once they are gone.
    await eventually(async () => {
      const again = await from(PROXY, 1, () => forwarded('10.1.0.1').replace('900', '1'))
      await eventually(again.answered)
      const isRefused = again.text().includes(' 503 ')
      again.end()
      return !isRefused
    })
    expect(other.text()).toContain(' 400 ')
    other.end()
  })
})

keepsItsPromises(target, { faults: true })
