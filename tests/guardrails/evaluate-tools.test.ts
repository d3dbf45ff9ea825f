import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'
import { onKind, onPattern } from './support'

const world = await createWorld()
const ada = await world.person()
const MARK = '[REDACTED:email]'

/** What `evaluate` answers for a policy of this one rule. */
async function tried(rule: ReturnType<typeof onKind>, text: string, more: object = {}) {
  const made = await ada.send('POST', 'guardrail-policies', { name: 'Tried', rules: [rule] })
  const input = { text, phase: rule.phase, ...more }
  const { body } = await ada.send('POST', `guardrail-policies/${made.body.id}/evaluate`, input)
  return { ...body.results[0], text: body.text }
}
const pii = (phase: string) => onKind('pii', phase, 'redact')

test('rules that are not saved are tried in place of the saved ones, which stay in force', async () => {
  const made = await ada.send('POST', 'guardrail-policies', { name: 'Saved', rules: [pii('input')] })
  const evaluate = (more: object) =>
    ada.send('POST', `guardrail-policies/${made.body.id}/evaluate`, { text: 'orion', phase: 'input', ...more })
  const { body } = await evaluate({ rules: [onPattern('input', 'block', 'orion')] })
  expect(body.results).toMatchObject([{ verdict: 'block', triggered: true }])
  expect((await evaluate({})).body.results).toMatchObject([{ guardrail_id: 'pii', triggered: false }])
  const wrong = await evaluate({ rules: [{ guardrail_id: 'nothing', phase: 'input', verdict: 'block' }] })
  expect({ status: wrong.status, code: wrong.body.error.code }).toEqual({
    status: 400,
    code: 'guardrail_policy_invalid',
  })
})

describe('evaluate in the tool phases says what a run would do', () => {
  test.each(['tool_call', 'tool_result'])('%s: escapes hide nothing, and the result is JSON', async (phase) => {
    const { triggered, text } = await tried(pii(phase), '{"to":"\\u0061da\\u0040example.com","n":[1,null]}')
    expect({ triggered, text: JSON.parse(text) }).toEqual({ triggered: true, text: { to: MARK, n: [1, null] } })
    const card = await tried(pii(phase), '{"card":4111111111111111}')
    expect(JSON.parse(card.text)).toEqual({ card: '[REDACTED:credit_card]' })
  })

  test('members whose names are redacted to one keep their values', async () => {
    const { text } = await tried(pii('tool_result'), '{"ada@example.com":1,"bob@example.com":2}')
    expect(JSON.parse(text)).toEqual({ [MARK]: 1, [`${MARK} 2`]: 2 })
  })

  test('text that is not JSON is read as text, and text without findings stays as it was sent', async () => {
    expect(await tried(pii('tool_call'), 'to ada@example.com')).toMatchObject({ text: `to ${MARK}` })
    expect(await tried(pii('tool_result'), '42 for ada@example.com')).toMatchObject({ text: `42 for ${MARK}` })
    const spaced = '{ "to" : "nobody" }'
    expect(await tried(pii('tool_call'), spaced)).toMatchObject({ triggered: false, text: spaced })
  })

  test('the name of the tool is read with the arguments', async () => {
    const rule = onPattern('tool_call', 'block', 'orion')
    expect(await tried(rule, '{}', { tool_name: 'mail_ada_orion' })).toMatchObject({ triggered: true })
    expect(await tried(rule, '{}', { tool_name: 'mail_ada' })).toMatchObject({ triggered: false, detail: null })
    const detail = 'only the arguments were checked: "tool_name" was not sent'
    expect(await tried(rule, '{}')).toMatchObject({ triggered: false, detail })
  })

  test.each([
    [onKind('tool_allowlist', 'tool_call', 'block', { tools: ['note'] }), '"tool_name" was not sent'],
    [onKind('system_prompt_leak', 'output', 'block'), 'only a run has a system prompt'],
    [onKind('groundedness', 'output', 'flag'), 'only a run has sources'],
  ])('%j says what it could not check', async (rule, why) => {
    expect(await tried(rule, 'hello')).toMatchObject({ triggered: false, detail: `not checked: ${why}` })
  })

  test('a call of a tool that is not on the allow list is reported', async () => {
    const rule = onKind('tool_allowlist', 'tool_call', 'block', { tools: ['note'] })
    expect(await tried(rule, '{}', { tool_name: 'wipe' })).toMatchObject({ triggered: true })
    expect(await tried(rule, '{}', { tool_name: 'note' })).toMatchObject({ triggered: false, detail: null })
  })

  test('long arguments are read as JSON too', async () => {
    const long = JSON.stringify({ text: 'word '.repeat(4_000), to: 'ada@example.com' })
    const { triggered, text } = await tried(pii('tool_call'), long)
    expect({ triggered, to: JSON.parse(text).to }).toEqual({ triggered: true, to: MARK })
  })
})
