import { describe, expect, test } from 'bun:test'
import { startTarget } from './support'
import { keepsItsPromises } from './support/oracle'
import { attack } from './support/rows'

const target = await startTarget()
const { send, people } = target
const { k1 } = people.secrets

const PROBES = `
  /metrics /debug /debug/pprof /.env /.git/config /.git/HEAD /swagger /swagger/json /admin /__bun /_bun/client
  /server-status /actuator /src/main.ts /main.js.map /package.json /svc.db /secrets.json /ops/v1/status /ops/v1/audit
  /api/v1/metrics
`
  .trim()
  .split(/\s+/)

attack('Q13 what is not there to be found', target, [
  ...PROBES.map((path) => ({ id: 'Q13', what: path, ask: `GET ${path}`, as: null, is: [401, 404] })),
])

describe('Q8 a key that is wrong is not repeated', () => {
  const places: [string, Parameters<typeof send>][] = [
    ['in the header', ['GET', 'models', { as: null, headers: { authorization: `Bearer ${k1}x` } }]],
    ['as another scheme', ['GET', 'models', { as: null, headers: { authorization: `Basic ${k1}` } }]],
    ['in the query', ['GET', `models?key=${k1}`, { as: null }]],
    ['in the path', ['GET', `models/${k1}`, {}]],
    ['in the body', ['POST', 'completions', { body: { prompt: 1, key: k1 } }]],
    ['as a value that is wrong', ['POST', 'completions', { body: { prompt: 'x', mode: k1 } }]],
    ['as an id', ['GET', `keys/${k1}`, {}]],
    ['as a cursor', ['GET', `audit?cursor=${k1}`, {}]],
    ['as a filter', ['GET', `audit?key_id=${k1}`, {}]],
  ]

  test.each(places)('%s', async (_, [method, path, sending]) => {
    const reply = await send(method, path, sending)
    // What a masked key may show is its prefix and its last four.
    expect(reply.text + JSON.stringify([...reply.headers])).not.toContain(k1!.slice(0, -4))
    expect(target.printed()).not.toContain(k1!)
  })
})

test.each(['keys', 'settings', 'orgs', 'audit'])('Q11 what is listed has no secret in it: GET /%s', async (path) => {
  const { status, text } = await send('GET', path)
  expect(status).toBe(200)
  for (const secret of Object.values(people.secrets)) expect(text).not.toContain(secret)
  expect(text).not.toMatch(/"(key|secret|signing_secret|password|hash_of_key|key_hash)":/)
})

describe('Q14 an answer tells of itself, not of the server', () => {
  const REQUESTS: [string, string, unknown][] = [
    ['GET', 'models', undefined],
    ['GET', 'nothing', undefined],
    ['PATCH', 'models', undefined],
    ['POST', 'completions', { prompt: { deep: 'canaryword'.repeat(500) }, found: 'canaryword' }],
    ['POST', 'completions', '{'],
  ]

  test.each(REQUESTS)('%s %s', async (method, path, body) => {
    const { headers, text, body: answer } = await send(method, path, body === undefined ? {} : { body: body as object })
    expect(headers.get('server')).toBe(null)
    expect(headers.get('x-powered-by')).toBe(null)
    expect(text).not.toMatch(/"found"|"expected"|node_modules|\.ts:\d+|elysia|typebox/i)
    // A refusal quotes enough of a value to know it by, never the value.
    expect(text).not.toContain('canaryword'.repeat(20))
    expect(String(answer.error?.message ?? '').length).toBeLessThanOrEqual(200)
  })
})

keepsItsPromises(target)
