// Both databases: which entries are found, and in which order, is up to its statements.
import { describe, expect, test } from 'bun:test'
import { createHash, createPublicKey, verify } from 'node:crypto'
import canonicalize from 'canonicalize'
import { parse } from 'csv-parse/sync'
import { verifyExport } from '../../src/audit/proof'
import type { Checkpoint } from '../../src/audit/schema'
import { sha256Hex } from '../../src/kernel/crypto'
import { type Refusal, refusals } from '../support/refusals'
import { createWorld } from '../support/world'

const world = await createWorld()
type Event = { action: string; prevHash: string; hash: string; inputSummary: Record<string, unknown> }

describe('GET /audit', () => {
  test('is a bare array, newest first, of what the account did', async () => {
    const ada = await world.person()
    await ada.send('POST', 'completions', { prompt: 'My secret is 12345', mode: 'fast' })
    await ada.send('POST', 'keys', { name: 'ci' })
    const reply = await ada.send('GET', 'audit')
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-request-id')).toStartWith('req_')
    expect(reply.headers.get('x-has-more')).toBe('false')
    expect(reply.headers.get('link')).toBeNull()
    const [key, completion] = reply.body
    expect(key.action).toBe('key.created')
    expect(completion.action).toBe('completion.created')
    expect(completion.inputSummary).toMatchObject({
      method: 'POST',
      endpoint: '/completions',
      api_key_id: ada.keyId,
      mode: 'fast',
      prompt_sha256: sha256Hex('My secret is 12345'),
      prompt_length: 18,
      metadata: null,
    })
    const { requestId } = completion
    expect(completion.outputSummary).toMatchObject({ status: 200, request_id: requestId, error_code: null })
    expect(reply.text).not.toContain('12345')
  })

  test('pages by headers, and every link leads on', async () => {
    const ada = await world.person()
    for (let made = 0; made < 4; made++) await ada.send('POST', 'keys', { name: `key ${made}` })
    const whole: Event[] = (await ada.send('GET', 'audit?action=key.*')).body
    const paged: Event[] = []
    let path: string | null = '/api/v1/audit?action=key.*&limit=2'
    while (path) {
      const reply = await ada.send('GET', path)
      expect(reply.body.length).toBeLessThanOrEqual(2)
      paged.push(...reply.body)
      const more = reply.headers.get('x-has-more') === 'true'
      expect(reply.headers.get('x-next-cursor') !== null).toBe(more)
      path = more ? /^<([^>]+)>; rel="next"$/.exec(reply.headers.get('link')!)![1]! : null
    }
    expect(paged).toEqual(whole)
  })

  test('gives enough to check the chain without this server', async () => {
    const ada = await world.person()
    for (let made = 0; made < 3; made++) await ada.send('POST', 'keys', {})
    const events: Event[] = (await ada.send('GET', 'audit')).body.reverse()
    let before = '0'.repeat(64)
    for (const { hash, ...event } of events) {
      expect(event.prevHash).toBe(before)
      expect(sha256Hex(before + canonicalize(event))).toBe(hash)
      before = hash
    }
  })

  test('never shows what others did', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    await ada.send('POST', 'keys', { name: 'mine' })
    const seen: Event[] = (await eve.send('GET', 'audit')).body
    expect(seen.some(({ inputSummary }) => inputSummary.api_key_id === ada.keyId)).toBe(false)
  })

  test.each(['audit', 'audit/export', 'audit/integrity'])('of dates the wrong way round is 400 on %s', async (path) => {
    const ada = await world.person()
    const moment = '2026-01-02T00:00:00Z'
    for (const range of ['from=2026-01-03&to=2026-01-02', `from=${moment}&to=${moment}`]) {
      const { status, body } = await ada.send('GET', `${path}?${range}`)
      expect({ status, ...body.error }).toMatchObject({ status: 400, code: 'validation_error', param: 'from' })
    }
    expect((await ada.send('GET', `${path}?from=2026-01-02&to=2026-01-02`)).status).toBe(200)
    expect((await ada.send('GET', 'audit?action=audit.exported')).body.length).toBe(path === 'audit/export' ? 1 : 0)
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'cannot be changed: %s is 405, of one event 404 (I21)',
    async (method) => {
      const ada = await world.person()
      await ada.send('POST', 'keys', {})
      const [event] = (await ada.send('GET', 'audit')).body
      expect((await ada.send(method, 'audit', {})).status).toBe(405)
      expect((await ada.send(method, `audit/${event.id}`, {})).status).toBe(404)
    },
  )
})

const COLUMNS =
  'id,timestamp,action,entity_type,entity_id,user_id,org_id,api_key_id,request_id,status,input_summary,output_summary,prev_hash,hash'

