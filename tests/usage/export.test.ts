import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import type { KeyId } from '../../src/kernel/ids'
import { createUsageLog, type UsageEntry } from '../../src/usage'
import { usageRecords } from '../../src/usage/table'
import { fakeClock } from '../support/clock'
import { createWorld, type Person } from '../support/world'

const clock = fakeClock('2026-03-15T12:00:00.000Z')
const world = await createWorld({ clock })
const { store } = world.app.container
const COLUMNS =
  'timestamp,request_id,api_key_id,endpoint,mode,resolved_mode,model,status,prompt_tokens,completion_tokens,total_tokens,cost_cents,cached,latency_ms'

const entryOf = (person: Person, more: Partial<UsageEntry> = {}): UsageEntry => ({
  requestId: 'req_1',
  userId: person.userId,
  keyId: person.keyId as KeyId,
  endpoint: '/completions',
  owner: `user:${person.userId}`,
  mode: 'auto',
  resolvedMode: 'fast',
  model: 'svc-1-flash',
  status: 200,
  cached: false,
  promptTokens: 10,
  completionTokens: 5,
  costMicro: 1,
  latencyMs: 40,
  ttftMs: null,
  fallbackUsed: false,
  ...more,
})
const record = (at: number, entry: UsageEntry) =>
  store.write((tx) => createUsageLog({ clock: { ...clock, now: () => at } }).record(tx, entry))

describe('GET /usage/export (docs/api.md 18.1)', () => {
  test('is a CSV file, newest first, that parsers read back', async () => {
    const ada = await world.person()
    await record(clock.now() - 1_000, entryOf(ada, { requestId: 'req_a', costMicro: 12_500_000 }))
    await record(clock.now(), entryOf(ada, { requestId: 'req_b', keyId: null, mode: null, cached: true }))
    const { status, headers, text } = await ada.send('GET', 'usage/export')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toStartWith('text/csv')
    expect(headers.get('content-disposition')).toBe('attachment; filename="usage.csv"')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const rows = [
      COLUMNS.split(','),
      `2026-03-15T12:00:00.000Z,req_b,,/completions,,fast,svc-1-flash,200,10,5,15,0.000001,true,40`.split(','),
      `2026-03-15T11:59:59.000Z,req_a,${ada.keyId},/completions,auto,fast,svc-1-flash,200,10,5,15,12.5,false,40`.split(
        ',',
      ),
    ]
    expect(text).toBe(rows.map((row) => `${row.join(',')}\r\n`).join(''))
    expect(parse(text)).toEqual(rows)
  })

  test('is JSON with the same rows', async () => {
    const ada = await world.person()
    await record(clock.now(), entryOf(ada, { costMicro: 250_000 }))
    const { headers, body } = await ada.send('GET', 'usage/export?format=json')
    expect(headers.get('content-type')).toStartWith('application/json')
    expect(headers.get('content-disposition')).toBe('attachment; filename="usage.json"')
    expect(Object.keys(body.rows[0]).join(',')).toBe(COLUMNS)
    expect(body.rows).toMatchObject([{ api_key_id: ada.keyId, cost_cents: 0.25, total_tokens: 15, cached: false }])
  })

  test('holds every call of pages and pages once, many of one millisecond included', async () => {
    const ada = await world.person()
    const { owner } = entryOf(ada)
    const row = { ...rowOf(entryOf(ada)), owner }
    for (let page = 0; page < 5; page++) {
      const rows = Array.from({ length: 500 }, (_, n) => ({
        ...row,
        request_id: `req_${page * 500 + n}`,
        at: clock.now() - Math.floor((page * 500 + n) / 900),
      }))
      await store.write((tx) => tx.insert(tx.of(usageRecords)).values(rows))
    }
    const { text } = await ada.send('GET', 'usage/export')
    const ids = (parse(text, { columns: true }) as { request_id: string }[]).map(({ request_id }) => request_id)
    expect(ids).toHaveLength(2_500)
    expect(new Set(ids).size).toBe(2_500)
    const { body } = await ada.send('GET', 'usage/export?format=json')
    expect(body.rows.map(({ request_id }: { request_id: string }) => request_id)).toEqual(ids)
  }, 30_000)

  test('has the filters of the report', async () => {
    const ada = await world.person()
    await record(clock.now(), entryOf(ada, { requestId: 'req_a', skills: ['one'] }))
    await record(clock.now(), entryOf(ada, { requestId: 'req_b', mode: 'think', resolvedMode: 'think' }))
    const idsOf = async (query: string) =>
      (await ada.send('GET', `usage/export?format=json&${query}`)).body.rows.map(
        (row: { request_id: string }) => row.request_id,
      )
    expect(await idsOf('skill=one')).toEqual(['req_a'])
    expect(await idsOf('mode=think')).toEqual(['req_b'])
    expect(await idsOf(`key_id=${ada.keyId}`)).toEqual(['req_b', 'req_a'])
    expect(await idsOf('from=2026-03-16&to=2026-03-17')).toEqual([])
  })

  test('no cell starts a formula (F7)', async () => {
    const ada = await world.person()
    const nasty = ["=cmd|'/C calc'!A0", '+1+1', '-1+1', '@SUM(A1)', '\t=1', '\r=1', 'a"b,c\r\nd']
    for (const endpoint of nasty) await record(clock.now(), entryOf(ada, { endpoint }))
    const { text } = await ada.send('GET', 'usage/export')
    const wanted = nasty.map((word) => (/^[=+\-@\t\r]/.test(word) ? `'${word}` : word)).reverse()
    expect((parse(text, { columns: true }) as { endpoint: string }[]).map(({ endpoint }) => endpoint)).toEqual(wanted)
  })

  test('is on the record, before its first row leaves', async () => {
    const ada = await world.person()
    await record(clock.now(), entryOf(ada))
    const { headers } = await ada.send('GET', 'usage/export?format=json&mode=fast&from=2026-03-01')
    expect((await ada.send('GET', 'audit?action=usage.exported')).body).toMatchObject([
      {
        entityType: 'billing',
        apiKeyId: ada.keyId,
        requestId: headers.get('x-request-id'),
        inputSummary: { metadata: { format: 'json', mode: 'fast', rows: 1, from: '2026-03-01T00:00:00.000Z' } },
      },
    ])
  })

  test.each(['from=2025-12-13T11:59:59Z&to=2026-03-15T12:00:00Z', 'format=xml', 'format=pdf'])(
    'refuses %s, and leaves no trace',
    async (query) => {
      const ada = await world.person()
      const { status, body } = await ada.send('GET', `usage/export?${query}`)
      expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
      expect((await ada.send('GET', 'audit?action=usage.exported')).body).toEqual([])
    },
  )

  test('gives 92 days', async () => {
    const ada = await world.person()
    expect((await ada.send('GET', 'usage/export?from=2025-12-13T12:00:00Z&to=2026-03-15T12:00:00Z')).status).toBe(200)
  })
})

function rowOf(entry: UsageEntry) {
  return {
    user_id: entry.userId,
    api_key_id: entry.keyId,
    endpoint: entry.endpoint,
    mode: entry.mode,
    resolved_mode: entry.resolvedMode,
    model: entry.model,
    status: entry.status,
    cached: entry.cached,
    prompt_tokens: 1,
    completion_tokens: 1,
    cost_micro: 1,
    latency_ms: 1,
    ttft_ms: null,
    fallback_used: false,
  }
}
