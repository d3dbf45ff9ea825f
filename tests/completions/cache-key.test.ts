import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Settings } from '../../src/accounts'
import { type CacheContext, cacheKeyOf } from '../../src/completions/cache'
import { requestFromInput } from '../../src/completions/completion-from-wire'
import type { CompletionRequest } from '../../src/completions/run'
import { CompletionInput } from '../../src/completions/schema'
import { NO_SKILLS } from '../../src/skills'
import { callOf, keyCaller } from '../support/callers'

type Input = Record<string, unknown>

const SETTINGS: Settings = {
  default_mode: 'fast',
  personality: 'svc',
  timezone: 'UTC',
  svc_branding: true,
  keep_bodies: false,
  keep_bodies_days: 7,
  shortcuts: true,
}
const AROUND: CacheContext = {
  soul: null,
  memories: [],
  active: NO_SKILLS,
  engines: 'engines',
  policy: null,
  routing: null,
}
const CALL = callOf(keyCaller({}))
const TRAITS = { romantic: 1, intelligent: 1, sarcastic: 1, rude: 1, funny: 1, comedic: 1, witty: 1 }

const keyOf = (input: Input, around: Partial<CacheContext> = {}, call = CALL, settings = SETTINGS): string => {
  const request = requestFromInput(
    { prompt: 'hello', ...input } as CompletionInput,
    settings,
    false,
  ) as CompletionRequest
  return cacheKeyOf(call, request, { ...AROUND, ...around })
}

/** Values of each member of an order that shapes its answer; any two of one member are two requests. */
const SHAPES: Record<string, readonly unknown[]> = {
  prompt: ['hello', 'hello ', 'Hello', 'hello\n', 'hallo', '["hello"]'],
  mode: ['auto', 'fast', 'think', 'code', 'roast', 'image', 'video', 'research'],
  conversation: [undefined, ...['user', 'assistant'].map((role) => ({ messages: [{ role, content: 'x' }] }))],
  skills: [undefined, ['a'], ['b'], ['a', 'b'], ['b', 'a']],
  tools: [undefined, ...['a', 'b'].map((name) => [{ name, description: 'x' }]), [{ name: 'a', description: 'y' }]],
  persona: [undefined, 'none', { system_prompt: 'a' }, { system_prompt: 'b' }],
  personality_config: [
    undefined,
    { traits: TRAITS, uncensored_mode: false, active_preset_id: null },
    { traits: TRAITS, uncensored_mode: true, active_preset_id: null },
    { traits: { ...TRAITS, rude: 2 }, uncensored_mode: false, active_preset_id: null },
  ],
  response_style: [undefined, { format: 'table' }, { preciseness: 'table' }, { intent: 'table' }],
  svc_branding: [true, false],
  brand_soul: [true, false],
  temperature: [undefined, 0, 0.1, 2],
  max_iterations: [undefined, 1, 20],
  model_overrides: [undefined, { fast: 'svc-1-reason' }, { think: 'svc-1-reason' }, { fast: 'svc-1-flash' }],
  component_library: [undefined, 'a', 'b'],
  attachments: [
    undefined,
    [{ type: 'image_url', url: 'https://example.com/a' }],
    [{ type: 'image_url', url: 'https://example.com/b' }],
    [{ type: 'image_base64', data: 'AAAA', mime_type: 'image/png' }],
    [{ type: 'image_base64', data: 'AAAA', mime_type: 'image/gif' }],
  ],
  image_model: ['auto', 'svc-1-photo', 'svc-1-rapid'],
  image_quality: ['draft', 'standard', 'hd'],
}
/** Members that say where an answer goes and how it is wrapped, and nothing of what it is (docs/api.md 22.1). */
const NO_SHAPE = { metadata: [undefined, { a: 1 }, { b: 2 }], stream: [true, false], format: ['svc', 'compat'] }
/** Members that are only read where nothing is remembered: in stealth, in a conversation, in a live session. */
const NEVER_CACHED = ['conversation_id', 'browser_session_id', 'stealth_model', 'stealth_aspect', 'stealth_duration']

const anyOrder = (members: Record<string, readonly unknown[]>) =>
  fc.record(Object.fromEntries(Object.entries(members).map(([name, values]) => [name, fc.constantFrom(...values)])))

describe('the key of an answer (docs/api.md 22.1)', () => {
  test('has a say on every member of an order', () => {
    const known = [...Object.keys(SHAPES), ...Object.keys(NO_SHAPE), ...NEVER_CACHED]
    expect(known.toSorted()).toEqual(Object.keys(CompletionInput.properties).toSorted())
  })

  test('changes with any member that shapes the answer', () => {
    const changed = fc
      .constantFrom(...Object.keys(SHAPES))
      .chain((name) =>
        fc.tuple(fc.constant(name), fc.constantFrom(...SHAPES[name]!), fc.constantFrom(...SHAPES[name]!)),
      )
    fc.assert(
      fc.property(anyOrder(SHAPES), changed, (input, [name, one, other]) => {
        return (keyOf({ ...input, [name]: one }) === keyOf({ ...input, [name]: other })) === (one === other)
      }),
      { numRuns: 1_000 },
    )
  })

  test('stays the same with any that does not', () => {
    fc.assert(
      fc.property(anyOrder(SHAPES), anyOrder(NO_SHAPE), anyOrder(NO_SHAPE), (input, one, other) => {
        return keyOf({ ...input, ...one }) === keyOf({ ...input, ...other })
      }),
    )
  })

  test('changes with what metadata allows of tools', () => {
    expect(keyOf({ metadata: { approved_tools: ['a'] } })).not.toBe(keyOf({ metadata: {} }))
  })

  test.each<[string, Partial<CacheContext>]>([
    ['brand soul', { soul: { enabled: true, persona: 'x', tone: null, knowledge: [], constraints: [] } as never }],
    ['memory', { memories: ['likes tea'] }],
    ['skill', { active: { ...NO_SKILLS, fingerprint: 'a' } }],
    ['engine', { engines: 'other engines' }],
    ['policy', { policy: 'a fingerprint' }],
    ['preference', { routing: 'a fingerprint' }],
  ])('changes with the %s around the request', (_, around) => {
    expect(keyOf({}, around)).not.toBe(keyOf({}))
  })

  test.each<[string, Partial<Settings>]>([
    ['default mode', { default_mode: 'think' }],
    ['personality', { personality: 'none' }],
    ['branding', { svc_branding: false }],
  ])("changes with the account's %s", (_, change) => {
    expect(keyOf({}, {}, CALL, { ...SETTINGS, ...change })).not.toBe(keyOf({}))
  })

  test('is one for all keys of a person, and one for each key of an org', () => {
    const id = (tail: string) => `01990000-0000-7000-8000-00000000000${tail}` as never
    const of = (caller: Parameters<typeof keyCaller>[0]) => keyOf({}, {}, callOf(keyCaller(caller)))
    const [userId, orgId] = [id('1'), id('2')]
    expect(of({ userId, keyId: id('3') })).toBe(of({ userId, keyId: id('4') }))
    expect(of({ userId, keyId: id('3') })).not.toBe(of({ userId: id('5'), keyId: id('3') }))
    expect(of({ userId, keyId: id('3'), bindings: 'a' })).not.toBe(of({ userId, keyId: id('3') }))
    expect(of({ userId, orgId, keyId: id('3') })).not.toBe(of({ userId, orgId, keyId: id('4') }))
    expect(of({ userId: id('3'), keyId: id('1') })).not.toBe(of({ userId, orgId, keyId: id('3') }))
  })
})