type Record_ = Record<string, string>
const read = (text: string): Record_[] => parse(text, { columns: true, record_delimiter: '\r\n' })
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The event of docs/api.md 19 out of a row of the file, by nothing but the file and RFC 8785. */
const eventOf = (row: Record_) => ({
  id: row.id,
  action: row.action,
  entityType: row.entity_type,
  entityId: row.entity_id || null,
  userId: row.user_id || null,
  timestamp: row.timestamp,
  inputSummary: JSON.parse(row.input_summary!),
  outputSummary: JSON.parse(row.output_summary!),
  orgId: row.org_id || null,
  apiKeyId: row.api_key_id || null,
  requestId: row.request_id,
  prevHash: row.prev_hash,
})

async function busy(input = {}) {
  const ada = await world.person(input)
  await ada.send('POST', 'completions', { prompt: 'canary 7781, "quoted", =1+1' })
  for (const name of ['one', '=cmd|1', 'ünï']) await ada.send('POST', 'keys', { name })
  return ada
}

describe('GET /audit/export', () => {
  test('is a CSV file to keep, with the columns of the contract, newest first', async () => {
    const reply = await (await busy()).send('GET', 'audit/export')
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toStartWith('text/csv')
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"')
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    expect(reply.text.split('\r\n')[0]).toBe(COLUMNS)
    expect(read(reply.text).map(({ action }) => action)).toEqual([
      'audit.exported',
      'key.created',
      'key.created',
      'key.created',
      'completion.created',
      'key.created',
    ])
    expect(reply.text).not.toContain('canary')
  })

  test('holds what is hashed, byte for byte: anyone can compute the chain from it', async () => {
    const rows = read((await (await busy()).send('GET', 'audit/export')).text).reverse()
    let before = '0'.repeat(64)
    for (const row of rows) {
      expect(row.prev_hash).toBe(before)
      expect(canonicalize(JSON.parse(row.input_summary!))).toBe(row.input_summary!)
      expect(sha256(before + canonicalize(eventOf(row)))).toBe(row.hash!)
      before = row.hash!
    }
    expect(rows).toHaveLength(6)
    expect(rows.at(-1)?.status).toBe('200')
  })

  test('gives the same events as the list', async () => {
    const ada = await busy()
    const rows = read((await ada.send('GET', 'audit/export')).text)
    const { body: events } = await ada.send('GET', 'audit')
    expect(rows.map((row) => ({ ...eventOf(row), hash: row.hash }))).toEqual(events)
  })

  test.each([
    ['action=key.created', Array(4).fill('key.created')],
    ['action=completion.*&status=200', ['completion.created']],
    ['entity_type=completion', ['completion.created']],
    ['from=2126-01-01', []],
    ['action=%25', []],
  ])('takes the filters of the list: ?%s', async (query, actions) => {
    const reply = await (await busy()).send('GET', `audit/export?${query}`)
    expect(read(reply.text).map(({ action }) => action)).toEqual(actions)
  })

  test('is itself on the record, with the dates and the names of its filters', async () => {
    const ada = await busy({ ofOrg: true })
    await ada.send('GET', 'audit/export?from=2026-01-01&entity_id=what-I-look-for')
    const { body } = await ada.send('GET', 'audit?action=audit.exported')
    expect(body).toMatchObject([{ action: 'audit.exported', entityType: 'organization', entityId: ada.orgId }])
    expect(body[0].inputSummary.metadata).toEqual({ filters: ['entity_id'], from: '2026-01-01', to: null })
  })

  test('of dates that are none is 400, and nothing is recorded', async () => {
    const ada = await world.person()
    const reply = await ada.send('GET', 'audit/export?from=soon')
    expect({ status: reply.status, param: reply.body.error.param }).toEqual({ status: 400, param: 'from' })
    expect((await ada.send('GET', 'audit')).body).toHaveLength(1)
  })
})

