import { describe, expect, test } from 'bun:test'
import { assembleSystem, type Voice } from '../../../src/completions'

const voice = (overrides: Partial<Voice> = {}): Voice => ({
  mode: 'fast',
  persona: 'svc',
  personality: null,
  style: null,
  branding: true,
  componentLibrary: 'svc',
  soul: null,
  memories: [],
  skills: null,
  ...overrides,
})
const traits = (changes: Record<string, number>) => ({ traits: changes, uncensored_mode: false })

describe('the system prompt', () => {
  test('has its parts in one order: persona, mode, personality, style', () => {
    const text = assembleSystem(
      voice({ mode: 'think', personality: traits({ funny: 80 }), style: { format: 'table' } }),
    )!
    const places = ['You are Svc', 'Reason step by step', 'Your manner is', 'Form of the answer'].map((part) =>
      text.indexOf(part),
    )
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(places.every((place) => place >= 0)).toBe(true)
    expect(text.split('\n\n')).toHaveLength(4)
  })

  test('is nothing for no persona in a mode without a form', () => {
    expect(assembleSystem(voice({ persona: 'none' }))).toBeNull()
    expect(assembleSystem(voice({ persona: 'none', mode: 'code' }))).toBeNull()
  })

  test.each(['genui', 'domain_analysis', 'data_extraction'])(
    'for no persona still asks mode %s for its form',
    (mode) => {
      expect(assembleSystem(voice({ persona: 'none', mode }))).not.toBeNull()
    },
  )

  test.each([
    [0, ''],
    [10, ''],
    [11, 'slightly witty'],
    [40, 'slightly witty'],
    [41, 'rather witty'],
    [75, 'rather witty'],
    [76, 'very witty'],
    [100, 'very witty'],
  ])('a trait of %i reads %j', (witty, words) => {
    const text = assembleSystem(voice({ personality: traits({ witty }) }))!
    expect(text.includes('Your manner is')).toBe(words !== '')
    expect(text).toContain(words)
  })

  test('of an unknown mode is the persona alone', () => {
    expect(assembleSystem(voice({ mode: 'nothing' }))).not.toContain('\n\n')
  })
})
