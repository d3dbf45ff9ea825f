// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { expect, test } from 'bun:test'
import { modeOfCall } from '../../../src/completions'
import { createClassifier } from '../../../src/routing'
import type { Person } from '../../support/world'
import { createUpstreamWorld } from '../upstream-world'

const SCRIPT = '[[plan:look{}|look{}]]'
/** The classifier gets the prompt as a JSON string, and hears that it is code. */
const reply = (prompt: string) => (prompt.startsWith('"') ? { status: 200, body: CODE } : undefined)
const CODE = { choices: [{ message: { content: '{"mode":"code","confidence":0.95}' }, finish_reason: 'stop' }] }

const { decide } = createClassifier()
const VERBS = ['Sort out', 'Handle', 'We need help with', 'Consider', 'Prepare', 'Lay out', 'Go through', 'Improve']
const THINGS = ['the granite business', 'velvet strategy slides', 'my lantern report', 'the contract drawing', 'a plan']

/** A prompt that no local stage is sure of. */
const unclear = VERBS.flatMap((verb) => THINGS.map((thing) => `${verb} ${thing} ${SCRIPT}`)).find(
  (prompt) => decide({ mode: 'auto', prompt, hasImages: false }).source === 'default',
)!

const [here, there] = [
  await createUpstreamWorld({ upstream: { reply } }),
  await createUpstreamWorld({ upstream: { reply } }),
]
const [ada, bob] = [await here.world.person(), await there.world.person()]

const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
const question = { role: 'user', content: unclear }

type Message = { role: string; content: string | null; tool_calls?: { id: string }[]; tool_call_id?: string }

const withResults = (message: Message, content = 'seen'): Message[] => [
  message,
  ...message.tool_calls!.map(({ id }) => ({ role: 'tool', tool_call_id: id, content })),
]

/** One turn of the loop, and how many calls of the upstream it took. */
async function turn(person: Person, messages: unknown[], members: object = { tools }) {
  const { upstream } = person === ada ? here : there
  upstream.reset()
  const { status, body } = await person.send('POST', 'chat/completions', { messages, ...members })
  expect(status).toBe(200)
  return {
    calls: upstream.calls.length,
    sorted: upstream.calls.filter(({ prompt }) => prompt.startsWith('"')).length,
    mode: body.svc_metadata.resolved_mode as string,
    said: body.choices[0].message as Message,
    usage: body.usage,
  }
}

const began = await turn(ada, [question])

test('the first turn asks the classifier, once', () => {
  expect({ calls: began.calls, mode: began.mode }).toEqual({ calls: 2, mode: 'code' })
  expect(modeOfCall(began.said.tool_calls![0]!.id, ['fast', 'code'])).toBe('code')
})

test('turns with tool results keep its mode and ask nobody (docs/api.md 4)', async () => {
  const messages = [question, ...withResults(began.said)]
  const second = await turn(ada, messages)
  expect({ calls: second.calls, mode: second.mode }).toEqual({ calls: 1, mode: 'code' })
  const third = await turn(ada, [...messages, ...withResults(second.said)])
  expect({ calls: third.calls, mode: third.mode }).toEqual({ calls: 1, mode: 'code' })
})

test('so does another process, which knows nothing of the first turn', async () => {
  const { calls, mode } = await turn(bob, [question, ...withResults(began.said)])
  expect({ calls, mode }).toEqual({ calls: 1, mode: 'code' })
})

test('so does a stream', async () => {
  here.upstream.reset()
  const messages = [question, ...withResults(began.said)]
  const { text } = await ada.send('POST', 'chat/completions', { messages, tools, stream: true })
  expect(text).toContain('"resolved_mode":"code"')
  expect(here.upstream.calls).toHaveLength(1)
})

test('so do results that are not read, because the request has no tools', async () => {
  const { sorted, mode } = await turn(ada, [question, ...withResults(began.said)], {})
  expect({ sorted, mode }).toEqual({ sorted: 0, mode: 'code' })
})

test('calls that another service made are answered without the classifier, too', async () => {
  const foreign = { id: 'call_abcdefghijklmnopqrstuvwx', type: 'function', function: { name: 'look', arguments: '{}' } }
  const message: Message = { role: 'assistant', content: null, tool_calls: [foreign] }
  const { calls, mode } = await turn(ada, [question, ...withResults(message)])
  expect({ calls, mode }).toEqual({ calls: 1, mode: 'fast' })
})

test('a new question is classified again', async () => {
  const answer = { role: 'assistant', content: 'Done.' }
  expect((await turn(ada, [question, ...withResults(began.said), answer, question])).calls).toBe(2)
})

test('a model that is named is used as ever', async () => {
  const { calls, mode } = await turn(ada, [question, ...withResults(began.said)], { tools, model: 'svc-1-flash' })
  expect({ calls, mode }).toEqual({ calls: 1, mode: 'fast' })
})
