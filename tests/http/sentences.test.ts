// SQLite only: sentences, which no dialect changes.
import { expect, test } from 'bun:test'
import { refusals } from '../support/refusals'
import { createWorld, type Reply } from '../support/world'

const world = await createWorld()
const ada = await world.person()
const poor = await world.person({ cents: 0 })
const narrow = await world.person({ scopes: ['completions', 'skills'] })
await ada.send('POST', 'routing-preferences', { name: 'cheap-first', is_default: true, rules: [] })

/** What people meet first, each with what happened and what to do now (docs/operating.md 6.3). */
refusals('what happened, and what to do now', { world, as: ada, request: 'POST completions', also: isHelpful }, [
  ['no prompt', {}, '"prompt" is missing. Send a non-empty string, for example {"prompt":"Hello"}.'],
  [
    'a prompt under a name that is almost right',
    { promt: 'x' },
    '"prompt" is missing. "promt" is not a member; did you mean "prompt"?',
  ],
  [
    'two numbers out of range',
    { prompt: 'x', temperature: 9, max_iterations: 0 },
    '"temperature" is 9; it must be between 0 and 2. "max_iterations" is 0; it must be between 1 and 20.',
  ],
  [
    'a mode that is none',
    { prompt: 'x', mode: 'turbo' },
    '"mode" is "turbo". Use auto, fast, think, code, image, video, research, roast, genui',
  ],
  [
    'the key of another service',
    undefined,
    'The key starts with "sk-proj-"; keys of this server start with "svc_sk_". Create a key with svc-admin keys create',
    { request: 'GET models', headers: { authorization: `Bearer sk-proj-abc` }, status: 401, code: 'invalid_api_key' },
  ],
  [
    'a key with a line break',
    undefined,
    'The key ends with a line break.',
    { request: 'GET models', headers: { authorization: `Bearer ${ada.key}%0a` }, status: 401, code: 'invalid_api_key' },
  ],
  [
    'a scope that the key has not',
    {},
    "This key may use completions, skills; POST /browser/sessions needs the scope connectors. The key's owner can add it.",
    { request: 'POST browser/sessions', as: narrow, status: 403, code: 'missing_scope' },
  ],
  [
    'no credit',
    { prompt: 'x' },
    'The balance is 0.00 cents. Add credit to continue. Nothing was charged.',
    { as: poor, status: 402, code: 'insufficient_credits' },
  ],
  [
    'a webhook to the own machine',
    { url: 'http://localhost:3000/hook', event_types: ['*'] },
    'To test on this machine run: svc-admin webhooks listen --forward-to http://localhost:3000/hook',
    { request: 'POST webhooks', code: 'url_blocked' },
  ],
  [
    'a webhook to a private address elsewhere',
    { url: 'https://10.0.0.1/hook', event_types: ['*'] },
    'The address https://10.0.0.1/hook cannot be called: it is not a public address.',
    { request: 'POST webhooks', code: 'url_blocked' },
  ],
  [
    'a second default',
    { name: 'second', is_default: true, rules: [] },
    '"cheap-first" is already the default routing preference of this scope',
    { request: 'POST routing-preferences', status: 409, code: 'conflict' },
  ],
  [
    'a pattern that does not compile',
    { name: 'bad', rules: [{ pattern: '(foo', target_mode: 'fast' }] },
    '"rules[0].pattern" is "(foo" and does not compile: the "(" at position 1 is not closed.',
    { request: 'POST routing-preferences', code: 'routing_preference_invalid' },
  ],
])

function isHelpful({ headers, body: { error } }: Reply): void {
  expect(error.message.length).toBeLessThan(300)
  expect(headers.get('link')).toContain(`/docs/errors/${error.code}>; rel="help"`)
}

test('research that is asked for inline says where it belongs, and that it takes minutes', async () => {
  const { body } = await ada.send('POST', 'completions', { prompt: 'What is tea?', mode: 'research' })
  const says =
    'Mode "research" takes minutes and runs inline here, up to the request time-out. Send it to POST /research'
  expect(body.warnings[0]).toStartWith(says)
})
