import { describe, expect, test } from 'bun:test'
import { type Route, routesOf } from '../contract/matrix'
import { createWorld, type Reply } from '../support/world'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'

/*
 * Area F: injection into SQL, headers, CSV, HTML and logs. docs/attacks.md F4 stands with skills, docs/attacks.md F7
 * with q-audit, docs/attacks.md F8's names of artifacts with files. For docs/attacks.md F5 and F14 there is nothing to
 * inject into: no filter takes a path, no upload is read as XML.
 */

const target = await startTarget({ engine: 'builtin' })
const { send } = target
const world = await createWorld({ config: { opsListen: '127.0.0.1:0' } })
const routes = await routesOf(world)
const operatorRoutes = world.app.remoteOps!.routes.filter(({ path }) => path.includes(':'))

const WORDS = [
  "'",
  '"',
  "';--",
  "' OR '1'='1",
  "' UNION ALL VALUES(1)--",
  '1;ATTACH DATABASE "x" AS x',
  '\u0000',
  '%00',
  '%',
  '_',
  '\\',
  '$(id)',
  '`id`',
  '{{7*7}}',
  '../../etc/passwd',
  '\u202e',
  '\ud83d',
]
/** The first requests to every route at once would time how the server compiles its routes, not what a word does. */
const AT_ONCE = 12
const slicesOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))

/** An odd word may be not found or refused; it is never an error of the server. */
function expectHarmless({ status, text }: Pick<Reply, 'status' | 'text'>): void {
  expect(status).toBeLessThan(500)
  expect(text).not.toMatch(/sqlite|syntax error|unrecognized token|postgres|drizzle/i)
}

const ENDS_THE_SESSION = ['DELETE /auth/sessions']
const reads = routes.filter(({ method, name }) => method === 'GET' && !ENDS_THE_SESSION.includes(name))
const named = routes.filter(({ path }) => path.includes('{'))
const encoded = (word: string) => encodeURIComponent(word.toWellFormed())
const filled = ({ path }: Route, word: string) => path.slice(1).replace(/\{\w+\}/g, encoded(word))

describe('F1 SQL', () => {
  test.each(WORDS)('%j in every path id', async (word) => {
    const replies: Reply[] = []
    for (const few of slicesOf(named, AT_ONCE))
      replies.push(
        ...(await Promise.all(
          few.map((route) => send(route.method, filled(route, word), route.hasBody ? { body: {} } : {})),
        )),
      )
    expect(replies.length).toBe(named.length)
    expect(replies.length).toBeGreaterThan(8)
    for (const reply of replies) expectHarmless(reply)
    expect(replies.every(({ status }) => status >= 400)).toBe(true)
  })

  const ids: [string, string][] = WORDS.map((word) => [JSON.stringify(word), encoded(word)])
  ids.push(
    ['half a surrogate', '%ED%A0%BD'],
    ['no UTF-8', '%FF'],
    ['5,000 letters', 'a'.repeat(5_000)],
    ['__proto__', '__proto__'],
  )
  test.each(ids)('%s in every path id of operators', async (_, id) => {
    const other: string[] = []
    for (const few of slicesOf(operatorRoutes, AT_ONCE))
      await Promise.all(
        few.map(async ({ method, path }) => {
          const body = ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined
          const { status, text } = await target.ops(method, path.replace(/:\w+/g, id), body)
          expectHarmless({ status, text })
          if (![400, 404].includes(status)) other.push(`${status} ${method} ${path}`)
        }),
      )
    expect(operatorRoutes.length).toBeGreaterThan(50)
    expect(other).toEqual([])
  })

  const params = ['key_id', 'mode', 'skill', 'from', 'to', 'scope', 'cursor', 'limit', 'action', 'entity_id', 'format']
  test.each(WORDS)('%j in every query', async (word) => {
    const pairs = params.map((name) => `${name}=${encoded(word)}`)
    for (const route of reads) {
      const isFiltered = /^\/(usage|audit)$/.test(route.path)
      const queries = [pairs.join('&'), ...(isFiltered ? pairs : [])]
      const replies = await Promise.all(queries.map((query) => send('GET', `${filled(route, 'x')}?${query}`)))
      for (const reply of replies) expectHarmless(reply)
    }
  })

  test.each(WORDS)('%j in strings of bodies and headers', async (word) => {
    const bodies: [string, string, object][] = [
      ['POST', 'completions', { prompt: word, mode: 'fast', metadata: { [word]: word }, conversation_id: word }],
      ['POST', 'chat/completions', { model: word, user: word, messages: [{ role: 'user', content: word }] }],
      ['POST', 'keys', { name: word, allowed_origins: [word] }],
      ['PATCH', 'settings', { timezone: word, personality: word }],
    ]
    for (const [method, path, body] of bodies) expectHarmless(await send(method, path, { body }))
    if (/^[\u0020-\u007e]+$/.test(word)) {
      const headers = { 'idempotency-key': word, 'user-agent': word, 'x-request-id': word, origin: word }
      expectHarmless(await send('POST', 'completions', { body: { prompt: 'hi' }, headers }))
    }
  })
})

