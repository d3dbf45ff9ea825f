import { describe, expect, test } from 'bun:test'
import { systemClock } from '../../../src/kernel/clock'
import type { AppError } from '../../../src/kernel/errors'
import { readRules } from '../../../src/routing/rules'
import { createPatternChecks } from '../../../src/text'
import { openBacktracker } from '../../../src/text/patterns/backtracking'
import type { CheckedPattern } from '../../../src/text/patterns/check'
import { ownTime, slowness } from '../../support/effort'
import { createWorld } from '../../support/world'

const world = await createWorld()
const ada = await world.person()
const rule = (pattern: string) => ({ pattern, target_mode: 'code' })
const save = (rules: object[]) => ada.send('POST', 'routing-preferences', { name: 'Mine', rules })

/** The longest that others had to wait for their turn while this went on. */
async function longestWaitDuring(work: Promise<unknown>): Promise<number> {
  let [longest, before, isOver] = [0, ownTime(), false]
  const next = () => {
    const now = ownTime()
    longest = Math.max(longest, now - before)
    before = now
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  await work
  isOver = true
  return longest
}

/** Takes a while, and not so long that it would be refused by itself. */
const slow = (place: number) => `(?=.{0,${130 + place}}b)z`

describe('50 patterns that have to backtrack', () => {
  test('are taken when they are quick', async () => {
    expect((await save(Array.from({ length: 50 }, (_, at) => rule(`^(?!.*draft ${at}).*\\bcode\\b`)))).status).toBe(201)
  })

  test('share one budget of time, and when it is spent the rest is not tried', async () => {
    const signal = new AbortController().signal
    const checks = createPatternChecks({ clock: systemClock, budgetMs: 1_000 })
    // Its thread is there before the time is counted.
    expect((await checks({ who: 'user:ada', signal })('(?=a)a')).is).toBe('fine')
    const check = checks({ who: 'user:ada', signal })
    const found: string[] = []
    while (!found.includes('late')) found.push((await check(slow(found.length))).is)
    expect(found.length).toBeGreaterThan(1)
    expect((await check('(?=a)a')).is).toBe('late')
  })

  test('and are slow together are refused, naming the rule and what to do', async () => {
    const found: CheckedPattern[] = [{ is: 'fine' }, { is: 'late' }]
    const reading = readRules([rule('(?=a)a'), rule('(?=b)b')], async () => found.shift()!)
    const refusal = await reading.catch((error: AppError) => error)
    expect(refusal).toMatchObject({ kind: 'invalid', code: 'routing_preference_invalid', param: 'rules[1].pattern' })
    expect((refusal as AppError).message).toMatch(
      /^"rules\[1\]\.pattern" needs backtracking, and checking it and the rules before it took more than 0\.5 s\./,
    )
    expect((refusal as AppError).message).toContain('Write it without look-around and back-references')
  })
})

test('a rule with look-around is tried off the event loop, so other requests are answered meanwhile', async () => {
  const order: string[] = []
  const saving = save(Array.from({ length: 50 }, (_, at) => rule(slow(at)))).then((reply) => {
    order.push('saved')
    return reply
  })
  for (let at = 0; at < 5; at++) {
    expect((await ada.send('GET', 'routing-preferences')).status).toBe(200)
    order.push('answered')
  }
  await saving
  expect(order).toEqual([...Array(5).fill('answered'), 'saved'])
})

test.each<[string, string, object]>([
  ['PATCH', 'routing-preferences/:id', {}],
  ['PUT', `keys/${ada.keyId}/routing-rules`, {}],
  ['POST', 'routing-preferences/preview', { prompt: 'hello' }],
])('%s %s refuses a pattern without end in time', async (method, path, more) => {
  const { body: stored } = await save([])
  const { status, body } = await ada.send(method, path.replace(':id', stored.id), {
    ...more,
    rules: [rule('draft'), rule('(?=.*a.*b.*c.*d.*e.*f)z?')],
  })
  expect({ status, ...body.error }).toMatchObject({
    status: 400,
    code: 'routing_preference_invalid',
    param: 'rules[1].pattern',
  })
})

describe('a pattern that holds up a request', () => {
  const stars = `(?=${'('.repeat(80)}.*${')*'.repeat(80)}z)`

  test('even on the few letters of a name is asked off the event loop', async () => {
    const work = save([rule(stars)])
    const longest = await longestWaitDuring(work)
    expect((await work).status).toBe(400)
    expect(longest).toBeLessThanOrEqual(200 * (await slowness()))
  })

  test('ends when it is told to, wherever it is', async () => {
    const { test: matches } = await openBacktracker()
    const endless = { source: '(?=.*a.*b.*c.*d.*e.*f)z?', flags: 'iu' }
    let looks = 0
    expect(matches(endless, 'a'.repeat(6_000), () => ++looks > 10)).toBeNull()
    expect(looks).toBe(11)
    expect(matches({ source: '(a)\\1', flags: 'i' }, 'Aa', () => false)).toBe(true)
    expect(() => matches({ source: '(', flags: '' }, 'a', () => false)).toThrow()
  })
})

// The last two compare long groups in one step of the engine, which therefore does not ask whether its time is up.
test.each(['(a+)+(?=b)$', '(a+)\\1+$', `(?=(a+))${'(?=\\1)'.repeat(30)}b`])('%s is refused', async (pattern) => {
  const { status, body } = await save([rule(pattern)])
  expect({ status, ...body.error }).toMatchObject({
    status: 400,
    code: 'routing_preference_invalid',
    param: 'rules[0].pattern',
  })
  expect(body.error.message).toContain('needs backtracking')
})

test.each(['(?=o)openai', 'o(?=p)(?<=op|o)p[e]nai'])('%s means a vendor, and has to backtrack', async (pattern) => {
  const { status, body } = await save([rule(pattern)])
  expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'routing_preference_invalid' })
  expect(body.error.message).toContain('names an upstream vendor')
})
