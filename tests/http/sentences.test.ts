// SQLite only: sentences, which no dialect changes.
import { expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()
const poor = await world.person({ cents: 0 })
const narrow = await world.person({ scopes: ['completions', 'skills'] })
const MAX_CHARS = 300

type Row = {
  what: string
  ask: [method: 'GET' | 'POST', path: string, body?: object]
  by?: typeof ada
  key?: string
  status: number
  code: string
  says: string
}

/** What people meet first, each with what happened and what to do now (dx 6.3). */
const ROWS: Row[] = [
  {
    what: 'no prompt',
    ask: ['POST', 'completions', {}],
    status: 400,
    code: 'validation_error',
    says: '"prompt" is missing. Send a non-empty string, for example {"prompt":"Hello"}.',
  },
  {
    what: 'a prompt under a name that is almost right',
    ask: ['POST', 'completions', { promt: 'x' }],
    status: 400,
    code: 'validation_error',
    says: '"prompt" is missing. "promt" is not a member; did you mean "prompt"?',
  },
  {
    what: 'two numbers out of range',
    ask: ['POST', 'completions', { prompt: 'x', temperature: 9, max_iterations: 0 }],
    status: 400,
    code: 'validation_error',
    says: '"temperature" is 9; it must be between 0 and 2. "max_iterations" is 0; it must be between 1 and 20.',
  },
  {
    what: 'a mode that is none',
    ask: ['POST', 'completions', { prompt: 'x', mode: 'turbo' }],
    status: 400,
    code: 'validation_error',
    says: '"mode" is "turbo". Use auto, fast, think, code, image, video, research, roast, genui',
  },
  {
    what: 'the key of another service',
    ask: ['GET', 'models'],
    key: 'sk-proj-abc',
    status: 401,
    code: 'invalid_api_key',
    says: 'The key starts with "sk-proj-"; keys of this server start with "svc_sk_". Create a key with svc-admin keys create',
  },
  {
    what: 'a key with a line break',
    ask: ['GET', 'models'],
    key: `${ada.key}%0a`,
    status: 401,
    code: 'invalid_api_key',
    says: 'The key ends with a line break.',
  },
  {
    what: 'a scope that the key has not',
    ask: ['POST', 'browser/sessions', {}],
    by: narrow,
    status: 403,
    code: 'missing_scope',
    says: "This key may use completions, skills; POST /browser/sessions needs the scope connectors. The key's owner can add it.",
  },
  {
    what: 'no credit',
    ask: ['POST', 'completions', { prompt: 'x' }],
    by: poor,
    status: 402,
    code: 'insufficient_credits',
    says: 'The balance is 0.00 cents. Add credit to continue. Nothing was charged.',
  },
  {
    what: 'a webhook to the own machine',
    ask: ['POST', 'webhooks', { url: 'http://localhost:3000/hook', event_types: ['*'] }],
    status: 400,
    code: 'url_blocked',
    says: 'To test on this machine run: svc-admin webhooks listen --forward-to http://localhost:3000/hook',
  },
  {
    what: 'a webhook to a private address elsewhere',
    ask: ['POST', 'webhooks', { url: 'https://10.0.0.1/hook', event_types: ['*'] }],
    status: 400,
    code: 'url_blocked',
    says: 'The address https://10.0.0.1/hook cannot be called: it is not a public address.',
  },
  {
    what: 'a second default',
    ask: ['POST', 'routing-preferences', { name: 'second', is_default: true, rules: [] }],
    status: 409,
    code: 'conflict',
    says: '"cheap-first" is already the default routing preference of this scope',
  },
  {
    what: 'a pattern that does not compile',
    ask: ['POST', 'routing-preferences', { name: 'bad', rules: [{ pattern: '(foo', target_mode: 'fast' }] }],
    status: 400,
    code: 'routing_preference_invalid',
    says: '"rules[0].pattern" is "(foo" and does not compile: the "(" at position 1 is not closed.',
  },
]

await ada.send('POST', 'routing-preferences', { name: 'cheap-first', is_default: true, rules: [] })

test.each(ROWS)('$what: what happened, and what to do now', async ({ ask, by = ada, key, status, code, says }) => {
  const [method, path, body] = ask
  const reply = await by.send(method, path, body, key ? { authorization: `Bearer ${key}` } : undefined)
  const { error } = reply.body
  expect(error.message).toContain(says)
  expect(error.message.length).toBeLessThan(MAX_CHARS)
  expect({ status: reply.status, code: error.code }).toEqual({ status, code })
  expect(reply.headers.get('link')).toContain(`/docs/errors/${code}>; rel="help"`)
})

test('research that is asked for inline says where it belongs, and that it takes minutes', async () => {
  const { body } = await ada.send('POST', 'completions', { prompt: 'What is tea?', mode: 'research' })
  const says =
    'Mode "research" takes minutes and runs inline here, up to the request time-out. Send it to POST /research'
  expect(body.warnings[0]).toStartWith(says)
})