describe('F2 the report', () => {
  test.each([
    "from=2026-01-01' OR 1=1--&group_by=(select hex(randomblob(1e8)))",
    "to=2026-01-01'||(values(1))",
    'scope=org;drop table usage_records',
    'format=csv;id',
  ])('%s is 400', async (query) => {
    const { status, body } = await send('GET', `usage/export?${encodeURI(query)}`)
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  })

  test("a condition in a filter is a value like another: it finds nothing, and not someone else's", async () => {
    await send('POST', 'completions', { as: 'k2', body: { prompt: 'mine' } })
    const filtered = (name: string) => send('GET', `usage?${name}=${encodeURIComponent("x' OR '1'='1")}`)
    for (const name of ['key_id', 'skill']) expect((await filtered(name)).body.totals.requests).toBe(0)
    expect((await filtered('mode')).status).toBe(400)
  })
})

test.each(['%0d%0aSet-Cookie:a=1', '%0aX-Evil:1', '\u010d\u010aSet-Cookie:a'])(
  'F8 headers: %s makes none',
  async (word) => {
    for (const path of [`models/${word}`, `conversations/${word}`, `audit?cursor=${word}`, `usage?mode=${word}`]) {
      const { status, headers } = await send('GET', path)
      expect(status).toBeLessThan(500)
      expect(headers.get('set-cookie')).toBe(null)
      expect(headers.get('x-evil')).toBe(null)
    }
  },
)

test('F10 logs: stay one JSON object a line, whatever is in paths, names and headers', async () => {
  const forged = '\n{"level":30,"msg":"forged"}\u001b[2J'
  await send('POST', 'keys', { body: { name: forged } })
  await send('GET', `models/${encodeURIComponent(forged)}`)
  await send('GET', 'models', { headers: { 'user-agent': '{"level":30,"msg":"forged"}', referer: 'x\tforged' } })
  const lines = target
    .printed()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  expect(lines.length).toBeGreaterThan(20)
  for (const line of lines) {
    expect((JSON.parse(line) as { msg: string }).msg).not.toBe('forged')
    // An escape would act on the terminal of everyone who reads it.
    expect(line).not.toMatch(/\p{Cc}/u)
  }
})

describe('F13 shell syntax', () => {
  test.each(['$(id)', '`id`', 'pdf;rm -rf /', '../pdf', 'a|b'])('%s is no format of documents', async (format) => {
    const { status, body } = await send('POST', 'documents', { body: { prompt: 'x', filename: 'a;rm -rf', format } })
    expect({ status, ...body.error }).toMatchObject({ status: 400, code: 'invalid_format', param: 'format' })
  })

  test('is a title like any other, and no path of a file', async () => {
    const prompt = 'Write a note titled "a;rm -rf ../../$(id).sh"'
    const { body } = await send('POST', 'documents', { body: { prompt, format: 'csv' } })
    expect((await send('GET', `artifacts/${body.id.replace('doc_', 'art_')}`)).body.filename).toMatch(/^[^/\\]+\.csv$/)
  })
})

test.each(['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '[x](javascript:alert(1))'])(
  'F11 HTML: %s is data: stored as it is, and answered as JSON that no browser renders',
  async (word) => {
    const { body } = await send('POST', 'completions', { body: { prompt: word } })
    const path = `conversations/${body.conversation_id}`
    await send('PATCH', path, { body: { title: word } })
    const { headers, body: stored } = await send('GET', path)
    expect(JSON.stringify(stored)).toContain(JSON.stringify(word).slice(1, -1))
    expect(headers.get('content-type')).toStartWith('application/json')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const { text, headers: refused } = await send('GET', `${encodeURIComponent(word)}`)
    expect(refused.get('content-type')).toStartWith('application/json')
    expect(JSON.parse(text).error.code).toBe('not_found')
  },
)

keepsItsPromises(target, { faults: true })
