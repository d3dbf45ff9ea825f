import { describe, expect, test } from 'bun:test'
import { openBacktracker } from '../../src/text/patterns/backtracking'
import { ownTime, slowness } from '../support/effort'
import { createWorld } from '../support/world'

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

describe('50 patterns that have to backtrack', () => {
  /** None of them takes so long that it would be refused by itself. */
  const slow = (place: number) => rule(`(?=.{0,${130 + place}}b)z`)

  test('are taken when they are quick', async () => {
    const { status } = await save(Array.from({ length: 50 }, (_, at) => rule(`^(?!.*draft ${at}).*\\bcode\\b`)))
    expect(status).toBe(201)
  })

  test('and are slow together are refused in time, naming the rule and what to do', async () => {
    const { status, body } = await save(Array.from({ length: 50 }, (_, at) => slow(at)))
    expect([status, body.error.code]).toEqual([400, 'routing_preference_invalid'])
    expect(body.error.message).toMatch(
      /^"rules\[\d+\]\.pattern" needs backtracking, and checking it and the rules before it took more than 4 s\./,
    )
    expect(body.error.message).toContain('Write it without look-around and back-references')
  })
})

test('a rule that looks around is tried off the event loop: others are answered before it is saved', async () => {
  const order: string[] = []
  const saving = save(Array.from({ length: 50 }, (_, at) => rule(`(?=.{0,${130 + at}}b)z`))).then((reply) => {
    order.push('saved')
    return reply
  })
  for (let at = 0; at < 5; at++) {
    expect((await ada.send('GET', 'routing-preferences')).status).toBe(200)
    order.push('answered')
  }
  expect((await saving).status).toBe(400)
  expect(order).toEqual([...Array(5).fill('answered'), 'saved'])
})

test.each<[string, string, object]>([
  ['PATCH', 'routing-preferences/:id', {}],
  ['PUT', `keys/${ada.keyId}/routing-rules`, {}],
  ['POST', 'routing-preferences/preview', { prompt: 'hello' }],
])('%s %s refuses a pattern without end in time', async (method, path, more) => {
  const { body: kept } = await save([])
  const { status, body } = await ada.send(method, path.replace(':id', kept.id), {
    ...more,
    rules: [rule('draft'), rule('(?=.*a.*b.*c.*d.*e.*f)z?')],
  })
  expect([status, body.error.code, body.error.param]).toEqual([400, 'routing_preference_invalid', 'rules[1].pattern'])
})

describe('a pattern that holds up whoever asks it', () => {
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

test.each(['(?=o)openai', 'o(?=p)(?<=op|o)p[e]nai'])('%s means a vendor, and has to backtrack', async (pattern) => {
  const { status, body } = await save([rule(pattern)])
  expect([status, body.error.code]).toEqual([400, 'routing_preference_invalid'])
  expect(body.error.message).toContain('names an upstream vendor')
})
