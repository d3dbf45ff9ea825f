import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SQL } from 'bun'
import { parse } from 'csv-parse/sync'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'

/*
 * docs/attacks.md Q1 and Q4 are in tests/audit/routes and tests/audit/list, docs/attacks.md D14 is in
 * d-objects.
 */
const target = await startTarget()
const { send } = target

const events = async (query = 'limit=100') => (await send('GET', `audit?${query}`)).body as { id: string }[]
await send('POST', 'keys', { body: { name: 'one' } })
await send('POST', 'completions', { body: { prompt: 'Hello', mode: 'fast' } })

describe('Q2 no statement changes the record', () => {
  const STATEMENTS = [
    "UPDATE audit_events SET action = 'x'",
    'DELETE FROM audit_events',
    'DELETE FROM audit_events WHERE seq = 1',
    "UPDATE usage_records SET action = 'x'",
    'DELETE FROM usage_records',
  ]
  const REPLACING = 'INTO audit_events SELECT * FROM audit_events WHERE seq = 1'
  const ON_SQLITE = [`INSERT OR REPLACE ${REPLACING}`, `REPLACE ${REPLACING}`, `INSERT OR IGNORE ${REPLACING}`]
  ON_SQLITE.push('INSERT OR REPLACE INTO usage_records SELECT * FROM usage_records')
  const ON_POSTGRES = [
    'TRUNCATE audit_events',
    'TRUNCATE audit_events CASCADE',
    'TRUNCATE usage_records',
    'INSERT INTO audit_events SELECT * FROM audit_events ON CONFLICT (scope, seq) DO UPDATE SET action = excluded.action',
  ]

  test.each([...STATEMENTS, ...(target.databaseUrl ? ON_POSTGRES : ON_SQLITE)])('%s', async (statement) => {
    const before = await events()
    await expect(run(statement)).rejects.toThrow(/append-only/)
    expect(await events()).toEqual(before)
  })

  test('and the record verifies', async () => {
    expect((await target.ops('POST', '/ops/v1/verify')).body.ok).toBe(true)
  })
})

/** As another program that has the file, or the address, would. */
async function run(statement: string): Promise<void> {
  if (target.databaseUrl) {
    const client = new SQL(target.databaseUrl, { max: 1 })
    await client.unsafe(statement).finally(() => client.close())
    return
  }
  const file = new Database(join(target.folder, 'svc.db'))
  try {
    file.run('PRAGMA busy_timeout = 5000')
    file.run(statement)
  } finally {
    file.close()
  }
}

describe('Q5 an export', () => {
  test('is cut off when its reader leaves, and the server goes on', async () => {
    const leaving = new AbortController()
    const response = await fetch(`${target.url}/api/v1/audit/export`, {
      headers: { authorization: `Bearer ${target.people.secrets.k1}` },
      signal: leaving.signal,
    })
    expect(response.headers.get('content-disposition')).toStartWith('attachment')
    leaving.abort()
    await expect(response.text()).rejects.toThrow()
    expect((await send('GET', 'audit/integrity')).body.valid).toBe(true)
  })

  test.each(['audit/export', 'usage/export'])('F7 %s has no cell that a spreadsheet would compute', async (path) => {
    for (const name of ["=cmd|'/C calc'!A0", '+1', '-1', '@SUM', '\tx', '\rx']) {
      const body = { prompt: 'x', mode: 'fast', conversation_id: name, metadata: { note: name } }
      await send('POST', 'completions', { body })
      await send('POST', 'keys', { body: { name } })
    }
    const { text, headers } = await send('GET', path)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const cells = (parse(text, { record_delimiter: '\r\n', bom: true }) as string[][]).flat()
    expect(cells.filter((cell) => /^[=+@\t\r-]/.test(cell))).toEqual([])
  })
})

test('Q7 a long summary is cut to 4 KB, states what was cut, and is chained in that form', async () => {
  // Metadata is all of a caller's own that a completion's summary repeats.
  const metadata = Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`m${at}`, 'x'.repeat(500)]))
  const { status, headers } = await send('POST', 'completions', { body: { prompt: 'x', mode: 'fast', metadata } })
  expect(status).toBe(200)
  const [long] = (await send('GET', `audit?request_id=${headers.get('x-request-id')}`)).body
  expect(Buffer.byteLength(JSON.stringify(long.inputSummary))).toBeLessThanOrEqual(4_096)
  expect((await send('GET', 'audit/integrity')).body.valid).toBe(true)
})

describe('Q6 secrets in metadata', () => {
  const SECRET = 'swordfish-4711'
  const CARD = '4242 4242 4242 4242'
  const metadata = {
    password: SECRET,
    deep: [{ Authorization: `Bearer ${SECRET}` }],
    note: `password=${SECRET}Xy`,
    paid: CARD,
    t: 7,
  }
  const stored = {
    password: '[redacted]',
    deep: [{ Authorization: '[redacted]' }],
    note: '[redacted]',
    paid: '[redacted]',
    t: 7,
  }

  test('are echoed as they were sent, and never stand in the record', async () => {
    const { body, headers } = await send('POST', 'completions', { body: { prompt: 'x', mode: 'fast', metadata } })
    expect(body.metadata).toEqual(metadata)
    const messages = [{ role: 'user', content: 'x' }]
    const chat = await send('POST', 'chat/completions', { body: { model: 'svc-1-flash', messages, metadata } })
    for (const answer of [headers, chat.headers]) {
      const [recorded] = (await send('GET', `audit?request_id=${answer.get('x-request-id')}`)).body
      expect(recorded.inputSummary.metadata).toEqual(stored)
    }
    const { text } = await send('GET', 'audit/export')
    for (const hidden of [SECRET, CARD]) expect(text).not.toContain(hidden)
    expect((await send('GET', 'audit/integrity')).body.valid).toBe(true)
  })
})

keepsItsPromises(target)