describe('an export and a checkpoint', () => {
  const records = async function* (text: string) {
    yield* parse(text, { record_delimiter: '\r\n' }) as string[][]
  }
  const checkpointOf = async (ada: Awaited<ReturnType<typeof busy>>): Promise<Checkpoint> =>
    (await ada.send('GET', 'audit/checkpoint')).body

  test('the checkpoint is signed, as anyone can see with its public key', async () => {
    const { signature, request_id, ...claim } = (await (await busy()).send('GET', 'audit/checkpoint')).body
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: claim.public_key }, format: 'jwk' })
    const signed = Buffer.from(canonicalize(claim)!)
    expect(verify(null, signed, key, Buffer.from(signature, 'base64url'))).toBe(true)
    expect(request_id).toStartWith('req_')
    expect(claim.seq).toBe(5)
  })

  test('prove each other, and say which events came after', async () => {
    const ada = await busy()
    const checkpoint = await checkpointOf(ada)
    const proof = await verifyExport(records((await ada.send('GET', 'audit/export')).text), [checkpoint])
    expect(proof).toMatchObject({ ok: true, events: 6, complete: true, events_after_checkpoint: 1, broken: null })
  })

  test('prove each other when a spreadsheet turned the order round', async () => {
    const ada = await busy()
    const checkpoint = await checkpointOf(ada)
    const [header, ...lines] = (await ada.send('GET', 'audit/export')).text.trimEnd().split('\r\n')
    const proof = await verifyExport(records([header, ...lines.reverse(), ''].join('\r\n')), [checkpoint])
    expect(proof).toMatchObject({ ok: true, events: 6, events_after_checkpoint: 1 })
  })

  test('of somebody else prove nothing', async () => {
    const [ada, eve] = [await busy(), await busy()]
    const proof = await verifyExport(records((await eve.send('GET', 'audit/export')).text), [await checkpointOf(ada)])
    expect(proof.ok).toBe(false)
  })

  const line = (at: number, change: (text: string) => string | null) => (text: string) =>
    text
      .split('\r\n')
      .flatMap((each, index) => (index === at ? [change(each)].filter((stored) => stored !== null) : [each]))
      .join('\r\n')

  test.each<[string, (text: string) => string]>([
    ['a changed cell', line(3, (text) => text.replace('key.created', 'key.revoked'))],
    ['a changed status', line(3, (text) => text.replace(',201,"{', ',200,"{'))],
    ['a time spelled another way', line(3, (text) => text.replace('Z,', '+00:00,'))],
    ['a line left out', line(3, () => null)],
    ['the oldest line left out', line(6, () => null)],
    ['the newest lines left out', (text) => text.split('\r\n').toSpliced(1, 2).join('\r\n')],
    ['a line twice', line(3, (text) => `${text}\r\n${text}`)],
    ['two lines swapped', (text) => text.replace(/^(.*\r\n.*\r\n)(.*\r\n)(.*\r\n)/, '$1$3$2')],
    ['no lines at all', (text) => `${text.split('\r\n')[0]}\r\n`],
    ['no header', line(0, () => null)],
  ])('show %s', async (name, change) => {
    const ada = await busy()
    const checkpoint = await checkpointOf(ada)
    const { text } = await ada.send('GET', 'audit/export')
    const changed = change(text)
    expect(changed).not.toBe(text)
    const proof = await verifyExport(records(changed), [checkpoint])
    // Without its oldest line an export is like one that begins later: what is there is proven, and it says so.
    if (name === 'the oldest line left out') expect(proof).toMatchObject({ ok: true, complete: false })
    else expect(proof.ok).toBe(false)
  })

  test.each<[string, Partial<Checkpoint>]>([
    ['place', { seq: 3 }],
    ['hash', { hash: 'ab'.repeat(32) }],
    ['time', { signed_at: '2026-01-01T00:00:00.000Z' }],
    ['chain', { scope: 'user:x' }],
    ['key', { public_key: 'A'.repeat(43) }],
  ])('show a checkpoint with another %s', async (_, change) => {
    const ada = await busy()
    const checkpoint = { ...(await checkpointOf(ada)), ...change }
    const proof = await verifyExport(records((await ada.send('GET', 'audit/export')).text), [checkpoint])
    expect(proof.broken?.reason).toMatch(/signature .* is not genuine/)
  })
})

const DATES = '0000-13-99 275761-01-01 9999999999999 NaN 2026-02-31T00:00:00Z %00 {} 1970 last%20week'.split(' ')
refusals('GET /audit refuses (Q4, Q10)', { world, as: await world.person(), request: 'GET audit' }, [
  ...['0', '101', 'ten', '1000000'].map((limit): Refusal => queried('limit', limit)),
  ...['99', 'ok'].map((status): Refusal => queried('status', status)),
  ...['!!', 'WzUsImEiXQ'].map((cursor): Refusal => queried('cursor', cursor)),
  ...['all', 'server'].map((scope): Refusal => queried('scope', scope)),
  ...DATES.map((date): Refusal => queried('from', date)),
  queried('to', '2026-02-30'),
])

function queried(param: string, value: string): Refusal {
  return [
    `?${param}=${value}`,
    undefined,
    /^(?!.*(\/src\/|node_modules))/,
    { request: `GET audit?${param}=${value}`, param },
  ]
}
