import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld } from '../completions/upstream-world'
import { eventNames, joinTokens, readFrames } from '../support/frames'
import type { Person } from '../support/world'
import { onKind, onTerms, under } from './support'

const { world } = await createUpstreamWorld()
const extracted = (json: string, more: object = {}) => ({
  prompt: `Extract [[say:${json}]]`,
  mode: 'data_extraction',
  ...more,
})

const person = async (...rules: Parameters<typeof under>[1]): Promise<Person> => {
  const ada = await world.person()
  await under(ada, rules)
  return ada
}

describe('an answer that is JSON, under a policy', () => {
  test('cannot hide anything in escapes', async () => {
    const ada = await person(onKind('pii', 'output', 'redact'), onTerms('output', 'block', ['kraken']))
    const redacted = await ada.send('POST', 'completions', extracted('{"mail":"bob\\u0040example.com"}'))
    expect(redacted.body.structured_output.data).toEqual({ mail: '[REDACTED:email]' })
    expect(JSON.parse(redacted.body.content)).toEqual({ mail: '[REDACTED:email]' })
    expect(redacted.body.guardrails).toMatchObject([{ guardrail_id: 'pii', verdict: 'redact' }])
    const blocked = await ada.send('POST', 'completions', extracted('{"name":"kr\\u0061ken"}'))
    expect(blocked.body.content).toContain('withheld')
    expect(blocked.text).not.toContain('ken"')
  })

  test('stays JSON when a number is taken out of it', async () => {
    const ada = await person(onKind('pii', 'output', 'redact'))
    const { body } = await ada.send('POST', 'completions', extracted('{"card":4111111111111111,"n":1}'))
    expect(body.structured_output).toEqual({
      type: 'data_extraction',
      data: { card: '[REDACTED:credit_card]', n: 1 },
    })
    const chat = await ada.send('POST', 'chat/completions', {
      model: 'svc-1-flash',
      response_format: { type: 'json_object' },
      messages: [{ role: 'user', content: 'Give [[say:{"card":4111111111111111}]]' }],
    })
    expect(JSON.parse(chat.body.choices[0].message.content)).toEqual({ card: '[REDACTED:credit_card]' })
  })

  test('reports each rule that fired once, and is unchanged when rules only flag', async () => {
    const ada = await person(onKind('pii', 'output', 'flag'), onKind('max_length', 'output', 'flag', { max_chars: 10 }))
    const { body } = await ada.send('POST', 'completions', extracted('{ "mail": "bob@example.com" }'))
    expect(body.content).toBe('{ "mail": "bob@example.com" }')
    expect(body.guardrails.map((one: { guardrail_id: string }) => one.guardrail_id)).toEqual(['pii', 'max_length'])
  })

  test('is streamed once all of it has been checked', async () => {
    const ada = await person(onKind('pii', 'output', 'redact'))
    const json = `{"text":"${'The harvest was good. '.repeat(40)}","mail":"bob\\u0040example.com"}`
    const { text } = await ada.send('POST', 'completions', extracted(json, { stream: true }))
    const frames = readFrames(text)
    expect(eventNames(frames).filter((name) => name === 'token')).toHaveLength(1)
    expect(JSON.parse(joinTokens(frames)).mail).toBe('[REDACTED:email]')
    expect(frames.at(-1)!.data.content).toBe(joinTokens(frames))
    expect(text).not.toContain('u0040')
  })

  test('that is not JSON after all is checked as text', async () => {
    const ada = await person(onKind('pii', 'output', 'redact'))
    const { body } = await ada.send('POST', 'completions', extracted('Write to bob@example.com'))
    expect(body.content).toBe('Write to [REDACTED:email]')
  })

  test.each([{}, { stream: true }])('stays JSON when a component is JSON, with %j', async (more) => {
    const ada = await person(onKind('pii', 'output', 'redact'))
    const built = { ...extracted('{"note":"tab\\tzo\\u0065@example.com","n":1}'), mode: 'genui', ...more }
    const { body, text } = await ada.send('POST', 'completions', built)
    const content = body?.content ?? joinTokens(readFrames(text))
    expect(JSON.parse(content)).toEqual({ note: 'tab\t[REDACTED:email]', n: 1 })
  })

  test('is streamed as it comes when a component is code', async () => {
    const ada = await person(onKind('pii', 'output', 'redact'))
    const code = `export const Card = () => (${'<p>The harvest was good.</p> '.repeat(60)})`
    const built = { ...extracted(code), mode: 'genui', stream: true }
    const frames = readFrames((await ada.send('POST', 'completions', built)).text)
    expect(eventNames(frames).filter((name) => name === 'token').length).toBeGreaterThan(1)
    expect(joinTokens(frames)).toBe(code)
  })
})
