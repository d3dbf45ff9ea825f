import { describe, expect, test } from 'bun:test'
import type { Exchange } from '../../src/http/context'
import { createDownloads } from '../../src/http/download'
import { createLog } from '../../src/kernel/log'
import { eventually } from '../support/eventually'

/** As long as a page of rows; very small ones would be put together before they are sent. */
const PIECE = 65_536

/** A download of numbered pieces, and what its source and the log saw of it. */
function setUp({ pieces = 1_000_000, failAt = Number.POSITIVE_INFINITY } = {}) {
  const seen = { made: 0, ended: false, logged: [] as string[], access: 0 }
  const log = createLog({ level: 'error', pretty: false, write: (line) => seen.logged.push(line) })
  const accessLog = () => {
    seen.access += 1
  }
  const download = createDownloads({ log, accessLog })
  async function* source() {
    try {
      for (; seen.made < pieces; seen.made++) {
        if (seen.made === failAt) throw new Error('the disk is gone')
        yield `${seen.made}`.padEnd(PIECE)
      }
    } finally {
      seen.ended = true
    }
  }
  const leaving = new AbortController()
  const request = new Request('http://localhost/file', { signal: leaving.signal })
  const keepOpen = () => undefined
  const exchange = { requestId: 'req_1', streaming: false, errorCode: null, keepOpen } as unknown as Exchange
  const headers = { 'content-type': 'text/csv' }
  const open = () => download({ source: source(), exchange, request, route: '/file', headers })
  return { open, seen, leaving, exchange }
}

describe('a download', () => {
  test('is whole, in order, with its headers, and logged once at its end', async () => {
    const { open, seen } = setUp({ pieces: 3 })
    const response = await open()
    expect(response.headers.get('content-type')).toBe('text/csv')
    expect((await response.text()).split(/ +/)).toEqual(['0', '1', '2', ''])
    expect(seen).toMatchObject({ ended: true, access: 1 })
  })

  test('is pulled: a reader who stalls stops the source (Q5)', async () => {
    const { open, seen } = setUp()
    const reader = (await open()).body!.getReader()
    for (let read = 0; read < 5; read++) await reader.read()
    for (let turn = 0; turn < 1_000; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(seen.made).toBeLessThan(50)
    await reader.cancel()
    await eventually(() => seen.ended)
  })

  test('ends its source when the client leaves', async () => {
    const { open, seen, leaving } = setUp()
    await (await open()).body!.getReader().read()
    leaving.abort()
    await eventually(() => seen.ended)
    expect(seen.made).toBeLessThan(50)
  })

  test('that fails before its first piece fails as an answer, with its status', async () => {
    const { open, exchange } = setUp({ failAt: 0 })
    await expect(open()).rejects.toThrow('the disk is gone')
    expect(exchange.streaming).toBe(false)
  })

  test('that fails later is cut, never ended as if it were whole', async () => {
    const { open, seen, exchange } = setUp({ failAt: 3 })
    await expect((await open()).text()).rejects.toThrow()
    expect(exchange.errorCode).toBe('server_error')
    expect(seen.logged.join()).toContain('the disk is gone')
    expect(seen.access).toBe(1)
  })
})
