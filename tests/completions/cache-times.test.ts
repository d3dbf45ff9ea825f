import { describe, expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import type { Person } from '../support/world'
import { createUpstreamWorld, freshPrompt } from './upstream-world'

const clock = fakeClock()
const { world } = await createUpstreamWorld({ clock, isAlone: true, config: { cacheTtl_roast: 20 } as object })

const isServed = async (person: Person, prompt: string, mode: string) => {
  const reply = await person.send('POST', 'completions', { prompt, mode, conversation_id: null })
  expect(reply.status).toBe(200)
  return reply.body._cached === true
}

/** Contract 22.1; of roast as configured. */
const SECONDS = {
  fast: 300,
  auto: 300,
  roast: 20,
  think: 3_600,
  code: 3_600,
  genui: 3_600,
  data_extraction: 3_600,
  domain_analysis: 3_600,
}

describe('an answer is remembered (docs/api.md 22.1)', () => {
  test.each(Object.entries(SECONDS))('of mode %s for %p s', async (mode, seconds) => {
    const [ada, prompt] = [await world.person(), freshPrompt('Write a function that parses dates in Go')]
    expect(await isServed(ada, prompt, mode)).toBe(false)
    clock.advance(seconds * 1_000 - 1)
    expect(await isServed(ada, prompt, mode)).toBe(true)
    clock.advance(1)
    expect(await isServed(ada, prompt, mode)).toBe(false)
  })

  test('which asking for it again does not lengthen', async () => {
    const [ada, prompt] = [await world.person(), freshPrompt()]
    await isServed(ada, prompt, 'fast')
    for (let turn = 0; turn < 3; turn++) {
      clock.advance(99_999)
      expect(await isServed(ada, prompt, 'fast')).toBe(true)
    }
    clock.advance(3)
    expect(await isServed(ada, prompt, 'fast')).toBe(false)
  })
})
