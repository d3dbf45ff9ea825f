// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world } = await createUpstreamWorld()
const ada = await world.person()

const warningsOf = async (more: object, after: object[] = []): Promise<string[] | undefined> => {
  const messages = [{ role: 'user', content: freshPrompt() }, ...after]
  const { status, body } = await ada.send('POST', 'chat/completions', { model: 'svc-1-flash', messages, ...more })
  expect(status).toBe(200)
  return body.svc_metadata.warnings
}

test.each([
  ['a skill that there is none of', { skills: ['nope'] }, [], ['There is no skill "nope", so it was skipped.']],
  [
    'a tool_choice without tools',
    { tool_choice: 'required' },
    [],
    ['"tool_choice" was ignored: there are no "tools".'],
  ],
  [
    'the beginning of an answer',
    {},
    [{ role: 'assistant', content: 'It is' }],
    ['"messages[1]" was ignored: you cannot start the answer for the engine.'],
  ],
  ['a tool_choice that changes nothing', { tool_choice: 'auto' }, [], undefined],
])('%s is answered, and said in the warnings', async (_, more, after, warnings) => {
  expect(await warningsOf(more, after)).toEqual(warnings)
})
