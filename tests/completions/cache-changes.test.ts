import { describe, expect, test } from 'bun:test'
import type { Person } from '../support/world'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const { world } = await createUpstreamWorld()
await world.app.container.skills.openStarters()

type Change = (person: Person) => Promise<unknown>
/** A request of the person's, and whether memory answered it. */
const isServed = async (person: Person, prompt: string, members: object = {}) =>
  (await person.send('POST', 'completions', { prompt, conversation_id: null, ...members })).body._cached === true

const done = async (person: Person, method: string, path: string, body?: object) => {
  const reply = await person.send(method, path, body)
  expect([200, 201]).toContain(reply.status)
  return reply.body
}
const id = async (made: Promise<{ id: string }>) => (await made).id

const rules = (pattern: string) => [{ pattern, target_mode: 'think', confidence: 0.95 }]
const preference = (person: Person, more: object = {}) =>
  id(done(person, 'POST', 'routing-preferences', { name: 'Mine', rules: rules('nothing like it'), ...more }))
const bindPreference = (person: Person, routing_preference_id: string | null) =>
  done(person, 'PUT', `keys/${person.keyId}/routing-preference`, { routing_preference_id })
const blocked = (term: string) => [
  { guardrail_id: 'blocked_terms', phase: 'input', verdict: 'flag', config: { terms: [term] } },
]
const policy = (person: Person, more: object = {}) =>
  id(done(person, 'POST', 'guardrail-policies', { name: 'Mine', rules: blocked('nothing like it'), ...more }))
const skill = async (person: Person, slug: string) => {
  const { skills } = await done(person, 'GET', `skills?q=${slug}`)
  return skills.find((one: { slug: string }) => one.slug === slug).id as string
}
const install: Change = async (person) =>
  done(person, 'POST', 'skills', { skillId: await skill(person, 'email-drafter') })

/** What is there before the first request, and what changes between it and the second. */
const CHANGES: readonly [string, Change | null, Change][] = [
  ['a memory', null, (who) => done(who, 'POST', 'memory', { content: 'Ben writes to nobody on Sundays' })],
  ['the personality of the account', null, (who) => done(who, 'PATCH', 'settings', { personality: 'none' })],
  ['the branding of the account', null, (who) => done(who, 'PATCH', 'settings', { svc_branding: false })],
  ['a brand soul', null, (who) => done(who, 'PUT', `keys/${who.keyId}`, { brand_soul: SOUL })],
  ['an installed skill', null, install],
  [
    'a skill that is switched off',
    install,
    async (who) => done(who, 'PATCH', `skills/${await skill(who, 'email-drafter')}/installation`, { enabled: false }),
  ],
  [
    'the intensity of a skill',
    install,
    async (who) => done(who, 'PATCH', `skills/${await skill(who, 'email-drafter')}/installation`, { intensity: 0.5 }),
  ],
  ['a default preference', null, (who) => preference(who, { is_default: true })],
  [
    'the rules of a default preference',
    (who) => preference(who, { is_default: true }),
    async (who) =>
      done(who, 'PATCH', `routing-preferences/${await firstOf(who, 'routing_preferences')}`, { rules: rules('x') }),
  ],
  [
    'a preference bound to the key',
    (who) => preference(who),
    async (who) => bindPreference(who, await firstOf(who, 'routing_preferences')),
  ],
  [
    'a preference bound to the key that says nothing',
    (who) => preference(who, { rules: [] }),
    async (who) => bindPreference(who, await firstOf(who, 'routing_preferences')),
  ],
  [
    'a preference that says nothing to another such',
    async (who) => bindPreference(who, await preference(who, { rules: [] })),
    async (who) => bindPreference(who, await preference(who, { rules: [] })),
  ],
  ['a default preference that says nothing', null, (who) => preference(who, { rules: [], is_default: true })],
  [
    'a preference that says nothing and is taken off',
    async (who) => bindPreference(who, await preference(who, { rules: [] })),
    (who) => bindPreference(who, null),
  ],
  ['rules of the key', null, (who) => done(who, 'PUT', `keys/${who.keyId}/routing-rules`, { rules: rules('y') })],
  ['a default policy', null, (who) => policy(who, { is_default: true })],
  [
    'the rules of a policy',
    (who) => policy(who, { is_default: true }),
    async (who) =>
      done(await world.signedIn(who), 'PATCH', `guardrail-policies/${await firstOf(who, 'guardrail_policies')}`, {
        rules: blocked('z'),
      }),
  ],
  [
    'a policy bound to the key',
    (who) => policy(who),
    async (who) =>
      done(who, 'PUT', `keys/${who.keyId}/guardrails`, {
        guardrail_policy_id: await firstOf(who, 'guardrail_policies'),
      }),
  ],
  [
    'a policy that is gone',
    (who) => policy(who, { is_default: true }),
    async (who) =>
      done(await world.signedIn(who), 'DELETE', `guardrail-policies/${await firstOf(who, 'guardrail_policies')}`),
  ],
]
const SOUL = { enabled: true, persona: 'You are a pirate.', tone: 'gruff', knowledge: [], constraints: [] }

async function firstOf(person: Person, what: 'routing_preferences' | 'guardrail_policies'): Promise<string> {
  return (await done(person, 'GET', what.replace('_', '-')))[what][0].id
}

describe('an answer that is remembered (docs/api.md 22.1)', () => {
  test.each(CHANGES)('is not served any more after a change of %s, and the new one is', async (_, before, change) => {
    const [person, prompt] = [await world.person(), freshPrompt('Draft an email to Ben')]
    await before?.(person)
    expect(await isServed(person, prompt)).toBe(false)
    expect(await isServed(person, prompt)).toBe(true)
    await change(person)
    expect(await isServed(person, prompt)).toBe(false)
    expect(await isServed(person, prompt)).toBe(true)
  })

  test.each([
    ['a preference', async (who) => bindPreference(who, await preference(who, { rules: [] }))],
    ['rules', (who) => done(who, 'PUT', `keys/${who.keyId}/routing-rules`, { rules: rules('y') })],
  ] satisfies [string, Change][])(
    'is not served after %s came to its key, though the mode is chosen',
    async (_, bind) => {
      const [ada, prompt] = [await world.person(), freshPrompt()]
      await isServed(ada, prompt, { mode: 'fast' })
      expect(await isServed(ada, prompt, { mode: 'fast' })).toBe(true)
      await bind(ada)
      expect(await isServed(ada, prompt, { mode: 'fast' })).toBe(false)
    },
  )

  test('names the preference that is in force, even if it says nothing', async () => {
    const [ada, prompt] = [await world.person(), freshPrompt('Draft an email to Ben')]
    const request = async () =>
      (await ada.send('POST', 'completions', { prompt, mode: 'auto', conversation_id: null })).body.routing
        .preference_id
    expect(await request()).toBeNull()
    const bound = await preference(ada, { rules: [] })
    await bindPreference(ada, bound)
    expect(await request()).toBe(bound)
    expect(await request()).toBe(bound)
  })

  test('of a draft is not served once the draft is edited, though its version stays', async () => {
    const [ada, prompt] = [await world.person(), freshPrompt()]
    const draft = { name: 'My marks', slug: 'my-marks', category: 'domain', system_prompt_ext: 'Be blue.' }
    const { skill: made } = await done(ada, 'POST', 'skills/create', draft)
    const members = { skills: ['my-marks'] }
    await isServed(ada, prompt, members)
    expect(await isServed(ada, prompt, members)).toBe(true)
    await done(ada, 'PATCH', `skills/${made.id}`, { system_prompt_ext: 'Be green.' })
    expect(await isServed(ada, prompt, members)).toBe(false)
  })

  test('with a tool that failed is asked again', async () => {
    const ada = await world.person()
    const tools = [{ name: 'broken', description: 'x', endpoint: { url: 'https://192.0.2.1/tool' } }]
    const prompt = freshPrompt('[[tool:broken]]')
    const first = await ada.send('POST', 'completions', { prompt, tools, conversation_id: null })
    const failed =
      first.status === 200 && first.body.tools_used.some(({ status }: { status: string }) => status === 'error')
    expect(failed || first.status === 400).toBe(true)
    expect(await isServed(ada, prompt, { tools })).toBe(false)
  })
})
